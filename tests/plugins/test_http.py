"""Routes of plugins."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.endpoints import HTTPEndpoint
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Match, Mount, Route
from starlette.testclient import TestClient
from starlette.types import Message, Receive, Scope, Send

from host import User, access, hookimpl
from host.contract.values import Access
from host.errors import HostError, NotAllowedError, NotFoundError, NotSignedInError, UnavailableError
from host.plugins import endpoints
from host.plugins.bridge import allowed_headers
from host.plugins.http import PluginRoutes
from host.plugins.plugin_loop import in_plugin_loop, stop_plugin_loop
from tests.plugins.bench import Bench

STATUS = {NotSignedInError: 401, NotAllowedError: 403, NotFoundError: 404, UnavailableError: 503}
LEVELS: dict[str, User | None] = {
    "anyone": None,
    "user": User(id=1, username="user"),
    "staff": User(id=2, username="staff", is_staff=True),
    "superuser": User(id=3, username="superuser", is_staff=True, is_superuser=True),
}


class Routed:
    """Has the routes that it is told."""

    def __init__(self, *routes: BaseRoute) -> None:
        self.own = routes

    @hookimpl
    def routes(self) -> list[BaseRoute]:
        return list(self.own)


async def authorise(scope: Scope, level: Access) -> User | None:
    await asyncio.sleep(0)
    assert not in_plugin_loop()
    name = dict(scope["headers"]).get(b"x-name", b"anyone").decode()
    order = list(LEVELS)
    if order.index(name) >= order.index(level):
        return LEVELS[name]
    raise (NotSignedInError if name == "anyone" else NotAllowedError)(f"needs {level}")


async def refused(_request: Request, error: Exception) -> Response:
    return JSONResponse({"detail": str(error)}, STATUS[type(error)])  # type: ignore[index]


@pytest.fixture(autouse=True)
def loop() -> Iterator[None]:
    yield
    stop_plugin_loop()


@pytest.fixture
def bench() -> Bench:
    return Bench()


@pytest.fixture
def client_of(bench) -> Any:
    def make(*routes: BaseRoute, deadline: float = 20.0, name: str = "user") -> TestClient:
        bench.load({"lamp": Routed(*routes), "bare": object()}, inactive=["asleep"])
        app = Starlette(
            routes=[Mount("/plugin", app=PluginRoutes(bench, authorise, bench.report, deadline=deadline))],
            exception_handlers={HostError: refused},
        )
        return TestClient(app, headers={"x-name": name}, follow_redirects=False)

    return make


@access("anyone")
def who(request: Request) -> Response:
    return JSONResponse(request.user.username if request.user else None)


def test_an_endpoint_answers_below_the_plugins_path(client_of):
    """Paths are relative to the plugin; links that it makes are not."""

    async def show(request: Request) -> Response:
        return JSONResponse(
            {
                "name": request.path_params["name"],
                "query": dict(request.query_params),
                "body": (await request.body()).decode(),
                "path": request.url.path,
                "root": request.scope["root_path"],
                "link": str(request.url_for("show", name="x")),
            }
        )

    client = client_of(Route("/show/{name}/", show, methods=["POST"], name="show"))

    assert client.post("/plugin/lamp/show/me/?a=1", content="text").json() == {
        "name": "me",
        "query": {"a": "1"},
        "body": "text",
        "path": "/plugin/lamp/show/me/",
        "root": "/plugin/lamp",
        "link": "http://testserver/plugin/lamp/show/x/",
    }


@pytest.mark.parametrize("path", ["nobody/x/", "asleep/x/", "bare/x/", "lamp/y/", "lamp/x", "lamp", "lamp/", ""])
def test_what_is_not_there_is_not_found(client_of, path):
    """Unknown and inactive plugins, plugins without routes and unknown paths; nothing is redirected."""
    answer = client_of(Route("/x/", who)).get(f"/plugin/{path}")

    assert answer.status_code == 404
    assert set(answer.json()) == {"detail"}


@pytest.mark.parametrize("level", ["anyone", "user", "staff", "superuser"])
@pytest.mark.parametrize("name", ["anyone", "user", "staff", "superuser"])
def test_the_mark_says_who_may_use_an_endpoint(client_of, level, name):
    """The host checks it before the endpoint runs; the account is request.user."""
    ran = []

    def endpoint(request: Request) -> Response:
        ran.append(1)
        return who(request)

    client = client_of(Route("/x/", access(level)(endpoint)), name=name)

    answer = client.get("/plugin/lamp/x/")

    if list(LEVELS).index(name) >= list(LEVELS).index(level):
        assert answer.json() == (None if name == "anyone" else name)
    else:
        assert answer.status_code == (401 if name == "anyone" else 403)
        assert ran == []


def test_an_endpoint_without_a_mark_is_for_users(client_of):
    """Whatever kind of endpoint it is, and also when it lacks the method that is asked for."""

    class Class(HTTPEndpoint):
        def get(self, _request: Request) -> Response:
            return PlainTextResponse("x")

    async def asgi(scope: Scope, receive: Receive, send: Send) -> None:
        await PlainTextResponse("x")(scope, receive, send)

    async def function(request: Request) -> Response:
        return PlainTextResponse("x")

    client = client_of(
        Route("/class/", Class),
        Route("/function/", function),
        Mount("/app", app=asgi),
        Mount("/nested", routes=[Route("/function/", function), Route("/open/", who)]),
        name="anyone",
    )

    for path in ("class/", "function/", "app/", "app/x", "nested/function/"):
        assert client.get(f"/plugin/lamp/{path}").status_code == 401
    assert client.delete("/plugin/lamp/function/").status_code == 401
    assert client.delete("/plugin/lamp/function/", headers={"x-name": "user"}).status_code == 405
    assert client.get("/plugin/lamp/nested/open/").status_code == 200
    assert client.get("/plugin/lamp/app/x", headers={"x-name": "user"}).text == "x"
    assert client.get("/plugin/lamp/class/", headers={"x-name": "user"}).text == "x"


def test_errors_that_the_plugin_means_are_in_the_hosts_shape(client_of):
    """HTTPException becomes a detail, with its headers."""

    def endpoint(request: Request) -> Response:
        raise HTTPException(418, "short and stout", {"x-tea": "yes"})

    answer = client_of(Route("/x/", endpoint)).get("/plugin/lamp/x/")

    assert (answer.status_code, answer.json(), answer.headers["x-tea"]) == (418, {"detail": "short and stout"}, "yes")


class Odd(BaseRoute):
    """A route of the plugin's own that breaks."""

    def matches(self, _scope: Scope) -> tuple[Match, Scope]:
        msg = "secret"
        raise LookupError(msg)


async def failing(request: Request) -> Response:
    msg = "secret"
    raise LookupError(msg)


def failing_in_thread(request: Request) -> Response:
    msg = "secret"
    raise LookupError(msg)


@pytest.mark.parametrize(
    "route", [Route("/x/", failing), Route("/x/", failing_in_thread), Odd()], ids=["async", "def", "route"]
)
def test_an_exception_is_a_500_and_an_error_report(bench, client_of, route):
    """The answer reveals the class alone; the report has the traceback."""
    answer = client_of(route).get("/plugin/lamp/x/")

    assert answer.status_code == 500
    assert answer.json() == {
        "error": "LookupError",
        "error_class": "<class 'LookupError'>",
        "detail": "Plugin 'lamp' failed; an error report was written.",
        "path": "/plugin/lamp/x/",
        "status_code": 500,
    }
    ((path, info, data),) = bench.reports
    assert path == "plugin.lamp.routes"
    assert info == "GET /plugin/lamp/x/: LookupError: secret"
    assert "Traceback" in data


def leave(request: Request) -> Response:
    raise SystemExit(3)


async def leave_async(request: Request) -> Response:
    raise SystemExit(3)


def nothing(request: Request) -> Any:
    return None


@pytest.mark.parametrize("endpoint", [leave, leave_async, nothing])
def test_whatever_an_endpoint_does_the_host_goes_on(bench, client_of, endpoint):
    """SystemExit and an answer that is none are failures like any other."""
    client = client_of(Route("/x/", endpoint), Route("/who/", who))

    assert client.get("/plugin/lamp/x/").status_code == 500
    assert client.get("/plugin/lamp/who/").json() == "user"
    assert bench.reported == ["plugin.lamp.routes"]


def test_the_plugin_sees_no_credentials_and_nothing_of_the_host(client_of):
    """The session cookie, the token and the host's application stay with the host; other cookies arrive."""

    async def endpoint(request: Request) -> Response:
        return JSONResponse(
            {
                "authorization": request.headers.get("authorization"),
                "token": request.headers.get("x-session-token"),
                "cookies": request.cookies,
                "scope": sorted(set(request.scope) & {"outer", "extensions", "state", "session"}),
                "routes": [route.path for route in request.app.routes],
            }
        )

    client = client_of(Route("/x/", endpoint))
    headers = {
        "authorization": "Token abc",
        "cookie": "sessionid=s; theme=dark; csrftoken=t; mfa_trusted=u",
        "x-session-token": "s",
    }

    assert client.get("/plugin/lamp/x/", headers=headers).json() == {
        "authorization": None,
        "token": None,
        "cookies": {"theme": "dark"},
        "scope": [],
        "routes": ["/x/"],
    }
    assert client.get("/plugin/lamp/x/", headers={"authorization": "Bearer x"}).json()["authorization"] == "Bearer x"


def test_the_host_keeps_its_cookies_and_headers():
    """A plugin cannot sign anybody in, weaken the browser's protection or smuggle headers."""
    sent = [
        (b"Set-Cookie", b"sessionid=x; Path=/"),
        (b"set-cookie", b" CSRFToken =x"),
        (b"set-cookie", b"=sessionid=x"),
        (b"set-cookie", b"sessionid"),
        (b"set-cookie", b"theme=dark"),
        (b"X-Frame-Options", b"ALLOWALL"),
        (b"access-control-allow-origin", b"*"),
        (b"X-InvenTree-API", b"1"),
        (b"strict-transport-security", b"max-age=0"),
        (b"transfer-encoding", b"chunked"),
        (b"x-own", b"a\r\nset-cookie: sessionid=x"),
        (b"content-security-policy", b"default-src 'none'"),
        (b"content-type", b"text/html"),
    ]

    assert allowed_headers(sent) == [
        (b"set-cookie", b"theme=dark"),
        (b"content-security-policy", b"default-src 'none'"),
        (b"content-type", b"text/html"),
    ]


def test_the_filter_is_at_work(client_of):
    """What the client gets went through it."""

    async def endpoint(request: Request) -> Response:
        answer = PlainTextResponse("x", headers={"x-frame-options": "ALLOWALL", "x-own": "1"})
        answer.set_cookie("sessionid", "x")
        answer.set_cookie("theme", "dark")
        return answer

    answer = client_of(Route("/x/", endpoint)).get("/plugin/lamp/x/")

    assert dict(answer.cookies) == {"theme": "dark"}
    assert "x-frame-options" not in answer.headers
    assert answer.headers["x-own"] == "1"


def test_a_long_answer_is_streamed(client_of):
    """Chunk by chunk, whatever thread they come from."""

    async def chunks() -> AsyncIterator[bytes]:
        for number in range(200):
            yield b"%03d" % number

    async def endpoint(request: Request) -> Response:
        return StreamingResponse(chunks())

    answer = client_of(Route("/x/", endpoint)).get("/plugin/lamp/x/")

    assert answer.content == b"".join(b"%03d" % number for number in range(200))


def test_a_large_body_arrives(client_of):
    """An upload crosses to the plugin's loop in its parts."""

    async def endpoint(request: Request) -> Response:
        total = 0
        async for chunk in request.stream():
            total += len(chunk)
        return JSONResponse(total)

    def parts() -> Iterator[bytes]:
        for _ in range(50):
            yield b"x" * 10_000

    assert (
        client_of(Route("/x/", endpoint, methods=["POST"])).post("/plugin/lamp/x/", content=parts()).json() == 500_000
    )


def test_endpoints_with_middleware_work(client_of):
    """Middleware of the plugin is its own affair."""

    class Adds:
        def __init__(self, app: Any) -> None:
            self.app = app

        async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
            async def adding(message: Message) -> None:
                if message["type"] == "http.response.start":
                    message["headers"].append((b"x-added", b"1"))
                await send(message)

            await self.app(scope, receive, adding)

    answer = client_of(Route("/x/", who, middleware=[Middleware(Adds)])).get("/plugin/lamp/x/")

    assert (answer.json(), answer.headers["x-added"]) == ("user", "1")


def test_a_failure_after_the_first_byte_is_reported(bench, client_of):
    """The answer is cut off, as nothing else can be done."""

    async def chunks() -> AsyncIterator[bytes]:
        yield b"begin"
        msg = "no"
        raise LookupError(msg)

    async def endpoint(request: Request) -> Response:
        return StreamingResponse(chunks())

    with client_of(Route("/x/", endpoint)) as client:
        client.get("/plugin/lamp/x/")

    assert bench.reported == ["plugin.lamp.routes"]


def waits(release: threading.Event) -> Any:
    async def endpoint(request: Request) -> Response:
        while not release.is_set():  # noqa: ASYNC110 - set by another thread
            await asyncio.sleep(0.01)
        return PlainTextResponse("late")

    return endpoint


def blocks(release: threading.Event) -> Any:
    async def endpoint(request: Request) -> Response:
        release.wait(30)
        return PlainTextResponse("late")

    return endpoint


def holds_thread(release: threading.Event) -> Any:
    def endpoint(request: Request) -> Response:
        release.wait(30)
        return PlainTextResponse("late")

    return endpoint


@pytest.mark.parametrize("kind", [waits, blocks, holds_thread])
def test_an_endpoint_that_does_not_answer_is_given_up(bench, client_of, kind):
    """The caller gets an answer after the deadline; other requests are served meanwhile and afterwards."""
    release = threading.Event()
    client = client_of(Route("/x/", kind(release)), Route("/who/", who), Route("/async/", waits(release)), deadline=0.2)

    answer = client.get("/plugin/lamp/x/")
    other = client.get("/plugin/lamp/who/")
    release.set()

    assert answer.status_code == 503
    assert "lamp" in answer.json()["detail"]
    assert other.json() == "user"
    assert bench.reported == ["plugin.lamp.routes"]
    assert client.get("/plugin/lamp/async/").text == "late"


def test_a_blocking_endpoint_does_not_stall_the_hosts_loop(bench):
    """While plugin code sleeps in an async endpoint, the host's own loop keeps turning."""
    release = threading.Event()
    bench.load({"lamp": Routed(Route("/x/", access("anyone")(blocks(release))))})
    app = PluginRoutes(bench, authorise, bench.report)
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        sent.append(message)

    async def main() -> int:
        scope = {"type": "http", "method": "GET", "path": "/lamp/x/", "headers": [], "query_string": b""}
        request = asyncio.ensure_future(app(scope, receive, send))
        turns = 0
        while turns < 100:
            await asyncio.sleep(0)
            turns += 1
        assert not request.done()
        release.set()
        await request
        return turns

    assert asyncio.run(main()) == 100
    assert sent[0]["status"] == 200


def test_the_plugin_waits_for_a_slow_client(bench):
    """It cannot send faster than the client takes."""
    produced: list[int] = []
    taken = SimpleNamespace(count=0)

    async def chunks() -> AsyncIterator[bytes]:
        for number in range(20):
            produced.append(number)
            yield b"x"

    async def endpoint(request: Request) -> Response:
        return StreamingResponse(chunks())

    bench.load({"lamp": Routed(Route("/x/", access("anyone")(endpoint)))})
    app = PluginRoutes(bench, authorise, bench.report)

    async def receive() -> Message:
        await asyncio.sleep(3600)
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        await asyncio.sleep(0.002)
        taken.count += bool(message.get("body"))
        assert len(produced) <= taken.count + 2

    async def main() -> None:
        scope = {"type": "http", "method": "GET", "path": "/lamp/x/", "headers": [], "query_string": b""}
        await app(scope, receive, send)

    asyncio.run(main())
    assert taken.count == 20


def test_a_slow_upload_does_not_count_against_the_plugin(bench):
    """The deadline is for the plugin, not for its client."""

    async def endpoint(request: Request) -> Response:
        return PlainTextResponse(await request.body())

    bench.load({"lamp": Routed(Route("/x/", access("anyone")(endpoint), methods=["POST"]))})
    app = PluginRoutes(bench, authorise, bench.report, deadline=0.05)
    messages: list[Message] = [
        {"type": "http.request", "body": b"a", "more_body": True},
        {"type": "http.request", "body": b"b", "more_body": False},
    ]
    sent: list[Message] = []

    async def receive() -> Message:
        await asyncio.sleep(0.4)
        return messages.pop(0)

    async def send(message: Message) -> None:
        sent.append(message)

    async def main() -> None:
        scope = {"type": "http", "method": "POST", "path": "/lamp/x/", "headers": [], "query_string": b""}
        await app(scope, receive, send)

    asyncio.run(main())
    assert [message.get("body") for message in sent if message.get("body")] == [b"ab"]


def test_a_plugin_has_a_limited_number_of_threads(client_of, monkeypatch):
    """Its own requests wait no longer than it deserves; nobody else's do."""
    release = threading.Event()
    client = client_of(Route("/x/", holds_thread(release)), Route("/who/", who), deadline=0.05)
    monkeypatch.setattr(endpoints, "_MOST_THREADS", 2)

    answers = [client.get("/plugin/lamp/x/") for _ in range(3)]
    release.set()

    assert [answer.status_code for answer in answers] == [503, 503, 503]
    assert answers[2].headers["retry-after"] == "5"
    deadline = time.monotonic() + 10
    while client.get("/plugin/lamp/who/").status_code != 200:
        assert time.monotonic() < deadline


def test_routes_can_be_switched_off(bench):
    """Then no plugin has any."""
    bench.load({"lamp": Routed(Route("/x/", who))})
    routes = PluginRoutes(bench, authorise, bench.report, enabled=lambda: False)
    client = TestClient(Starlette(routes=[Mount("/plugin", app=routes)], exception_handlers={HostError: refused}))

    assert client.get("/plugin/lamp/x/").status_code == 404


@pytest.mark.parametrize("status", [0, 99, 100, 101, 600, 999])
def test_a_status_that_no_answer_can_have_is_an_error_of_the_plugin(client_of, bench, status):
    """It would break the connection; the client gets 500 and the staff a report."""

    async def odd(_request: Request) -> Response:
        return Response(status_code=status)

    answer = client_of(Route("/x/", odd)).get("/plugin/lamp/x/")

    assert answer.status_code == 500
    assert answer.json()["error"] == "RuntimeError"
    assert bench.reported == ["plugin.lamp.routes"]


def test_an_endpoint_that_ends_without_an_answer_is_reported(client_of, bench):
    """An application that sends nothing is answered for with 500."""

    class Silent:
        async def __call__(self, _scope: Scope, _receive: Receive, _send: Send) -> None:
            return

    answer = client_of(Route("/x/", Silent())).get("/plugin/lamp/x/")

    assert (answer.status_code, answer.json()["path"]) == (500, "/plugin/lamp/x/")
    assert bench.reported == ["plugin.lamp.routes"]
