"""Signing in by password."""

from __future__ import annotations

import pytest
from sqlalchemy import select, update

from host.accounts.account import USERS
from host.accounts.emails.table import EMAILS
from host.accounts.passwords import Passwords
from host.accounts.phones.table import PHONES
from host.accounts.sessions.table import SESSIONS
from tests.auth.server import PASSWORD

# Options that do not touch each other share a host.
_MORE = {"account_login_methods": "username,email,phone", "account_password_reset_by_code_enabled": "true"}


def _sessions(server, user):
    return server.rows(select(SESSIONS).where(SESSIONS.c.user_id == user.id))


def _add(server, table, **row):
    with server.host.database.write() as session:
        session.connection().execute(table.insert().values(created=server.clock(), **row))


def test_a_right_password_signs_in(server, client):
    """The answer is that of the session, with its key; the account notes the login."""
    user = server.new_user(f"ada-{client.kind}", email=f"ada-{client.kind}@example.org")

    answer = client.login(user.username, PASSWORD)

    assert answer.status == 200
    assert answer.data["user"]["id"] == user.id
    assert answer.methods == ["password"]
    assert answer.meta == {"is_authenticated": True, "session_token": client.session_key}
    [row] = _sessions(server, user)
    assert row.client == client.kind
    assert abs(server.user_row(user.username).last_login - server.clock()).total_seconds() < 60


@pytest.mark.parametrize("spelling", ["as it is", "in capitals", "with blanks"])
def test_a_username_is_found_in_any_spelling(server, client, spelling):
    """Case and blanks around do not count, nor blanks around the password."""
    user = server.new_user(f"Grace-{client.kind}-{spelling[-3:].strip()}")
    name = {"as it is": user.username, "in capitals": user.username.upper(), "with blanks": f"  {user.username} "}

    answer = client.login(name[spelling], f" {PASSWORD} ")

    assert answer.status == 200
    assert answer.data["methods"][0]["username"] == name[spelling].strip()
    assert len(_sessions(server, user)) == 1


def test_an_address_signs_in(server, client):
    """Any address of the account serves, in any case; the step shows it."""
    user = server.new_user(f"mail-{client.kind}", email=f"mail-{client.kind}@example.org")
    second = f"second-{client.kind}@example.org"
    _add(server, EMAILS, user_id=user.id, email=second, verified=True, primary=False)

    answer = client.post("/auth/login", {"email": second.upper(), "password": PASSWORD})

    assert answer.status == 200
    assert answer.data["methods"][0]["email"] == second
    assert answer.data["user"]["email"] == user.email
    assert len(_sessions(server, user)) == 1


def test_whoever_has_proved_an_address_is_meant_by_it(server, client):
    """Of two that claim an address, the one who verified it signs in."""
    address = f"proved-{client.kind}@example.org"
    claims = server.new_user(f"claims-{client.kind}", email=address)
    proved = server.new_user(f"proved-{client.kind}", password="another horse battery")
    _add(server, EMAILS, user_id=proved.id, email=address, verified=True, primary=True)

    assert client.post("/auth/login", {"email": address, "password": PASSWORD}).status == 400
    answer = client.post("/auth/login", {"email": address, "password": "another horse battery"})

    assert answer.status == 200
    assert answer.data["user"]["id"] == proved.id
    assert _sessions(server, claims) == []


def test_a_phone_number_signs_in_where_that_is_offered(server_with):
    """The step holds no number; a malformed one is refused."""
    server = server_with(**_MORE)
    app = server.app()
    user = server.new_user("caller")
    _add(server, PHONES, user_id=user.id, phone="+441632960123", verified=True)

    bad = app.post("/auth/login", {"phone": "0163 2960123", "password": PASSWORD})
    wrong = app.post("/auth/login", {"phone": "+441632960123", "password": "wrong"})
    answer = app.post("/auth/login", {"phone": "+441632960123", "password": PASSWORD})

    assert (bad.status, bad.errors) == (400, [("invalid_phone", "phone")])
    assert (wrong.status, wrong.errors) == (400, [("phone_password_mismatch", "password")])
    assert answer.status == 200
    assert set(answer.data["methods"][0]) == {"method", "at"}
    assert len(_sessions(server, user)) == 1


@pytest.mark.parametrize(
    ("body", "errors"),
    [
        pytest.param({}, [("required", "password"), ("invalid_login", None)], id="nothing"),
        pytest.param({"username": "eve"}, [("required", "password")], id="no password"),
        pytest.param({"password": "x"}, [("invalid_login", None)], id="nobody"),
        pytest.param({"username": "eve", "email": "e@x.org", "password": "x"}, [("invalid_login", None)], id="two"),
        pytest.param({"email": "no address", "password": "x"}, [("invalid", "email")], id="bad address"),
        pytest.param({"phone": "+441632960123", "password": "x"}, [("invalid_login", None)], id="not offered"),
        pytest.param(
            {"username": None, "password": None}, [("required", "password"), ("invalid_login", None)], id="null"
        ),
        pytest.param({"username": "eve", "password": "  "}, [("required", "password")], id="blank password"),
        pytest.param(
            {"username": "e\0", "password": "x"}, [("null_characters_not_allowed", "username")], id="null char"
        ),
        pytest.param(
            {"username": ["eve"], "password": {"a": 1}}, [("username_password_mismatch", "password")], id="types"
        ),
        pytest.param(
            {"username": "e" * 9999, "password": "x"}, [("username_password_mismatch", "password")], id="long"
        ),
    ],
)
def test_wrong_input_is_refused(server, client, body, errors):
    """Every wrong member is named, then what is wrong with the whole, and no session begins."""
    before = len(server.rows(select(SESSIONS)))

    answer = client.post("/auth/login", body)

    assert answer.status == 400
    assert answer.errors == errors
    assert set(answer.body) == {"status", "errors"}
    assert all(error["message"] for error in answer.body["errors"])
    assert len(server.rows(select(SESSIONS))) == before


@pytest.mark.parametrize("raw", [b"{", b"[]", b'"text"', b"1", b"true", b"\xff\xfe", b'{"username": "\\ud800"}'])
def test_a_body_that_is_no_object_is_refused(server, client, raw):
    """400 without a word about members, never a failure of the server."""
    answer = client.call("POST", "/auth/login", content=raw)

    assert answer.status == 400
    assert answer.body == {"status": 400}
    assert server.rows(select(SESSIONS).where(SESSIONS.c.user_id.is_(None))) == []


@pytest.mark.parametrize("raw", [b"", b"null", b"  "])
def test_an_empty_body_is_an_empty_object(server, client, raw):
    """Its members are missing, and each is named."""
    answer = client.call("POST", "/auth/login", content=raw)

    assert answer.status == 400
    assert ("required", "password") in answer.errors


def test_the_content_type_does_not_matter(server, client):
    """The body is JSON whatever its header says."""
    user = server.new_user(f"typed-{client.kind}")
    body = f'{{"username": "{user.username}", "password": "{PASSWORD}"}}'

    answer = client.call("POST", "/auth/login", content=body, headers={"Content-Type": "text/plain"})

    assert answer.status == 200
    assert len(_sessions(server, user)) == 1


@pytest.mark.parametrize("member", ["username", "email"])
def test_unknown_and_known_accounts_are_refused_alike(server, client, member, monkeypatch):
    """Same status, same body, and the same number of password checks."""
    user = server.new_user(f"known-{client.kind}-{member}", email=f"known-{client.kind}-{member}@example.org")
    server.new_user(f"empty-{client.kind}-{member}", password=None, email=f"empty-{client.kind}-{member}@example.org")
    checked = []
    verify = Passwords._verify

    def counted(self, *args):
        checked.append(args)
        return verify(self, *args)

    monkeypatch.setattr(Passwords, "_verify", counted)

    def refused(name):
        text = name if member == "username" else f"{name}@example.org"
        return client.post("/auth/login", {member: text, "password": "wrong"})

    kinds = ("known", "empty", "unknown")
    answers = [refused(f"{name}-{client.kind}-{member}") for name in kinds]

    assert {answer.status for answer in answers} == {400}
    assert answers[0].errors == [(f"{member}_password_mismatch", "password")]
    assert answers[0].body == answers[1].body == answers[2].body
    assert len(checked) == len(kinds)
    assert _sessions(server, user) == []


def test_an_inactive_account_is_not_let_in(server, client):
    """The right password gives 401 with nothing that waits; a wrong one the ordinary refusal."""
    user = server.new_user(f"inactive-{client.kind}", is_active=False)

    wrong = client.login(user.username, "wrong")
    right = client.login(user.username, PASSWORD)

    assert wrong.errors == [("username_password_mismatch", "password")]
    assert right.status == 401
    assert right.pending == []
    assert right.meta["is_authenticated"] is False
    assert _sessions(server, user) == []
    assert server.user_row(user.username).last_login is None


def test_whoever_is_signed_in_cannot_sign_in_again(server, client):
    """409 after good input, 400 after bad, which a wrong password is too; the session stays."""
    user = server.new_user(f"again-{client.kind}")
    client.login(user.username, PASSWORD)

    again = client.login(user.username, PASSWORD)
    bad = client.post("/auth/login", {"username": user.username})
    wrong = client.login(user.username, "another battery")

    assert (again.status, again.body) == (409, {"status": 409})
    assert (bad.status, bad.errors) == (400, [("required", "password")])
    assert (wrong.status, wrong.errors) == (400, [("username_password_mismatch", "password")])
    assert client.get("/auth/session").status == 200
    assert len(_sessions(server, user)) == 1


def test_the_key_changes_at_login(server_with):
    """Whoever planted or saw the key of an anonymous session has nothing of it."""
    server = server_with(**_MORE)
    for client in (server.browser(), server.app()):
        user = server.new_user(f"fixed-{client.kind}")
        client.post("/auth/password/request", {"email": "nobody@example.org"})
        before = client.session_key

        client.login(user.username, PASSWORD)

        assert before
        assert client.session_key != before
        [row] = _sessions(server, user)
        assert row.data["password_reset_by_code"]["email"] == "nobody@example.org"


def test_old_parameters_are_renewed_at_login(server, client):
    """A password that was hashed more cheaply is hashed anew, and still fits."""
    user = server.new_user(f"rehash-{client.kind}")
    cheap = Passwords(time_cost=1, memory_kib=8, parallelism=1).hash(PASSWORD)
    with server.host.database.write() as session:
        session.connection().execute(update(USERS).where(USERS.c.id == user.id).values(password_hash=cheap))

    assert client.login(user.username, PASSWORD).status == 200

    stored = server.user_row(user.username).password_hash
    assert stored != cheap
    assert "m=32," in stored
    assert server.client(client.kind).login(user.username, PASSWORD).status == 200


def test_one_method_alone_is_required(server_with):
    """Where people sign in by address only, a username does not exist."""
    server = server_with(account_login_methods="email")
    app = server.app()
    user = server.new_user("only-mail", email="only@example.org")

    missing = app.post("/auth/login", {"username": "only-mail", "password": PASSWORD})
    right = app.post("/auth/login", {"email": "only@example.org", "username": "x", "password": PASSWORD})

    assert missing.errors == [("required", "email")]
    assert right.status == 200
    assert len(_sessions(server, user)) == 1


def test_a_browser_needs_the_csrf_token(server):
    """Without the header, or with another value, nothing happens."""
    browser = server.browser()
    user = server.new_user("csrf")
    browser.get("/auth/session")

    for token in ("", "x" * 32):
        answer = browser.post(
            "/auth/login", {"username": user.username, "password": PASSWORD}, headers={"X-CSRFToken": token}
        )
        assert answer.status == 403
        assert "CSRF" in answer.body["detail"]

    assert _sessions(server, user) == []


def test_logins_from_one_address_are_limited(server_with):
    """The 31st within a minute is refused, whatever it says; a minute later it may be."""
    server = server_with(account_rate_limits='{"login_failed": null}')
    app = server.app()
    statuses = [app.post("/auth/login", {}).status for _ in range(31)]
    user = server.new_user("patient")

    refused = app.login(user.username, PASSWORD)
    sessions = _sessions(server, user)
    server.clock.forward(61)

    assert statuses == [400] * 30 + [429]
    assert (refused.status, refused.body) == (429, {"status": 429})
    assert sessions == []
    assert app.login(user.username, PASSWORD).status == 200


def test_failures_close_an_account_for_a_while(server_with):
    """After five, the right password does not serve either, under any spelling; others do, and so does waiting."""
    server = server_with(account_rate_limits='{"login": null, "login_failed": "5/300s/key"}')
    app = server.app()
    user = server.new_user("Guarded")
    for _ in range(5):
        assert app.login("guarded", "wrong").errors == [("username_password_mismatch", "password")]

    closed = app.login("GUARDED", PASSWORD)
    sessions = _sessions(server, user)
    server.new_user("bystander")

    assert (closed.status, closed.errors) == (400, [("too_many_login_attempts", None)])
    assert sessions == []
    assert server.app().login("bystander", PASSWORD).status == 200
    server.clock.forward(301)
    assert app.login("guarded", PASSWORD).status == 200


def test_successes_are_no_failures(server_with):
    """Signing in often is not counted as failing often."""
    server = server_with(account_rate_limits='{"login": null, "login_failed": "5/300s/key"}')
    user = server.new_user("frequent")

    assert [server.app().login("frequent", PASSWORD).status for _ in range(7)] == [200] * 7
    assert len(_sessions(server, user)) == 7


def test_failures_from_one_address_close_it(server_with):
    """Whoever tries many accounts from one address is stopped there."""
    server = server_with(account_rate_limits='{"login": null, "login_failed": "3/m/ip"}')
    app = server.app()
    server.new_user("innocent")
    for name in ("a", "b", "c"):
        app.login(name, "wrong")

    assert app.login("innocent", PASSWORD).errors == [("too_many_login_attempts", None)]
    server.clock.forward(61)
    assert app.login("innocent", PASSWORD).status == 200
