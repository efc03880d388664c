"""Routes of plugins below ``/plugin/<key>/``."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import anyio.to_thread
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.types import Message, Receive, Scope, Send
from starlette.websockets import WebSocketClose

from host.contract.values import Access, User
from host.errors import NotFoundError, UnavailableError
from host.plugins.bridge import Exchange, NoAnswerError
from host.plugins.current import Registries
from host.plugins.endpoints import access_level, application, failure_body
from host.plugins.failures import details, summary
from host.plugins.registry import LoadedPlugin

Authorise = Callable[[Scope, Access], Awaitable[User | None]]
"""Authenticates a request and checks that its account may use an endpoint; raises errors of :mod:`host.errors`.

Answers ``None`` for a visitor who is not signed in, where anyone may come.
"""

_HOST_COOKIES = frozenset({b"sessionid", b"csrftoken", b"mfa_trusted"})
_HOST_HEADERS = frozenset({b"x-session-token"})
# Of bearer tokens only those that the host has given: plugins may have tokens of their own.
_HOST_SCHEMES = (b"token ", b"basic ", b"bearer plo-")


def _always() -> bool:
    return True


@dataclass(frozen=True, slots=True)
class _Built:
    plugin: LoadedPlugin
    app: Starlette


class PluginRoutes:
    """An ASGI application, to be mounted at ``/plugin``, that lets plugins answer requests.

    Endpoints run on the plugins' own event loop or in threads. Errors of :mod:`host.errors` leave it before an answer
    has begun; whoever mounts it turns them into answers.

    Args:
        registries: gives the registry in force.
        authorise: checks who asks, on the host's loop.
        report: writes an error report (path, message, details).
        deadline: seconds until the first byte of an answer.
        enabled: whether plugins may answer requests at all.

    """

    def __init__(
        self,
        registries: Registries,
        authorise: Authorise,
        report: Callable[[str, str, str], None],
        *,
        deadline: float = 30.0,
        enabled: Callable[[], bool] = _always,
    ) -> None:
        self._registries = registries
        self._authorise = authorise
        self._report = report
        self._deadline = deadline
        self._enabled = enabled
        self._built: dict[str, _Built] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request.

        Raises:
            NotFoundError: no active plugin has this key, or it has no such path.
            UnavailableError: the plugin did not answer in time.
            HostError: what ``authorise`` raised.

        """
        if scope["type"] == "websocket":
            await WebSocketClose()(scope, receive, send)
            return
        root = scope.get("root_path", "")
        key, _, rest = scope["path"].removeprefix(root).lstrip("/").partition("/")
        # In a thread: it may have to ask the database.
        enabled = await anyio.to_thread.run_sync(self._enabled)
        if not enabled:
            msg = "Routes of plugins are switched off here; the setting ENABLE_PLUGINS_URL switches them on."
            raise NotFoundError(msg)
        plugin = self._registries.current.plugins.get(key)
        if plugin is None or not plugin.routes:
            msg = f"No active plugin with routes has the key '{key}'."
            raise NotFoundError(msg)
        inner = _inner_scope(scope, f"{root}/{key}", f"{root}/{key}/{rest}")
        await self._answer(plugin, inner, Exchange(receive, send, self._deadline), send)

    async def _answer(self, plugin: LoadedPlugin, scope: Scope, exchange: Exchange, send: Send) -> None:
        app = self._app(plugin)
        request = _Request(plugin.key, app, scope, exchange, self._authorise)
        name = f"plugin.{plugin.key}.routes"
        try:
            error = await exchange.run(request.serve(), name=name)
        except NoAnswerError:
            msg = f"Plugin '{plugin.key}' did not answer within {self._deadline:g} s."
            self._report(name, f"{scope['method']} {scope['path']}: no answer within {self._deadline:g} s", "")
            raise UnavailableError(msg) from None
        if request.refusal is not None:
            raise request.refusal
        if error is None:
            if exchange.started:
                return
            error = RuntimeError("the endpoint ended without an answer")
        self._report(name, f"{scope['method']} {scope['path']}: {summary(error)}", details(error))
        if not exchange.started:
            body = failure_body(plugin.key, scope["path"], error)
            await JSONResponse(body, 500)(scope, _no_more, send)

    def _app(self, plugin: LoadedPlugin) -> Starlette:
        built = self._built.get(plugin.key)
        if built is None or built.plugin is not plugin:
            built = self._built[plugin.key] = _Built(plugin, application(plugin.key, plugin.routes))
        return built.app


class _Request:
    """The part of a request that runs on the plugins' loop."""

    def __init__(self, key: str, app: Starlette, scope: Scope, exchange: Exchange, authorise: Authorise) -> None:
        self.refusal: Exception | None = None
        """What the host, rather than the plugin, has against the request."""
        self._key = key
        self._app = app
        self._scope = scope
        self._exchange = exchange
        self._authorise = authorise

    async def serve(self) -> None:
        # Matching runs code of the plugin too: routes and convertors may be its own.
        level = access_level(self._app.routes, self._scope)
        if level is None:
            self.refusal = NotFoundError(f"Plugin '{self._key}' has no path {self._scope['path']!r}.")
            return
        try:
            self._scope["user"] = await self._exchange.on_host(lambda: self._authorise(self._scope["outer"], level))
        except Exception as error:  # noqa: BLE001 - raised again on the host's loop
            self.refusal = error
            return
        del self._scope["outer"]
        await self._app(self._scope, self._exchange.receive, self._exchange.send)


async def _no_more() -> Message:
    return {"type": "http.disconnect"}


def _inner_scope(scope: Scope, root: str, path: str) -> Scope:
    """Return what the plugin sees of the request: nothing of the host's, nor the caller's credentials for it."""
    return {
        "type": "http",
        "asgi": scope.get("asgi", {"version": "3.0"}),
        "http_version": scope.get("http_version", "1.1"),
        "method": scope["method"],
        "scheme": scope.get("scheme", "http"),
        "path": path,
        "raw_path": scope.get("raw_path", path.encode()),
        "query_string": scope.get("query_string", b""),
        "root_path": root,
        "app_root_path": root,
        "headers": _inner_headers(scope["headers"]),
        "client": scope.get("client"),
        "server": scope.get("server"),
        "outer": scope,
    }


def _inner_headers(headers: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    kept = []
    for name, value in headers:
        if name == b"authorization" and value.lower().startswith(_HOST_SCHEMES):
            continue
        if name in _HOST_HEADERS:
            continue
        if name == b"cookie":
            cookies = [part.strip() for part in value.split(b";")]
            others = [cookie for cookie in cookies if cookie.partition(b"=")[0].strip() not in _HOST_COOKIES]
            if others:
                kept.append((name, b"; ".join(others)))
            continue
        kept.append((name, value))
    return kept
