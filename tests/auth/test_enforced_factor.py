"""Hosts on which everybody has to use a second factor."""

from __future__ import annotations

from typing import Any

import pytest
from pyotp import TOTP
from sqlalchemy import select

from host.accounts.factors.authenticators import AUTHENTICATORS
from host.accounts.sessions.table import SESSIONS
from tests.auth.clients import Answer, App, Browser
from tests.auth.conftest import ServerWith
from tests.auth.server import PASSWORD, AuthServer

ME = "/api/user/me/"
REFUSED = {
    "id": "mfa_register",
    "error": "A second factor is required here. Set one up, then sign in with it.",
}


@pytest.fixture
def server(server_with: ServerWith) -> AuthServer:
    """A host that enforces a second factor, and gives apps web tokens."""
    return server_with(login_enforce_mfa="true", headless_token_strategy="jwt")


@pytest.fixture
def name(request: pytest.FixtureRequest, server: AuthServer) -> str:
    """The username of an account of the test's own."""
    name = "".join(letter for letter in request.node.name.lower() if letter.isalnum())[-60:]
    server.new_user(name, email=f"{name[:50]}@example.org")
    return name


def set_up(server: AuthServer, name: str) -> TOTP:
    secret = server.host.sign_in.factors.totp.new_secret()
    with server.host.database.write() as session:
        server.host.sign_in.factors.add_totp(session.connection(), server.user_row(name).id, secret)
    return TOTP(secret)


def sign_in(server: AuthServer, client: Browser | App, name: str, app: TOTP) -> Answer:
    assert client.login(name, PASSWORD).pending == ["mfa_authenticate"]
    return client.post("/auth/2fa/authenticate", {"code": app.at(server.clock())})


def methods_of(server: AuthServer, name: str) -> list[list[str]]:
    rows = server.rows(select(SESSIONS.c.methods).where(SESSIONS.c.user_id == server.user_row(name).id))
    return [[step["method"] for step in row.methods] for row in rows]


def test_a_session_without_a_factor_is_sent_to_set_one_up(server: AuthServer, client: Browser | App, name: str) -> None:
    """The account interface stays open for that, and so does what is open to anybody."""
    assert client.login(name, PASSWORD).status == 200

    for path in (ME, "/api/auth/", "/api/user/token/", "/api/plugins/"):
        refused = client.get(path)
        assert (refused.status, refused.body) == (401, REFUSED)
    assert client.patch(ME, {"first_name": "Eve"}).body == REFUSED
    assert client.get("/auth/").status == 401
    assert client.get("/api/nothing/").body == REFUSED
    assert client.get("/api/").status == 200
    assert client.get("/auth/session").status == 200
    assert client.get("/auth/sessions").status == 200
    assert methods_of(server, name) == [["password"]]
    assert server.user_row(name).first_name == ""


def test_whoever_used_a_factor_gets_on(server: AuthServer, client: Browser | App, name: str) -> None:
    """On every path; no browser is trusted instead."""
    app = set_up(server, name)

    done = sign_in(server, client, name, app)

    assert (done.status, done.methods) == (200, ["password", "mfa"])
    assert client.get(ME).body["username"] == name
    assert client.get("/api/auth/").status == 200
    assert client.get("/auth/").status == 200
    assert methods_of(server, name) == [["password", "mfa"]]


def test_a_factor_that_was_removed_counts_no_more(server: AuthServer, client: Browser | App, name: str) -> None:
    """The session goes on, but has to set up another one."""
    app = set_up(server, name)
    sign_in(server, client, name, app)
    with server.host.database.write() as session:
        mine = AUTHENTICATORS.c.user_id == server.user_row(name).id
        session.connection().execute(AUTHENTICATORS.delete().where(mine))

    assert client.get(ME).body == REFUSED
    assert client.get("/auth/session").status == 200
    assert methods_of(server, name) == [["password", "mfa"]]


def test_setting_one_up_takes_another_login(server: AuthServer, client: Browser | App, name: str) -> None:
    """A session that was begun with a password alone stays refused."""
    client.login(name, PASSWORD)
    app = set_up(server, name)

    assert client.get(ME).body == REFUSED
    client.delete("/auth/session")
    client = server.client(client.kind)
    assert sign_in(server, client, name, app).status == 200
    assert client.get(ME).status == 200
    assert methods_of(server, name) == [["password", "mfa"]]


def test_a_password_alone_is_not_enough_in_a_header_either(server: AuthServer, name: str) -> None:
    """Else it would make a token, and get around the factor; a wrong one is told as ever."""
    http = server.app().http

    assert http.get(ME, auth=(name, PASSWORD)).json() == REFUSED
    assert http.get(ME, auth=(name, PASSWORD)).status_code == 401
    assert http.get("/api/user/token/", auth=(name, PASSWORD)).status_code == 401
    assert "detail" in http.get(ME, auth=(name, "wrong")).json()
    assert methods_of(server, name) == []


def test_tokens_of_programs_go_on_working(server: AuthServer, name: str) -> None:
    """They were made by somebody who was let in."""
    text, _ = server.host.tokens.issue(server.user_row(name).id, "script")

    answer = server.app().http.get(ME, headers={"Authorization": f"Token {text}"})

    assert (answer.status_code, answer.json()["username"]) == (200, name)


def test_a_web_token_is_as_good_as_its_session(server: AuthServer, name: str) -> None:
    """Without a factor it is refused in the same words."""
    client = server.app()
    weak = client.login(name, PASSWORD).meta["access_token"]
    app = set_up(server, name)
    strong = sign_in(server, server.app(), name, app).meta["access_token"]

    def me(token: str) -> Any:
        return server.app().http.get(ME, headers={"Authorization": f"Bearer {token}"}).json()

    assert me(weak) == REFUSED
    assert me(strong)["username"] == name
    assert sorted(methods_of(server, name)) == [["password"], ["password", "mfa"]]


def test_without_enforcement_a_password_is_enough(server_with: ServerWith) -> None:
    """PLUGYARD_LOGIN_ENFORCE_MFA=false, the default."""
    server = server_with()
    server.new_user("trusting")
    client = server.browser()
    client.login("trusting", PASSWORD)

    assert client.get(ME).status == 200
    assert client.http.get(ME, auth=("trusting", PASSWORD)).status_code == 200
    assert methods_of(server, "trusting") == [["password"]]
