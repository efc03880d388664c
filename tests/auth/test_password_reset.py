"""Replacing a forgotten password."""

from __future__ import annotations

import itertools

import pytest
from sqlalchemy import insert, select, update

from host.accounts.account import USERS
from host.accounts.emails.table import EMAILS
from host.accounts.sessions.table import PENDING, SESSIONS
from host.mail.log import MAIL
from tests.auth.server import PASSWORD

_NEW = "staple of another battery"
_REQUEST = "/auth/password/request"
_RESET = "/auth/password/reset"
_HEADER = "X-Password-Reset-Key"
_BY_CODE = {"account_password_reset_by_code_enabled": "true"}
_PAGES = '{"account_reset_password_from_key": "https://shop.example.org/p/{key}/new?x=%7B"}'
# Options that do not touch each other share a host.
_OTHERWISE = {
    "account_email_unknown_accounts": "false",
    "account_login_on_password_reset": "true",
    "headless_frontend_urls": _PAGES,
}
_OTHERWISE_BY_CODE = {
    **_BY_CODE,
    "account_login_on_password_reset": "true",
    "account_password_reset_by_code_max_attempts": "1",
    "account_password_reset_by_code_timeout": "60",
}
_WRONG_LINK = [("invalid_password_reset", "key")]
_WRONG_CODE = [("incorrect_code", "key")]
_NUMBERS = itertools.count()


def _user(server, **options):
    number = next(_NUMBERS)
    return server.new_user(f"forgetful{number}", **{"email": f"forgetful{number}@example.org", **options})


def _key(server, client, user, *, number=1):
    assert client.post(_REQUEST, {"email": user.email}).status == 200
    return server.mailbox.link(user.email, number=number).partition("key=")[2]


def _code(server, client, user, *, number=1):
    assert client.post(_REQUEST, {"email": user.email}).status == 401
    return server.mailbox.code(user.email, number=number)


def _read(client, key):
    return client.get(_RESET, headers={_HEADER: key})


def _reset(client, key, password=_NEW):
    return client.post(_RESET, {"key": key, "password": password})


def _sessions(server, user):
    return server.rows(select(SESSIONS).where(SESSIONS.c.user_id == user.id))


def _fits(server, user, password):
    stored = server.user_row(user.username).password_hash
    return server.host.sign_in.area.passwords.check(stored, password)


def _is_verified(server, user):
    return [row.verified for row in server.rows(select(EMAILS).where(EMAILS.c.user_id == user.id))]


@pytest.fixture
def coded(server_with):
    """A host that resets by code."""
    return server_with(**_BY_CODE)


@pytest.fixture(params=["browser", "app"])
def code_client(request, coded):
    """A client of it, of each kind in turn."""
    return coded.client(request.param)


# -- asking


def test_a_link_is_mailed(server, client):
    """The answer is bare; the mail names the user and leads to the page of the web client; the log keeps no key."""
    user = _user(server)

    answer = client.post(_REQUEST, {"email": f" {user.email.upper()} "})

    assert answer.status == 200
    assert answer.body == {"status": 200}
    text = server.mailbox.text(user.email)
    assert user.username in text
    assert "3 days" in text
    link = server.mailbox.link(user.email)
    assert link.startswith(f"{server.url}/web/set-password?key=")
    [row] = server.rows(select(MAIL).where(MAIL.c.to == user.email))
    assert link.partition("key=")[2] not in f"{row.body}{row.full_message}{row.payload}"


@pytest.mark.parametrize(("told", "options"), [("true", {}), ("false", _OTHERWISE)])
def test_an_unknown_address_is_answered_alike(server_with, told, options):
    """Status and body are those of a known one; a mail says so unless that is switched off."""
    server = server_with(**options)
    for client in (server.browser(), server.app()):
        user, unknown = _user(server), f"unknown-{client.kind}-{told}@example.org"

        known = client.post(_REQUEST, {"email": user.email})
        answer = client.post(_REQUEST, {"email": unknown})

        assert (answer.status, answer.body) == (known.status, known.body) == (200, {"status": 200})
        mails = server.rows(select(MAIL.c.template).where(MAIL.c.to == unknown))
        assert [row.template for row in mails] == (["unknown_account"] if told == "true" else [])


def test_without_secrecy_an_unknown_address_is_told(server_with):
    """Where enumeration is no concern, people learn of their spelling mistakes."""
    server = server_with(account_prevent_enumeration="false")
    app, user = server.app(), _user(server)

    answer = app.post(_REQUEST, {"email": "unknown@example.org"})

    assert (answer.status, answer.errors) == (400, [("unknown_email", "email")])
    assert app.post(_REQUEST, {"email": user.email}).status == 200
    assert [row.to for row in server.rows(select(MAIL.c.to))] == [user.email]


def test_an_inactive_account_is_unknown(server, client):
    """Nothing is sent to it."""
    user = _user(server, is_active=False)

    assert client.post(_REQUEST, {"email": user.email}).body == {"status": 200}
    assert server.rows(select(MAIL).where(MAIL.c.to == user.email)) == []


@pytest.mark.parametrize(
    ("body", "code"),
    [
        pytest.param({}, "required", id="missing"),
        pytest.param({"email": " "}, "required", id="blank"),
        pytest.param({"email": "nonsense"}, "invalid", id="malformed"),
        pytest.param({"email": ["a@b.org"]}, "invalid", id="a list"),
        pytest.param({"email": f"{'a' * 64}@{'b' * 200}.org"}, "max_length", id="long"),
    ],
)
def test_a_wrong_address_is_refused(server, client, body, code):
    """The refusal names the member, and no mail goes out."""
    before = len(server.rows(select(MAIL.c.global_id)))

    answer = client.post(_REQUEST, body)

    assert (answer.status, answer.errors) == (400, [(code, "email")])
    assert len(server.rows(select(MAIL.c.global_id))) == before


def test_resetting_can_be_switched_off(server_with):
    """403 after good input, for known and unknown addresses alike; nobody gets mail."""
    server = server_with(login_enable_pwd_forgot="false")
    for client in (server.browser(), server.app()):
        user = _user(server)

        for address in (user.email, "nobody@example.org"):
            answer = client.post(_REQUEST, {"email": address})
            assert (answer.status, answer.body) == (403, {"status": 403})

        assert client.post(_REQUEST, {}).status == 400
        assert server.rows(select(MAIL.c.global_id)) == []


def test_requests_for_an_address_are_limited(server_with):
    """The sixth within a minute is refused, known or not; other addresses are not concerned."""
    server = server_with(account_rate_limits='{"login": null}')
    user = _user(server)
    app = server.app()
    for address in (user.email, "stranger@example.org"):
        statuses = [app.post(_REQUEST, {"email": address}).status for _ in range(6)]
        assert statuses == [200] * 5 + [429]

    assert app.post(_REQUEST, {"email": "other@example.org"}).status == 200
    assert len(server.rows(select(MAIL).where(MAIL.c.to == user.email))) == 5


def test_pages_of_another_client_can_be_named(server_with):
    """The link leads to the configured page, with the key where it says."""
    server = server_with(**_OTHERWISE)
    user = _user(server)
    server.app().post(_REQUEST, {"email": user.email})

    link = server.mailbox.link(user.email)

    assert link.startswith("https://shop.example.org/p/")
    key = link.removeprefix("https://shop.example.org/p/").partition("/")[0]
    assert link.endswith("/new?x=%7B")
    assert _read(server.app(), key).status == 200


# -- by link


def test_a_key_shows_whose_password_it_replaces(server, client):
    """The user, and nothing is changed by looking."""
    user = _user(server)
    key = _key(server, client, user)

    for _ in range(2):
        answer = _read(client, key)
        assert answer.status == 200
        assert set(answer.body) == {"status", "data"}
        assert answer.data["user"]["id"] == user.id
        assert set(answer.data) == {"user"}

    assert _is_verified(server, user) == [False]
    assert _fits(server, user, PASSWORD)


def test_a_link_replaces_the_password(server, client):
    """401 with nothing that waits; every session of the user is over; a mail tells of it."""
    user = _user(server)
    elsewhere = server.client(client.kind)
    elsewhere.login(user.username, PASSWORD)
    key = _key(server, client, user)

    answer = _reset(client, key)

    assert answer.status == 401
    assert answer.pending == []
    assert answer.meta == {"is_authenticated": False}
    assert _fits(server, user, _NEW)
    assert _sessions(server, user) == []
    assert elsewhere.get("/auth/session").status == (401 if client.kind == "browser" else 410)
    assert "was replaced" in server.mailbox.text(user.email, number=2)
    assert client.login(user.username, _NEW).status == 200


def test_a_link_works_once(server, client):
    """Afterwards it is refused, for looking and for resetting."""
    user = _user(server)
    key = _key(server, client, user)
    _reset(client, key)

    assert (_read(client, key).status, _read(client, key).errors) == (400, _WRONG_LINK)
    again = _reset(client, key, "yet another password")

    assert (again.status, again.errors) == (400, _WRONG_LINK)
    assert _fits(server, user, _NEW)


def _change_password(server, user):
    server.host.users.set_password(user.id, "by somebody else")


def _sign_in(server, user):
    assert server.app().login(user.username, PASSWORD).status == 200


def _add_address(server, user):
    row = {"user_id": user.id, "email": f"more-{user.email}", "verified": False, "primary": False}
    with server.host.database.write() as session:
        session.connection().execute(insert(EMAILS).values(created=server.clock(), **row))


def _switch_off(server, user):
    server.host.users.deactivate(user.id)


def _remove(server, user):
    server.host.users.delete(user.id)


def _wait(server, _user):
    server.clock.forward(3 * 86_400 + 1)


@pytest.mark.parametrize("event", [_change_password, _sign_in, _add_address, _switch_off, _remove, _wait])
def test_a_link_dies(server, client, event):
    """With another password, a login, another address, the account, and after three days."""
    user = _user(server)
    key = _key(server, client, user)
    event(server, user)

    answer = _reset(client, key)
    server.clock.begin()

    assert (answer.status, answer.errors) == (400, _WRONG_LINK)
    assert not server.rows(select(USERS).where(USERS.c.id == user.id)) or not _fits(server, user, _NEW)


@pytest.mark.parametrize(
    "spoil", ["another user", "another time", "another signature", "garbage", "long", "upper case"]
)
def test_a_changed_key_is_refused(server, client, spoil):
    """Every part of a key counts, and no text is too strange."""
    user, other = _user(server), _user(server)
    key = _key(server, client, user)
    number, made, signature = key.split("-")
    other_number = _key(server, client, other).split("-")[0]
    changed = {
        "another user": f"{other_number}-{made}-{signature}",
        "another time": f"{number}-{made[:-1]}{'0' if made[-1] != '0' else '1'}-{signature}",
        "another signature": f"{number}-{made}-{signature[:-1]}{'0' if signature[-1] != '0' else '1'}",
        "garbage": "\u2603%00-\0",
        "long": f"{'z' * 13}-{made}-{signature}",
        "upper case": key.upper() + "A",
    }[spoil]

    answer = _reset(client, changed)

    assert (answer.status, answer.errors) == (400, _WRONG_LINK)
    assert _fits(server, user, PASSWORD)
    assert _fits(server, other, PASSWORD)


@pytest.mark.parametrize(
    ("body", "errors"),
    [
        pytest.param({}, [("required", "key"), ("required", "password")], id="nothing"),
        pytest.param({"password": _NEW}, [("required", "key")], id="no key"),
        pytest.param({"key": "x"}, [*_WRONG_LINK, ("required", "password")], id="bad key and no password"),
        pytest.param({"key": True, "password": ["x"]}, _WRONG_LINK, id="types"),
    ],
)
def test_wrong_input_is_refused(server, client, body, errors):
    """All wrong members are named at once."""
    answer = client.post(_RESET, body)

    assert (answer.status, answer.errors) == (400, errors)
    assert _read(client, "").errors == [("required", "key")]
    assert server.rows(select(SESSIONS).where(SESSIONS.c.user_id.is_(None))) == []


@pytest.mark.parametrize(
    ("password", "code"),
    [
        pytest.param("short", "password_too_short", id="short"),
        pytest.param("password1", "password_too_common", id="common"),
        pytest.param("90517362", "password_entirely_numeric", id="digits"),
        pytest.param("my-forgetful", "password_too_similar", id="like the username"),
        pytest.param("  ", "required", id="blank"),
    ],
)
def test_a_weak_password_uses_nothing_up(server, client, password, code):
    """The refusal names the rule; the same key then takes a good one."""
    user = _user(server)
    key = _key(server, client, user)

    weak = _reset(client, key, password)

    assert weak.status == 400
    assert (code, "password") in weak.errors
    assert _fits(server, user, PASSWORD)
    assert _reset(client, key).status == 401
    assert _fits(server, user, _NEW)


def test_an_account_without_a_password_gets_one(server, client):
    """Whoever reads its mail may choose its first password."""
    user = _user(server, password=None)

    assert _reset(client, _key(server, client, user)).status == 401
    assert _fits(server, user, _NEW)


def test_a_pending_login_does_not_outlive_the_old_password(server, client):
    """Whoever knew it and waits for the second factor has to begin anew."""
    user = _user(server)
    with server.host.database.write() as session:
        row = {"user_id": None, "client": client.kind, "methods": [], "data": {}, "digest": f"d{user.id}"}
        times = dict.fromkeys(("created", "last_seen", "expires"), server.clock())
        made = session.connection().execute(insert(SESSIONS).values(**row, **times).returning(SESSIONS.c.id))
        login = {"stage": "mfa_authenticate", "methods": [], "facts": {}, "state": {}, "started": server.clock()}
        waiting = {"session_id": made.scalar_one(), "user_id": user.id, **login}
        session.connection().execute(insert(PENDING).values(**waiting))

    _reset(client, _key(server, client, user))

    assert server.rows(select(PENDING).where(PENDING.c.user_id == user.id)) == []


def test_failed_logins_are_forgiven(server_with):
    """Whoever locked themselves out gets in with the new password, by name and by address."""
    server = server_with(account_rate_limits='{"login": null, "login_failed": "5/300s/key"}')
    user, app = _user(server), server.app()
    for _ in range(5):
        app.login(user.username, "wrong")
        app.post("/auth/login", {"email": user.email, "password": "wrong"})
    assert app.login(user.username, PASSWORD).errors == [("too_many_login_attempts", None)]

    _reset(app, _key(server, app, user))

    assert app.login(user.username, _NEW).status == 200
    assert server.app().post("/auth/login", {"email": user.email, "password": _NEW}).status == 200


def test_tries_are_limited(server_with):
    """After twenty a minute the endpoint is closed there; looking is never counted."""
    server = server_with(account_rate_limits='{"login": null}')
    user, app = _user(server), server.app()
    key = _key(server, app, user)
    statuses = [_reset(app, "x").status for _ in range(20)]

    refused = _reset(app, key)

    assert statuses == [400] * 20
    assert (refused.status, refused.body) == (429, {"status": 429})
    assert _read(app, key).status == 200
    assert _fits(server, user, PASSWORD)


def test_a_reset_can_sign_in(server_with):
    """With that option the answer is 200, and the step is the reset."""
    server = server_with(**_OTHERWISE)
    for client in (server.browser(), server.app()):
        user = _user(server)
        other = server.client(client.kind)
        other.login(user.username, PASSWORD)

        client.post(_REQUEST, {"email": user.email})
        key = server.mailbox.link(user.email).removeprefix("https://shop.example.org/p/").partition("/")[0]

        answer = _reset(client, key)

        assert answer.status == 200
        [step] = answer.data["methods"]
        assert step == {"method": "password_reset", "at": step["at"], "email": user.email}
        assert client.get("/auth/session").status == 200
        assert len(_sessions(server, user)) == 1
        assert other.get("/auth/session").status == (401 if client.kind == "browser" else 410)


def test_whoever_resets_while_signed_in_signs_out(server, client):
    """The own session ends with all others of the account."""
    user = _user(server)
    client.login(user.username, PASSWORD)

    answer = _reset(client, _key(server, client, user))

    assert answer.status == 401
    assert answer.meta == {"is_authenticated": False}
    assert _sessions(server, user) == []


def test_whoever_resets_another_account_stays_signed_in(server, client):
    """A link works in any session, and ends only those of its own account."""
    user, other = _user(server), _user(server)
    client.login(other.username, PASSWORD)

    answer = _reset(client, _key(server, client, user))

    assert answer.data["user"]["id"] == other.id
    assert _fits(server, user, _NEW)
    assert _fits(server, other, PASSWORD)
    assert len(_sessions(server, other)) == 1


# -- by code


def test_a_code_is_mailed(coded, code_client):
    """401 with the flow that waits; the session keeps no code, and the log neither."""
    user = _user(coded)
    before = code_client.get("/auth/session").data["flows"]

    answer = code_client.post(_REQUEST, {"email": user.email})

    assert before[-1] == {"id": "password_reset_by_code", "is_pending": False}
    assert answer.status == 401
    assert answer.pending == ["password_reset_by_code"]
    assert answer.meta["is_authenticated"] is False
    assert code_client.session_key
    code = coded.mailbox.code(user.email)
    kept = [row.data["password_reset_by_code"] for row in coded.rows(select(SESSIONS)) if row.data]
    [mine] = [state for state in kept if state["email"] == user.email]
    [mail] = coded.rows(select(MAIL).where(MAIL.c.to == user.email))
    assert code not in f"{mine}{mail.body}{mail.full_message}{mail.payload}"


def test_an_unknown_address_waits_for_a_code_too(coded, code_client):
    """Nothing tells it from a known one: asking, looking, guessing, and the end after three."""
    known, address = _user(coded), f"no-{code_client.kind}@example.org"
    other = coded.client(code_client.kind)

    def course(client, email):
        steps = [client.post(_REQUEST, {"email": email}), _read(client, "XXXX-XXXX"), _reset(client, "XXXX-XXXX")]
        steps += [_read(client, "XXXX-XXXX"), _read(client, "XXXX-XXXX")]
        bodies = [{**step.body, "meta": step.body.get("meta", {}).get("is_authenticated")} for step in steps]
        return [step.status for step in steps], bodies

    assert course(code_client, address) == course(other, known.email)
    assert course(coded.client(code_client.kind), address)[0] == [401, 400, 400, 400, 409]
    assert _fits(coded, known, PASSWORD)


def test_a_code_replaces_the_password(coded, code_client):
    """As a link does; looking with it proves the address; case and dashes do not count."""
    user = _user(coded)
    code = _code(coded, code_client, user)

    shown = _read(code_client, code.lower())
    verified = _is_verified(coded, user)
    answer = _reset(code_client, code.replace("-", " "))

    assert (shown.status, shown.data["user"]["id"]) == (200, user.id)
    assert verified == [True]
    assert answer.status == 401
    assert answer.pending == []
    assert _fits(coded, user, _NEW)
    assert _reset(code_client, code).status == 409
    assert _read(code_client, code).status == 409


def test_a_code_serves_only_its_session(coded, code_client):
    """Elsewhere there is nothing to reset."""
    user = _user(coded)
    code = _code(coded, code_client, user)
    other = coded.client(code_client.kind)

    assert (_read(other, code).status, _reset(other, code).status) == (409, 409)
    assert _fits(coded, user, PASSWORD)
    assert _reset(code_client, code).status == 401


def test_three_wrong_codes_end_a_reset(coded, code_client):
    """Looking and resetting count together; a weak password and a missing code do not."""
    user = _user(coded)
    code = _code(coded, code_client, user)

    assert _reset(code_client, code, "short").errors == [("password_too_short", "password")]
    assert _reset(code_client, "").errors == [("required", "key")]
    assert _read(code_client, "").errors == [("required", "key")]
    assert _read(code_client, "BBBB-BBBB").errors == _WRONG_CODE
    assert _reset(code_client, "BBBB-BBBB").errors == _WRONG_CODE
    assert _reset(code_client, "BBBB-BBBB", "short").errors == _WRONG_CODE
    last = _reset(code_client, code)

    assert (last.status, last.body) == (409, {"status": 409})
    assert _fits(coded, user, PASSWORD)
    assert code_client.get("/auth/session").pending == []


def test_a_code_expires(coded, code_client):
    """After three minutes nothing waits any more."""
    user = _user(coded)
    code = _code(coded, code_client, user)

    coded.clock.forward(181)
    answer, flows = _reset(code_client, code), code_client.get("/auth/session").data["flows"]
    coded.clock.begin()

    assert answer.status == 409
    assert flows[-1] == {"id": "password_reset_by_code", "is_pending": False}
    assert _fits(coded, user, PASSWORD)


def test_a_new_code_voids_the_old_one(coded, code_client):
    """Only the code of the latest mail serves."""
    user = _user(coded)
    first = _code(coded, code_client, user)
    second = _code(coded, code_client, user, number=2)

    assert _read(code_client, first).errors == _WRONG_CODE
    assert _reset(code_client, second).status == 401
    assert _fits(coded, user, _NEW)


def test_an_address_that_somebody_else_proved_meanwhile_stays_theirs(coded, code_client):
    """The password is reset all the same, but the address is not verified twice."""
    user = _user(coded)
    code = _code(coded, code_client, user)
    other = coded.new_user(f"owner-of-{user.username}")
    row = {"user_id": other.id, "email": user.email, "verified": True, "primary": True, "created": coded.clock()}
    with coded.host.database.write() as session:
        session.connection().execute(insert(EMAILS).values(**row))

    assert _reset(code_client, code).status == 401
    assert _is_verified(coded, user) == [False]
    assert _is_verified(coded, other) == [True]
    assert _fits(coded, user, _NEW)


def test_a_removed_user_cannot_be_reset(coded, code_client):
    """A code for an account that is gone is a wrong one."""
    user = _user(coded)
    code = _code(coded, code_client, user)
    coded.host.users.delete(user.id)

    assert _read(code_client, code).errors == _WRONG_CODE
    assert _reset(code_client, code).errors == _WRONG_CODE


def test_without_a_request_there_is_no_reset(coded, code_client):
    """409 comes before the input is looked at."""
    assert (_read(code_client, "").status, code_client.post(_RESET, {}).status) == (409, 409)
    assert code_client.get("/auth/session").data["flows"][-1]["is_pending"] is False


def test_a_reset_by_code_can_sign_in(server_with):
    """The step is that of a reset, whatever proved the address."""
    server = server_with(**_OTHERWISE_BY_CODE)
    app, user = server.app(), _user(server)

    answer = _reset(app, _code(server, app, user))

    assert (answer.status, answer.methods) == (200, ["password_reset"])
    assert answer.data["methods"][0]["email"] == user.email
    assert len(_sessions(server, user)) == 1


def test_whoever_asks_while_signed_in_gets_a_code_too(coded, code_client):
    """The answer says what waits, and the session stays."""
    user = _user(coded)
    code_client.login(user.username, PASSWORD)

    answer = code_client.post(_REQUEST, {"email": user.email})

    assert answer.status == 401
    assert answer.pending == ["password_reset_by_code"]
    assert answer.meta["is_authenticated"] is True
    assert code_client.get("/auth/session").status == 200
    assert _reset(code_client, coded.mailbox.code(user.email)).status == 401
    assert _sessions(coded, user) == []


def test_the_number_of_tries_and_the_life_of_a_code_are_options(server_with):
    """One wrong code may be enough."""
    server = server_with(**_OTHERWISE_BY_CODE)
    app, user = server.app(), _user(server)
    _code(server, app, user)

    assert _reset(app, "BBBB-BBBB").errors == _WRONG_CODE
    assert _reset(app, "BBBB-BBBB").status == 409
    code = _code(server, app, user, number=2)
    server.clock.forward(61)
    assert _reset(app, code).status == 409
    assert _fits(server, user, PASSWORD)


def test_the_last_login_counts_in_a_key(server, client):
    """A key from before a login is void even if the time of that login is all that changed."""
    user = _user(server)
    key = _key(server, client, user)
    with server.host.database.write() as session:
        session.connection().execute(update(USERS).where(USERS.c.id == user.id).values(last_login=server.clock()))

    assert _read(client, key).errors == _WRONG_LINK
    assert _fits(server, user, PASSWORD)
