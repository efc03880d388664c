"""What strangers send to break in or to get in the way."""

from __future__ import annotations

import base64
import time

import httpx2
import pytest
from sqlalchemy import func, select

from host.accounts.factors.authenticators import AUTHENTICATORS, FactorType
from host.accounts.limits import LIMITS
from host.accounts.sessions.table import PENDING, SESSIONS
from host.storage.tables import METADATA
from tests.auth.clients import PREFIX
from tests.auth.conftest import ServerWith
from tests.auth.server import PASSWORD, AuthServer

ERRORS = METADATA.tables["error_report"]
MAILS = METADATA.tables["mail_message"]
HOSTS = ["evil.example\\@localhost", "[", "[::1", "[:::::]", "a b", "localhost:x", "user@localhost", "localhost/x"]


def basic(server: AuthServer, name: str, password: str) -> httpx2.Response:
    credentials = base64.b64encode(f"{name}:{password}".encode()).decode()
    return server.app().http.get("/api/user/me/", headers={"Authorization": f"Basic {credentials}"})


@pytest.mark.parametrize("number", range(len(HOSTS)))
def test_a_malformed_host_names_nothing(server: AuthServer, number: int) -> None:
    """Links in mails lead to where the connection arrived, and no error report comes of it."""
    address = f"malformed{number}@example.org"
    server.new_user(f"malformed{number}", email=address)
    http = server.app().http
    reports = server.rows(select(func.count()).select_from(ERRORS))

    for path in ("/auth/session", "/config"):
        assert http.get(PREFIX + path, headers={"Host": HOSTS[number]}).status_code in {200, 401}
    http.cookies.clear()
    answer = http.post(f"{PREFIX}/auth/password/request", json={"email": address}, headers={"Host": HOSTS[number]})

    assert answer.status_code == 200
    assert server.mailbox.link(address).startswith(f"{server.url}/web/set-password?key=")
    assert server.rows(select(func.count()).select_from(ERRORS)) == reports


@pytest.mark.parametrize("origin", ["http://[", "null", "http://x:99999", "://", "http://127.0.0.1\\@evil.example"])
def test_a_malformed_origin_is_a_foreign_one(server: AuthServer, origin: str) -> None:
    """It is refused as any other; no session and no error report comes of it."""
    browser = server.browser()
    sessions, reports = (server.rows(select(func.count()).select_from(table)) for table in (SESSIONS, ERRORS))

    answer = browser.post("/auth/code/request", {"email": "a@example.org"}, headers={"Origin": origin})

    assert answer.status == 403
    assert [server.rows(select(func.count()).select_from(table)) for table in (SESSIONS, ERRORS)] == [sessions, reports]


@pytest.mark.parametrize(
    ("path", "member"),
    [
        ("/auth/login", "username"),
        ("/auth/login", "email"),
        ("/auth/signup", "username"),
        ("/auth/signup", "email"),
        ("/auth/code/request", "email"),
        ("/auth/password/request", "email"),
        ("/api/email/generate/", "email"),
    ],
)
def test_a_text_that_is_slow_to_normalise_holds_up_nobody(server: AuthServer, path: str, member: str) -> None:
    """Marks out of order take a time that grows with the square of their number: seconds for what a body may hold."""
    app = server.app()
    before = server.rows(select(func.count()).select_from(SESSIONS))
    begun = time.monotonic()

    answer = app.post(path, {member: "a" + "\u0301\u0316" * 40_000 + "@example.org", "password": PASSWORD})

    assert time.monotonic() - begun < 1
    assert answer.status in {400, 200 if path.startswith("/api/") else 400}
    assert server.rows(select(func.count()).select_from(SESSIONS)) == before


def test_sessions_of_nobody_end_soon(server: AuthServer) -> None:
    """Anybody can have them made, each for one request; they are gone hours later though nobody has signed in."""
    strangers = [server.browser() for _ in range(3)]
    for stranger in strangers:
        assert stranger.get("/auth/webauthn/login").status == 200
    nobodys = select(func.count()).select_from(SESSIONS).where(SESSIONS.c.user_id.is_(None))
    assert server.rows(nobodys)[0][0] >= len(strangers)

    server.clock.forward(3 * 3600)
    server.browser().get("/auth/session")

    assert server.rows(nobodys) == [(0,)]


def test_a_session_that_was_planted_is_left_behind_with_the_password(server: AuthServer) -> None:
    """Who put a session of theirs into the browser cannot take the last step of its login."""
    account = server.new_user("planted", email="planted@example.org")
    mandatory = server.host.sign_in.factors
    with server.host.database.write() as session:
        mandatory.add_totp(session.connection(), account.id, mandatory.totp.new_secret())
    attacker, victim = server.browser(), server.browser()
    assert attacker.get("/auth/webauthn/login").status == 200
    planted = attacker.session_key
    victim.http.cookies.set("sessionid", str(planted), domain="127.0.0.1")

    answer = victim.login("planted", PASSWORD)

    assert answer.pending == ["mfa_authenticate"]
    keys = [cookie.value for cookie in victim.http.cookies.jar if cookie.name == "sessionid"]
    assert planted != keys[-1]
    assert attacker.get("/auth/session").pending == []
    assert server.rows(select(PENDING.c.stage).where(PENDING.c.user_id == account.id)) == [("mfa_authenticate",)]


def test_a_password_alone_is_no_second_factor(server: AuthServer) -> None:
    """By HTTP Basic, too, an account with a second factor wants more; its tokens go on working."""
    account = server.new_user("twofold")
    token, _ = server.host.tokens.issue(account.id)
    assert basic(server, "twofold", PASSWORD).status_code == 200
    factors = server.host.sign_in.factors
    with server.host.database.write() as session:
        factors.add_totp(session.connection(), account.id, factors.totp.new_secret())

    assert basic(server, "twofold", PASSWORD).status_code == 401
    assert basic(server, "twofold", "wrong").status_code == 401
    me = server.app().http.get("/api/user/me/", headers={"Authorization": f"Token {token}"})
    assert me.status_code == 200
    kinds = server.rows(select(AUTHENTICATORS.c.type).where(AUTHENTICATORS.c.user_id == account.id))
    assert kinds == [(FactorType.TOTP.value,)]


def test_a_factor_of_a_kind_that_is_off_is_none(server_with: ServerWith) -> None:
    """Where no login asks for it, HTTP Basic does not either."""
    server = server_with(mfa_supported_types="webauthn")
    account = server.new_user("onefold")
    factors = server.host.sign_in.factors
    with server.host.database.write() as session:
        factors.add_totp(session.connection(), account.id, factors.totp.new_secret())

    assert basic(server, "onefold", PASSWORD).json()["username"] == "onefold"


@pytest.mark.parametrize("verified", [True, False])
def test_a_token_does_not_lead_to_a_new_password(server: AuthServer, verified: bool) -> None:
    """The mail field, which a token can write, gets no reset where the account has proved another address."""
    name = f"lender{verified}".lower()
    account = server.host.users.create(
        {"username": name, "email": f"{name}@example.org"}, password=PASSWORD, check_rules=False, verified=verified
    )
    token, _ = server.host.tokens.issue(account.id)
    thiefs = f"thief-of-{name}@example.org"
    app = server.app()
    changed = app.http.patch("/api/user/me/", json={"email": thiefs}, headers={"Authorization": f"Token {token}"})
    assert changed.json()["email"] == thiefs

    assert app.post("/auth/password/request", {"email": thiefs}).status == 200

    # An account that has proved nothing has no better address than the one that it says.
    assert len(server.rows(select(MAILS.c.global_id).where(MAILS.c.to == thiefs))) == (0 if verified else 1)


def test_wrong_passwords_by_basic_are_counted(server_with: ServerWith) -> None:
    """Per name, existing or not, and per address. Who was there a moment ago stays."""
    server = server_with(account_rate_limits='{"basic_failed": "3/m/key,8/m/ip"}')
    server.new_user("guessed")
    server.new_user("regular")
    assert basic(server, "regular", PASSWORD).status_code == 200

    for name in ("guessed", "nobody-has-this"):
        details = [basic(server, name, f"wrong {number}").json()["detail"] for number in range(4)]
        assert len(set(details[:3])) == 1
        assert "too many" in details[3]
    assert "too many" in basic(server, "GUESSED", PASSWORD).json()["detail"]
    # Of the one address, and of each of the two names; what is refused is not counted.
    assert sorted(len(times) for (times,) in server.rows(select(LIMITS.c.times))) == [3, 3, 6]

    basic(server, "third", "wrong")
    basic(server, "fourth", "wrong")
    assert "too many" in basic(server, "fifth", "wrong").json()["detail"]
    assert basic(server, "regular", PASSWORD).status_code == 200
    server.clock.forward(61)
    assert basic(server, "guessed", PASSWORD).status_code == 200
