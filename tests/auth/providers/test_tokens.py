"""Signing in by a token of an app, and who is who."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from pyotp import TOTP

from tests.auth.clients import App, Browser
from tests.auth.providers.visits import CALLBACK, Person, connected_user, emails_of, error_of, sessions_of, users
from tests.auth.server import PASSWORD, AuthServer
from tests.providers.oidc_server import CLIENT_ID

TOTP_SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"


def test_a_token_signs_up_and_in(server: AuthServer, client: Browser | App, person: Callable[..., Person]):
    """The first one makes the account, later ones find it."""
    who = person()

    first = who.send_token(client)
    client.delete("/auth/session")
    if isinstance(client, App):
        client.session_key = None
    second = who.send_token(client)

    user = server.user_row(who.name)
    assert (first.status, first.methods) == (200, [])
    assert (second.status, second.methods) == (200, ["socialaccount"])
    assert first.data["user"]["id"] == second.data["user"]["id"] == user.id
    assert second.meta["session_token"] == client.session_key
    assert len(who.accounts(server)) == len(sessions_of(server, user.id)) == 1


@pytest.mark.parametrize(
    ("body", "errors"),
    [
        pytest.param(
            {}, [("required", "provider"), ("required", "process"), ("required", "token")], id="nothing at all"
        ),
        pytest.param({"process": "steal"}, [("required", "provider"), ("invalid_choice", "process")], id="process"),
        pytest.param({"provider": "nobody", "process": "login"}, [("invalid_token", "token")], id="unknown provider"),
        pytest.param({"provider": "my", "process": "login", "token": "text"}, [("invalid_token", "token")], id="text"),
        pytest.param({"provider": "my", "process": "login", "token": {}}, [("required", "token")], id="empty token"),
        pytest.param(
            {"provider": "my", "process": "login", "token": {"id_token": "x"}},
            [("client_id_required", "token")],
            id="no client",
        ),
        pytest.param(
            {"provider": "my", "process": "login", "token": {"client_id": "other", "id_token": "x"}},
            [("invalid_token", "token")],
            id="foreign client",
        ),
        pytest.param(
            {"provider": "my", "process": "login", "token": {"client_id": CLIENT_ID}},
            [("token_required", "token")],
            id="no token in it",
        ),
        pytest.param(
            {"provider": "github", "process": "login", "token": {"client_id": CLIENT_ID, "access_token": "x"}},
            [("token_authentication_not_supported", "provider")],
            id="provider without tokens",
        ),
        pytest.param(
            {"provider": "down", "process": "login", "token": {"client_id": "c", "id_token": "x"}},
            [("invalid_token", "token")],
            id="provider that is down",
        ),
    ],
)
def test_a_wrong_token_request_is_refused(
    server: AuthServer, client: Browser | App, body: dict[str, Any], errors: list[tuple[str, str]]
):
    """Every wrong member is named, and no session begins."""
    before = users(server)
    token = {} if body == {} else {"token": {"client_id": CLIENT_ID, "id_token": "x"}}

    answer = client.post("/auth/provider/token", {**token, **body})

    assert (answer.status, answer.errors) == (400, errors)
    assert client.session_key is None
    assert users(server) == before


@pytest.mark.parametrize(
    "changes",
    [{"aud": "other"}, {"iss": "https://evil.example.com"}, {"exp": 1}, {"sub": None}],
    ids=["audience", "issuer", "expired", "nobody"],
)
def test_an_id_token_must_be_right(server: AuthServer, person: Callable[..., Person], changes: dict[str, Any]):
    """It is for us, by the provider, in force and about somebody."""
    who, app = person(), server.app()

    answer = who.send_token(app, token=who.token(**changes))

    assert (answer.status, answer.errors) == (400, [("invalid_token", "token")])
    assert who.accounts(server) == []


def test_an_id_token_serves_once(server: AuthServer, client: Browser | App, person: Callable[..., Person]):
    """Who overhears it cannot use it again."""
    who = person()
    token = who.token()
    assert who.send_token(client, token=token).status == 200

    again = who.send_token(server.client(client.kind), token=token)

    assert (again.status, again.errors) == (400, [("invalid_token", "token")])
    assert len(sessions_of(server, server.user_row(who.name).id)) == 1


def test_a_taken_username_is_replaced(server: AuthServer, person: Callable[..., Person]):
    """Nobody takes over an account by calling themselves like its owner."""
    who = person(email="", given_name="", family_name="")
    owner = server.new_user(who.name, email=f"owner-{who.name}@example.org")

    answer = who.send_token(server.app())

    assert answer.status == 200
    assert answer.data["user"]["id"] != owner.id
    assert re.fullmatch(rf"{who.name}\d+", answer.data["user"]["username"])
    assert [row.user_id for row in who.accounts(server)] == [answer.data["user"]["id"]]


def test_another_login_takes_the_place_of_the_first(
    server: AuthServer, client: Browser | App, person: Callable[..., Person]
):
    """Whoever was signed in with this client no longer is."""
    who = person()
    before = server.new_user(f"before{who.number}")
    client.login(before.username, PASSWORD)
    old = client.session_key

    answer = who.send_token(client)

    assert (answer.status, answer.data["user"]["username"]) == (200, who.name)
    assert client.session_key != old
    assert sessions_of(server, before.id) == []
    assert len(sessions_of(server, answer.data["user"]["id"])) == 1


def test_an_account_that_is_switched_off_is_not_let_in(server: AuthServer, person: Callable[..., Person]):
    """The provider's word does not switch it on again."""
    who, browser = person(), server.browser()
    user = connected_user(server, who)
    server.host.users.deactivate(user.id)

    answer = who.send_token(server.app())

    assert (answer.status, answer.pending) == (401, [])
    assert error_of(who.sign_in(browser)) == (CALLBACK, "permission_denied", "login")
    assert browser.get("/auth/session").status == 401
    assert sessions_of(server, user.id) == []


def test_a_proved_address_counts_as_verified(server: AuthServer, person: Callable[..., Person]):
    """Where the account has claimed it, and nobody else has proved it."""
    who, other = person(), person()
    user = connected_user(server, who, email=who.email)
    rival = connected_user(server, other, email=other.email)
    server.host.users.create({"username": f"proved{other.number}", "email": other.email}, verified=True)

    assert who.send_token(server.app()).status == other.send_token(server.app()).status == 200

    assert emails_of(server, user.id) == [(who.email, True, True)]
    assert emails_of(server, rival.id) == [(other.email, False, True)]


def test_an_unproved_address_is_not_taken_for_proved(server: AuthServer, person: Callable[..., Person]):
    """The provider says itself that it does not know, so a mail asks."""
    who = person(email_verified=False)

    answer = who.send_token(server.app())

    assert answer.status == 200
    assert emails_of(server, answer.data["user"]["id"]) == [(who.email, False, True)]
    assert "/web/verify-email/" in server.mailbox.text(who.email)


def test_a_second_factor_is_asked_for(server: AuthServer, client: Browser | App, person: Callable[..., Person]):
    """A provider's word is one proof, as a password is."""
    who = person()
    user = connected_user(server, who)
    with server.host.database.write() as session:
        server.host.sign_in.factors.totp.add(session.connection(), user.id, TOTP_SECRET)

    answer = who.send_token(client)

    assert (answer.status, answer.pending) == (401, ["mfa_authenticate"])
    assert sessions_of(server, user.id) == []
    done = client.post("/auth/2fa/authenticate", {"code": TOTP(TOTP_SECRET).at(server.clock())})
    if isinstance(client, Browser):
        assert done.pending == ["mfa_trust"]
        done = client.post("/auth/2fa/trust", {"trust": False})
    assert (done.status, done.methods) == (200, ["socialaccount", "mfa"])
    assert len(sessions_of(server, user.id)) == 1
