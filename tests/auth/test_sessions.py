"""The own sessions: listing, ending, noting their use; and the session of an app on the rest of the interface."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest
from sqlalchemy import event, select, update

from host.accounts.account import USERS
from host.accounts.sessions.sessions import Sessions
from host.accounts.sessions.state import Caller, Client
from host.accounts.sessions.table import SESSIONS
from tests.auth.clients import App, Browser
from tests.auth.conftest import ServerWith
from tests.auth.server import PASSWORD, AuthServer

PATH = "/auth/sessions"
ME = "/api/user/me/"


@pytest.fixture
def name(request: pytest.FixtureRequest, server: AuthServer) -> str:
    """The username of an account of the test's own."""
    name = "".join(letter for letter in request.node.name.lower() if letter.isalnum())[-40:]
    server.new_user(name)
    return name


def stored(server: AuthServer, username: str) -> list[Any]:
    user_id = server.user_row(username).id
    return server.rows(select(SESSIONS).where(SESSIONS.c.user_id == user_id).order_by(SESSIONS.c.id))


def change(server: AuthServer, statement: Any) -> None:
    with server.host.database.write() as session:
        session.connection().execute(statement)


def test_the_list_shows_where_one_is_signed_in(server: AuthServer, client: Browser | App, name: str) -> None:
    """Sessions of the account alone, with what people recognise them by."""
    client.call("POST", "/auth/login", {"username": name, "password": PASSWORD}, headers={"User-Agent": "x" * 300})
    server.app().login(name, PASSWORD)
    server.new_user(f"other{name}")
    server.app().login(f"other{name}", PASSWORD)

    shown = client.get(PATH)

    rows = stored(server, name)
    assert shown.status == 200
    assert shown.body == {
        "status": 200,
        "data": [
            {
                "id": row.id,
                "user_agent": row.user_agent,
                "ip": "127.0.0.1",
                "created_at": row.created.timestamp(),
                "is_current": number == 0,
                "last_seen_at": row.last_seen.timestamp(),
            }
            for number, row in enumerate(rows)
        ],
    }
    assert [len(rows), len(rows[0].user_agent)] == [2, 200]


def test_dead_sessions_are_not_listed(server: AuthServer, client: Browser | App, name: str) -> None:
    """Neither those that are over nor those from before a new password."""
    for _ in range(2):
        server.app().login(name, PASSWORD)
    first, second = (row.id for row in stored(server, name))
    client.login(name, PASSWORD)
    past = server.clock() - timedelta(days=1)
    change(server, update(SESSIONS).where(SESSIONS.c.id == first).values(expires=past))
    change(server, update(SESSIONS).where(SESSIONS.c.id == second).values(password_changed=past))

    [shown] = client.get(PATH).data

    assert shown["is_current"] is True
    assert shown["id"] == stored(server, name)[-1].id


def test_other_sessions_can_be_ended(server: AuthServer, client: Browser | App, name: str) -> None:
    """The answer lists the rest; who was signed in there is nobody."""
    others = [server.app(), server.browser()]
    for other in others:
        other.login(name, PASSWORD)
    client.login(name, PASSWORD)
    ids = [row.id for row in stored(server, name)]

    ended = client.delete(PATH, {"sessions": [ids[0], str(ids[1])]})

    assert (ended.status, [one["id"] for one in ended.data]) == (200, [ids[2]])
    assert [row.id for row in stored(server, name)] == [ids[2]]
    assert [other.get("/auth/session").status for other in others] == [410, 401]
    assert client.get("/auth/session").status == 200


def test_ending_the_own_session_signs_out(server: AuthServer, client: Browser | App, name: str) -> None:
    """The answer is that of somebody who is not signed in."""
    server.app().login(name, PASSWORD)
    client.login(name, PASSWORD)
    ids = [row.id for row in stored(server, name)]
    key = client.session_key

    ended = client.delete(PATH, {"sessions": ids})

    assert (ended.status, ended.meta) == (401, {"is_authenticated": False})
    assert "login" in ended.flows
    assert stored(server, name) == []
    again = server.client(client.kind)
    if isinstance(again, App):
        again.session_key = key
    else:
        assert client.session_key is None
        again.http.cookies.set("sessionid", str(key))
    assert again.get(PATH).status == (410 if client.kind == "app" else 401)


@pytest.mark.parametrize(
    ("body", "code"),
    [
        pytest.param({}, "required", id="nothing"),
        pytest.param({"sessions": []}, "required", id="empty"),
        pytest.param({"sessions": ""}, "required", id="blank"),
        pytest.param({"sessions": "all"}, "invalid_list", id="text"),
        pytest.param({"sessions": {"id": 1}}, "invalid_list", id="object"),
        pytest.param({"sessions": ["x"]}, "invalid_pk_value", id="no number"),
        pytest.param({"sessions": [True]}, "invalid_pk_value", id="a boolean"),
        pytest.param({"sessions": [None]}, "invalid_pk_value", id="null"),
        pytest.param({"sessions": [1.5]}, "invalid_pk_value", id="a fraction"),
        pytest.param({"sessions": [987654321]}, "invalid_choice", id="unknown"),
        pytest.param({"sessions": [2**63]}, "invalid_choice", id="beyond 64 bits"),
        pytest.param({"sessions": [-1]}, "invalid_choice", id="negative"),
    ],
)
def test_bad_input_ends_nothing(server: AuthServer, name: str, body: Any, code: str) -> None:
    """The own session, named beside, goes on too."""
    client = server.app()
    client.login(name, PASSWORD)
    [own] = stored(server, name)
    if isinstance(body.get("sessions"), list) and body["sessions"]:
        body = {"sessions": [own.id, *body["sessions"]]}

    refused = client.delete(PATH, body)

    assert (refused.status, refused.errors) == (400, [(code, "sessions")])
    assert [row.id for row in stored(server, name)] == [own.id]


def test_foreign_sessions_cannot_be_ended(server: AuthServer, client: Browser | App, name: str) -> None:
    """They look like unknown ones; then none is ended."""
    server.new_user(f"victim{name}")
    victim = server.app()
    victim.login(f"victim{name}", PASSWORD)
    [foreign] = stored(server, f"victim{name}")
    client.login(name, PASSWORD)
    [own] = stored(server, name)

    refused = client.delete(PATH, {"sessions": [own.id, foreign.id]})

    assert (refused.status, refused.errors) == (400, [("invalid_choice", "sessions")])
    assert len(stored(server, name)) == len(stored(server, f"victim{name}")) == 1


def test_nobody_lists_or_ends_sessions(server: AuthServer, client: Browser | App) -> None:
    """Both are for those who are signed in, before the input is looked at."""
    before = len(server.rows(select(SESSIONS.c.id)))

    assert client.get(PATH).status == 401
    assert client.delete(PATH, {"sessions": "x"}).status == 401
    assert client.post(PATH).status == 405
    assert len(server.rows(select(SESSIONS.c.id))) == before


def test_without_tracking_no_use_is_noted_or_shown(server_with: ServerWith) -> None:
    """PLUGYARD_USERSESSIONS_TRACK_ACTIVITY=false."""
    server = server_with(usersessions_track_activity="false", session_cookie_age="600")
    server.new_user("untracked")
    app = server.app()
    app.login("untracked", PASSWORD)
    [before] = stored(server, "untracked")
    server.clock.forward(120)

    [shown] = app.get(PATH).data

    assert "last_seen_at" not in shown
    assert app.get(ME).status == 200
    [after] = stored(server, "untracked")
    assert after.last_seen == before.last_seen


@pytest.mark.parametrize("path", ["/auth/session", ME])
def test_use_is_noted_once_a_minute(server: AuthServer, client: Browser | App, name: str, path: str) -> None:
    """On the account interface and on the rest; most requests write nothing."""
    client.login(name, PASSWORD)
    seen = [stored(server, name)[0].last_seen]
    written: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        if statement.startswith(("UPDATE account_", "INSERT INTO account_", "DELETE FROM account_")):
            written.append(statement)

    event.listen(server.host.database.engine, "before_cursor_execute", note)
    try:
        for seconds in (59, 2, 10, 61):
            server.clock.forward(seconds)
            assert client.get(path).status == 200
            seen.append(stored(server, name)[0].last_seen)
    finally:
        event.remove(server.host.database.engine, "before_cursor_execute", note)

    assert [later > earlier for earlier, later in pairwise(seen)] == [False, True, False, True]
    assert len(written) == 2


def test_sessions_that_are_over_are_deleted_at_logins(server_with: ServerWith) -> None:
    """At most once a minute; those that live stay."""
    server = server_with(usersessions_track_activity="false", session_cookie_age="600")
    server.new_user("fleeting")
    server.app().login("fleeting", PASSWORD)
    [first] = stored(server, "fleeting")
    server.clock.forward(601)
    server.app().login("fleeting", PASSWORD)
    [second] = stored(server, "fleeting")
    change(server, update(SESSIONS).where(SESSIONS.c.id == second.id).values(expires=server.clock()))
    server.app().login("fleeting", PASSWORD)

    assert first.id != second.id
    assert len(stored(server, "fleeting")) == 2
    server.clock.forward(61)
    server.app().login("fleeting", PASSWORD)
    assert second.id not in [row.id for row in stored(server, "fleeting")]


def test_a_session_slides_only_when_it_is_written(server: AuthServer, client: Browser | App, name: str) -> None:
    """Reading does not prolong it; after its time nobody is signed in."""
    client.login(name, PASSWORD)
    [before] = stored(server, name)
    server.clock.forward(14 * 86_400 - 10)
    assert client.get("/auth/session").status == 200
    assert stored(server, name)[0].expires == before.expires
    assert client.post("/auth/reauthenticate", {"password": PASSWORD}).status == 200
    assert stored(server, name)[0].expires > before.expires
    server.clock.forward(14 * 86_400)

    assert client.get("/auth/session").status == (410 if client.kind == "app" else 401)
    assert client.get(ME).status == 401


def test_the_token_of_an_app_serves_the_rest_of_the_interface(server: AuthServer, name: str) -> None:
    """Without any CSRF token, also to change something."""
    app = server.app()
    app.login(name, PASSWORD)

    assert app.get(ME).body["username"] == name
    assert app.patch(ME, {"first_name": "Ada"}).status == 200
    assert server.user_row(name).first_name == "Ada"


@pytest.mark.parametrize("path", [ME, "/api/", "/api/auth/", "/auth/"])
def test_an_unknown_token_is_refused_on_every_path(server: AuthServer, name: str, path: str) -> None:
    """Also where the path is open, and whatever cookie stands beside it."""
    browser = server.browser()
    browser.login(name, PASSWORD)

    refused = browser.get(path, headers={"X-Session-Token": "x" * 32})

    assert refused.status == 401
    assert len(stored(server, name)) == 1


def test_the_token_of_a_waiting_login_is_nobody(server: AuthServer, name: str) -> None:
    """Open paths answer as to anybody, others refuse."""
    app = server.app()
    app.post("/auth/code/request", {"email": f"nobody.{name}@example.org"})

    assert app.session_key is not None
    assert app.get("/api/").status == 200
    assert app.get(ME).status == 401
    assert app.patch(ME, {"first_name": "Eve"}).status == 401
    assert server.user_row(name).first_name == ""


def test_an_empty_token_is_nobody_whatever_the_cookie(server: AuthServer, name: str) -> None:
    """The header says that an app is calling; the cookie could be abused by a page of another site."""
    browser = server.browser()
    browser.login(name, PASSWORD)

    refused = browser.http.patch(ME, json={"first_name": "Eve"}, headers={"X-Session-Token": ""})

    assert refused.status_code == 401
    assert server.user_row(name).first_name == ""


def test_the_session_of_an_account_that_is_switched_off_is_over(
    server: AuthServer, client: Browser | App, name: str
) -> None:
    """From then on it is nobody's, on every path."""
    client.login(name, PASSWORD)
    change(server, update(USERS).where(USERS.c.username == name).values(is_active=False))

    assert client.get(ME).status == 401
    assert client.get("/auth/session").status == (410 if client.kind == "app" else 401)


@pytest.mark.parametrize(
    "path", ["/auth/config", "/auth/session", "/auth/login", "/auth/code/confirm", "/tokens/refresh"]
)
def test_an_app_whose_session_is_over_is_told_so_everywhere(server: AuthServer, path: str) -> None:
    """410 on every endpoint that is there, before anything else."""
    method = "GET" if path in {"/auth/session", "/auth/config"} else "POST"
    where = "/config" if path == "/auth/config" else path
    app = server.app()

    gone = app.call(method, where, headers={"X-Session-Token": "y" * 32})

    if path == "/tokens/refresh":
        assert gone.status == 404
    else:
        assert (gone.status, gone.meta) == (410, {"is_authenticated": None})
        assert "login" in gone.flows
    assert server.rows(select(SESSIONS.c.id).where(SESSIONS.c.client == "yyy")) == []


def test_whether_somebody_is_signed_in(server: AuthServer, client: Browser | App, name: str) -> None:
    """For proxies a bare answer, for clients one with a body; by a session, a token or a password."""
    assert [client.get(path).status for path in ("/auth/", "/api/auth/")] == [401, 401]
    client.login(name, PASSWORD)
    bare = client.get("/auth/")

    assert (bare.status, bare.response.content, bare.response.headers["cache-control"]) == (200, b"", "no-store")
    assert client.get("/api/auth/").body == {"username": name}
    stranger = server.app().http
    assert stranger.get("/auth/", auth=(name, PASSWORD)).status_code == 200
    assert stranger.get("/auth/", auth=(name, "wrong")).status_code == 401
    assert stranger.get("/auth/", headers={"Authorization": "Token x"}).status_code == 401
    assert stranger.head("/auth/").content == b""
    assert stranger.post("/auth/").status_code == 405
    client.delete("/auth/session")
    assert client.get("/auth/").status == 401
    assert stored(server, name) == []


def test_plugins_hear_which_sessions_ended(server: AuthServer, name: str) -> None:
    """With whose they were and who ended them."""
    app = server.app()
    app.login(name, PASSWORD)
    [row] = stored(server, name)
    told: list[Any] = []
    area = replace(server.host.sign_in.area, emit=lambda _session, *one: told.append(one))
    sessions = Sessions(area)
    visit = sessions.visit(Caller(client=Client.APP, key=str(app.session_key), address="192.0.2.1", user_agent="test"))

    sessions.end(visit, [row.id])

    about = {"address": "192.0.2.1", "user_agent": "test", "sessions": [row.id]}
    assert told == [("user.session_ended", about, row.user_id)]
    assert visit.account is None
    assert stored(server, name) == []
