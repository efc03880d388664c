"""Signing in by a code that is sent."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Any

import pytest
from pyotp import TOTP
from sqlalchemy import select

from host.accounts.emails.table import EMAILS
from host.accounts.frontend_urls import FrontendUrls
from host.accounts.login.codes import CodeLogin
from host.accounts.login.logins import Logins
from host.accounts.login.stages.login_by_code import LoginByCode
from host.accounts.phones.numbers import set_phone
from host.accounts.phones.table import PHONES
from host.accounts.problems import RefusedValuesError
from host.accounts.sessions.state import Caller
from host.accounts.sessions.table import PENDING, SESSIONS
from host.accounts.sessions.visit import Visit
from host.mail.log import MAIL
from tests.auth.clients import App, Browser
from tests.auth.conftest import ServerWith
from tests.auth.server import PASSWORD, AuthServer

REQUEST, CONFIRM, RESEND = "/auth/code/request", "/auth/code/confirm", "/auth/code/resend"
WRONG = "BBBB-BBBB"


@pytest.fixture
def other_server(server_with: ServerWith) -> AuthServer:
    """A host with the options of codes the other way round."""
    return server_with(
        account_email_unknown_accounts="false",
        account_login_by_code_supports_resend="false",
        account_login_by_code_max_attempts="1",
        account_login_by_code_timeout="60",
        account_login_methods="username,phone",
    )


@pytest.fixture
def strict_server(server_with: ServerWith) -> AuthServer:
    """A host on which every login takes a code, and which tells who is unknown."""
    return server_with(account_login_by_code_required="true", account_prevent_enumeration="false")


@pytest.fixture
def name(request: pytest.FixtureRequest) -> str:
    """A username of the test's own."""
    return "".join(letter for letter in request.node.name.lower() if letter.isalnum())[-40:]


def new_user(server: AuthServer, name: str, **flags: Any) -> str:
    address = f"{name}@example.org"
    server.new_user(name, email=address, **flags)
    return address


def mails(server: AuthServer, address: str) -> list[str]:
    return [row.template for row in server.rows(select(MAIL.c.template).where(MAIL.c.to == address))]


def sessions_of(server: AuthServer, username: str) -> list[Any]:
    user_id = server.user_row(username).id
    return server.rows(select(SESSIONS.c.methods).where(SESSIONS.c.user_id == user_id))


def pending_of(server: AuthServer, username: str) -> list[Any]:
    user_id = server.user_row(username).id
    return server.rows(select(PENDING.c.stage, PENDING.c.state).where(PENDING.c.user_id == user_id))


def test_the_right_code_signs_in(server: AuthServer, client: Browser | App, name: str) -> None:
    """A request waits for a code; the code signs in, and proves the address."""
    address = new_user(server, name)

    asked = client.post(REQUEST, {"email": f"  {address.upper()} "})

    assert asked.status == 401
    assert asked.meta["is_authenticated"] is False
    assert asked.pending == ["login_by_code"]
    assert {"id": "login_by_code", "is_pending": True} in asked.data["flows"]
    assert [row.stage for row in pending_of(server, name)] == ["login_by_code"]
    before = client.session_key

    done = client.post(CONFIRM, {"code": server.mailbox.code(address)})

    assert done.status == 200
    assert done.data["user"]["username"] == name
    [step] = done.data["methods"]
    assert step == {"method": "code", "at": step["at"], "email": address}
    assert done.meta["is_authenticated"] is True
    assert client.session_key not in {before, None}
    assert [row.methods for row in sessions_of(server, name)] == [[step]]
    assert not pending_of(server, name)
    rows = server.rows(select(EMAILS.c.verified).where(EMAILS.c.email == address))
    assert [row.verified for row in rows] == [True]


def test_a_code_is_compared_without_case_and_punctuation(server: AuthServer, client: Browser | App, name: str) -> None:
    """People copy codes in many ways."""
    address = new_user(server, name)
    client.post(REQUEST, {"email": address})

    done = client.post(CONFIRM, {"code": " " + server.mailbox.code(address).lower().replace("-", " - ")})

    assert done.status == 200
    assert len(sessions_of(server, name)) == 1


def test_a_code_serves_once_and_only_in_its_session(server: AuthServer, client: Browser | App, name: str) -> None:
    """Neither another client nor a second try gets in by it."""
    address = new_user(server, name)
    client.post(REQUEST, {"email": address})
    code = {"code": server.mailbox.code(address)}

    assert server.client(client.kind).post(CONFIRM, code).status == 409
    assert sessions_of(server, name) == []
    assert client.post(CONFIRM, code).status == 200
    again = client.post(CONFIRM, code)

    assert (again.status, again.body) == (409, {"status": 409})
    assert len(sessions_of(server, name)) == 1


def test_an_app_loses_the_token_of_the_waiting_login(server: AuthServer, name: str) -> None:
    """The key changes as somebody is signed in; the old one is gone."""
    app, address = server.app(), new_user(server, name)
    app.post(REQUEST, {"email": address})
    old = app.session_key
    done = app.post(CONFIRM, {"code": server.mailbox.code(address)})
    stale = server.app()
    stale.session_key = old

    gone = stale.get("/auth/session")

    assert done.meta["session_token"] == app.session_key != old
    assert gone.status == 410
    assert gone.meta == {"is_authenticated": None}


@pytest.mark.parametrize("wrong", [{"code": WRONG}, {}, {"code": ["x"]}], ids=["wrong", "missing", "a list"])
def test_the_third_wrong_code_ends_the_login(server: AuthServer, client: Browser | App, name: str, wrong: Any) -> None:
    """Each wrong or missing code counts."""
    address = new_user(server, name)
    client.post(REQUEST, {"email": address})
    code = server.mailbox.code(address)
    expected = [("incorrect_code" if wrong else "required", "code")]

    for attempt in range(1, 4):
        refused = client.post(CONFIRM, wrong)
        assert (refused.status, refused.errors) == (400, expected)
        attempts = [row.state["code"]["attempts"] for row in pending_of(server, name)]
        assert attempts == ([attempt] if attempt < 3 else [])

    assert client.post(CONFIRM, {"code": code}).status == 409
    assert client.get("/auth/session").pending == []
    assert sessions_of(server, name) == []


def test_a_code_expires(server: AuthServer, client: Browser | App, name: str) -> None:
    """After 180 seconds nothing waits any more."""
    address = new_user(server, name)
    client.post(REQUEST, {"email": address})
    code = {"code": server.mailbox.code(address)}
    server.clock.forward(181)

    assert client.post(RESEND).status == 409
    assert client.post(CONFIRM, code).status == 409
    assert pending_of(server, name) == []
    assert sessions_of(server, name) == []


def test_a_new_request_replaces_the_code(server: AuthServer, client: Browser | App, name: str) -> None:
    """Only the last code counts, with attempts of its own."""
    address = new_user(server, name)
    client.post(REQUEST, {"email": address})
    first = server.mailbox.code(address)
    client.post(CONFIRM, {"code": WRONG})
    client.post(REQUEST, {"email": address})
    second = server.mailbox.code(address, number=2)

    assert client.post(CONFIRM, {"code": first}).errors == [("incorrect_code", "code")]
    assert [row.state["code"]["attempts"] for row in pending_of(server, name)] == [1]
    assert client.post(CONFIRM, {"code": second}).status == 200
    assert len(sessions_of(server, name)) == 1


def test_a_code_is_sent_again_twice(server: AuthServer, client: Browser | App, name: str) -> None:
    """The former code is void; time and attempts go on counting; the third time is refused."""
    address = new_user(server, name)
    client.post(REQUEST, {"email": address})
    first = server.mailbox.code(address)
    client.post(CONFIRM, {"code": WRONG})
    [before] = pending_of(server, name)

    assert client.post(RESEND).body == {"status": 200}
    assert client.post(RESEND).body == {"status": 200}
    third = client.post(RESEND)

    assert (third.status, third.body) == (409, {"status": 409})
    [after] = pending_of(server, name)
    assert after.state["code"]["attempts"] == 1
    assert after.state["code"]["expires_at"] == before.state["code"]["expires_at"]
    last = server.mailbox.code(address, number=3)
    assert client.post(CONFIRM, {"code": first}).errors == [("incorrect_code", "code")]
    assert client.post(CONFIRM, {"code": last}).status == 200
    assert mails(server, address) == ["login_code"] * 3


def test_nothing_is_sent_again_where_nothing_waits(server: AuthServer, client: Browser | App) -> None:
    """Sending again belongs to a login that waits."""
    before = len(server.rows(select(MAIL.c.global_id)))

    assert client.post(RESEND).status == 409
    assert client.post(CONFIRM, {"code": WRONG}).status == 409
    assert len(server.rows(select(MAIL.c.global_id))) == before


@pytest.mark.parametrize(
    ("body", "errors"),
    [
        pytest.param({}, [("required", "email")], id="nothing"),
        pytest.param({"email": "  "}, [("required", "email")], id="blank"),
        pytest.param({"email": "no address"}, [("invalid", "email")], id="malformed"),
        pytest.param({"email": 7}, [("invalid", "email")], id="a number"),
        pytest.param({"email": "a\0@example.org"}, [("invalid", "email")], id="null character"),
        pytest.param({"phone": "+441632960123"}, [("required", "email")], id="a number where none signs in"),
    ],
)
def test_bad_input_is_refused(server: AuthServer, body: Any, errors: Any) -> None:
    """Nothing waits after it."""
    client = server.app()
    before = len(server.rows(select(SESSIONS.c.id)))

    refused = client.post(REQUEST, body)

    assert (refused.status, refused.errors) == (400, errors)
    assert len(server.rows(select(SESSIONS.c.id))) == before


@pytest.mark.parametrize("raw", [b"{", b"[]", b'"x"', b"\xff"])
def test_a_body_that_is_no_object_is_refused(server: AuthServer, raw: bytes) -> None:
    """The answer is a bare 400."""
    answer = server.app().call("POST", REQUEST, content=raw)

    assert (answer.status, answer.body) == (400, {"status": 400})
    assert server.rows(select(PENDING.c.session_id).where(PENDING.c.stage == "")) == []


def test_an_unknown_address_looks_like_a_known_one(server: AuthServer, client: Browser | App, name: str) -> None:
    """Answers and wrong codes are the same; the address is told by mail that it has no account."""
    known, unknown = new_user(server, name), f"nobody.{name}@example.org"
    other = server.client(client.kind)

    seen = [(one.status, one.body["data"], one.meta["is_authenticated"]) for one in (
        client.post(REQUEST, {"email": known}), other.post(REQUEST, {"email": unknown})
    )]  # fmt: skip

    assert seen[0] == seen[1]
    for _ in range(2):
        assert client.post(CONFIRM, {"code": WRONG}).body == other.post(CONFIRM, {"code": WRONG}).body
    assert client.post(RESEND).body == other.post(RESEND).body
    assert other.post(CONFIRM, {"code": WRONG}).status == 400
    assert other.post(CONFIRM, {"code": WRONG}).status == 409
    assert mails(server, unknown) == ["unknown_account"]
    assert unknown in server.mailbox.text(unknown)
    assert "/web/register" in server.mailbox.text(unknown)


def test_an_account_that_is_switched_off_gets_nothing(server: AuthServer, client: Browser | App, name: str) -> None:
    """The answer does not tell; no mail goes out."""
    address = new_user(server, name, is_active=False)

    asked = client.post(REQUEST, {"email": address})

    assert (asked.status, asked.pending) == (401, ["login_by_code"])
    assert mails(server, address) == []
    assert client.post(CONFIRM, {"code": WRONG}).errors == [("incorrect_code", "code")]
    assert pending_of(server, name) == []


def test_an_account_switched_off_meanwhile_does_not_get_in(
    server: AuthServer, client: Browser | App, name: str
) -> None:
    """The code was right, the account is not."""
    address = new_user(server, name)
    client.post(REQUEST, {"email": address})
    code = server.mailbox.code(address)
    server.host.users.change(server.user_row(name).id, {"is_active": False})

    refused = client.post(CONFIRM, {"code": code})

    assert refused.status == 409
    assert sessions_of(server, name) == []


def test_unknown_addresses_get_no_mail_where_that_is_off(other_server: AuthServer, name: str) -> None:
    """PLUGYARD_ACCOUNT_EMAIL_UNKNOWN_ACCOUNTS=false."""
    server = other_server
    address = f"nobody.{name}@example.org"

    asked = server.app().post(REQUEST, {"email": address})

    assert (asked.status, asked.pending) == (401, ["login_by_code"])
    assert mails(server, address) == []


def test_unknown_addresses_are_told_where_enumeration_is_not_prevented(strict_server: AuthServer, name: str) -> None:
    """PLUGYARD_ACCOUNT_PREVENT_ENUMERATION=false."""
    server = strict_server
    address = f"nobody.{name}@example.org"

    refused = server.app().post(REQUEST, {"email": address})

    assert (refused.status, refused.errors) == (400, [("unknown_email", "email")])
    assert mails(server, address) == []


def test_somebody_who_is_signed_in_stays_so(server: AuthServer, client: Browser | App, name: str) -> None:
    """Bad input is still refused; nothing is sent."""
    address = new_user(server, name)
    client.login(name, PASSWORD)

    assert client.post(REQUEST, {"email": "x"}).status == 400
    stays = client.post(REQUEST, {"email": address})

    assert (stays.status, stays.data["user"]["username"], stays.methods) == (200, name, ["password"])
    assert mails(server, address) == []
    assert pending_of(server, name) == []


def test_a_second_factor_is_asked_for_after_the_code(server: AuthServer, client: Browser | App, name: str) -> None:
    """The code is the first proof only."""
    address = new_user(server, name)
    factors = server.host.sign_in.factors
    secret = factors.totp.new_secret()
    with server.host.database.write() as session:
        factors.add_totp(session.connection(), server.user_row(name).id, secret)
    client.post(REQUEST, {"email": address})

    waits = client.post(CONFIRM, {"code": server.mailbox.code(address)})

    assert (waits.status, waits.pending) == (401, ["mfa_authenticate"])
    assert sessions_of(server, name) == []
    assert client.post(CONFIRM, {"code": server.mailbox.code(address)}).status == 409
    client.post("/auth/2fa/authenticate", {"code": TOTP(secret).at(server.clock())})
    if client.kind == "browser":
        client.post("/auth/2fa/trust", {"trust": False})
    assert [[step["method"] for step in row.methods] for row in sessions_of(server, name)] == [["code", "mfa"]]


def test_a_login_may_be_dropped_or_begun_anew(server: AuthServer, client: Browser | App, name: str) -> None:
    """DELETE drops it; a login by password takes its place."""
    address = new_user(server, name)
    client.post(REQUEST, {"email": address})
    assert client.get("/auth/session").pending == ["login_by_code"]

    dropped = client.delete("/auth/session")

    assert (dropped.status, dropped.pending) == (401, [])
    assert pending_of(server, name) == []
    client = server.client(client.kind)
    client.post(REQUEST, {"email": address})
    assert client.login(name, PASSWORD).status == 200
    assert client.post(CONFIRM, {"code": server.mailbox.code(address, number=2)}).status == 409


def test_codes_are_asked_for_three_times_a_minute(server_with: ServerWith, name: str) -> None:
    """Counted for each address, known or not; other addresses are not concerned."""
    server = server_with(account_rate_limits="{}")
    known, unknown = new_user(server, name), f"nobody.{name}@example.org"

    for address in (known, unknown):
        app = server.app()
        assert [app.post(REQUEST, {"email": address}).status for _ in range(3)] == [401] * 3
        refused = app.post(REQUEST, {"email": address.upper()})
        assert (refused.status, refused.errors) == (400, [("too_many_login_attempts", "email")])
    assert mails(server, known) == ["login_code"] * 3
    server.clock.forward(61)
    assert app.post(REQUEST, {"email": known}).status == 401


def test_without_login_by_code_there_is_none(server_with: ServerWith, name: str) -> None:
    """PLUGYARD_ACCOUNT_LOGIN_BY_CODE_ENABLED=false: not there, but for confirming, and no flow."""
    server = server_with(account_login_by_code_enabled="false")
    address, app = new_user(server, name), server.app()

    assert [app.post(path, {"email": address}).status for path in (REQUEST, RESEND, CONFIRM)] == [404, 404, 409]
    assert "login_by_code" not in app.get("/auth/session").flows
    assert mails(server, address) == []


def test_sending_again_can_be_switched_off(other_server: AuthServer, name: str) -> None:
    """PLUGYARD_ACCOUNT_LOGIN_BY_CODE_SUPPORTS_RESEND=false."""
    server = other_server
    address, app = new_user(server, name), server.app()
    app.post(REQUEST, {"email": address})

    assert app.post(RESEND).status == 409
    assert mails(server, address) == ["login_code"]


def test_attempts_and_time_follow_the_options(other_server: AuthServer, name: str) -> None:
    """PLUGYARD_ACCOUNT_LOGIN_BY_CODE_MAX_ATTEMPTS and _TIMEOUT."""
    server = other_server
    address, app = new_user(server, name), server.app()
    app.post(REQUEST, {"email": address})
    assert [app.post(CONFIRM, {"code": WRONG}).status for _ in range(2)] == [400, 409]
    app.post(REQUEST, {"email": address})
    code = server.mailbox.code(address, number=2)
    server.clock.forward(61)

    assert app.post(CONFIRM, {"code": code}).status == 409
    assert sessions_of(server, name) == []


def test_a_phone_number_gets_its_code_as_a_text_message(
    other_server: AuthServer, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Where people sign in by phone, either of address and number is taken, and the number is proved."""
    server = other_server
    number = "+441632960123"
    server.new_user(name)
    with server.host.database.write() as session:
        set_phone(session.connection(), server.user_row(name).id, number)
    server.host.plugins.activate("sms-log")
    caplog.set_level(logging.INFO)
    app = server.app()

    assert app.post(REQUEST, {}).errors == [("required", None)]
    assert app.post(REQUEST, {"email": "a@example.org", "phone": number}).errors == [("select_only_one", None)]
    assert app.post(REQUEST, {"phone": "01632"}).errors == [("invalid_phone", "phone")]
    assert app.post(REQUEST, {"phone": number}).pending == ["login_by_code"]
    [text] = sent_texts(server, caplog)
    done = app.post(CONFIRM, {"code": text.split(": ")[1].split()[0]})

    assert number in text
    assert (done.status, done.data["methods"][0]["phone"]) == (200, number)
    assert [row.verified for row in server.rows(select(PHONES.c.verified).where(PHONES.c.phone == number))] == [True]
    assert server.app().post(REQUEST, {"phone": "+441632960999"}).pending == ["login_by_code"]
    assert len(sent_texts(server, caplog)) == 1


def sent_texts(server: AuthServer, caplog: pytest.LogCaptureFixture) -> list[str]:
    server.host.entrance.texts.stop()
    server.host.entrance.texts.start()
    return [record.getMessage() for record in caplog.records if "text message to" in record.getMessage()]


def test_a_code_can_be_required_after_a_password(strict_server: AuthServer, name: str) -> None:
    """PLUGYARD_ACCOUNT_LOGIN_BY_CODE_REQUIRED: the password is not enough, and both steps are kept."""
    server = strict_server
    address = new_user(server, name)
    for client in (server.browser(), server.app()):
        count = len(mails(server, address))
        waits = client.login(name, PASSWORD)
        assert (waits.status, waits.pending) == (401, ["login_by_code"])
        assert client.get("/auth/sessions").status == 401
        assert client.post(CONFIRM, {"code": WRONG}).status == 400

        done = client.post(CONFIRM, {"code": server.mailbox.code(address, number=count + 1)})

        assert (done.status, done.methods) == (200, ["password", "code"])
    assert [[step["method"] for step in row.methods] for row in sessions_of(server, name)] == [["password", "code"]] * 2
    assert mails(server, address) == ["login_code"] * 2


def test_a_required_code_that_can_reach_nobody_lets_nobody_in(
    strict_server: AuthServer, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    """The log tells the administrator what to do."""
    server = strict_server
    server.new_user(name)
    app = server.app()

    with caplog.at_level(logging.WARNING, logger="plugyard.accounts"):
        waits = app.login(name, PASSWORD)

    assert waits.pending == ["login_by_code"]
    assert "no address to send it to" in caplog.text
    assert app.post(CONFIRM, {"code": WRONG}).status == 400
    assert sessions_of(server, name) == []


def test_an_address_that_somebody_else_proves_meanwhile_signs_nobody_in(server: AuthServer, name: str) -> None:
    """Whoever proves an address first has it."""
    address, app = new_user(server, name), server.app()
    app.post(REQUEST, {"email": address})
    code = server.mailbox.code(address)
    other = server.new_user(f"other{name}")
    with server.host.database.write() as session:
        values = {"user_id": other.id, "email": address, "verified": True, "primary": True}
        session.connection().execute(EMAILS.insert().values(**values))

    assert app.post(CONFIRM, {"code": code}).status == 409
    assert sessions_of(server, name) == []


def test_plugins_hear_of_logins_and_failures(server: AuthServer, name: str) -> None:
    """Each event says whose login and by what, and holds no code."""
    address, told = new_user(server, name), list[tuple[str, Any, int | None]]()
    area = replace(server.host.sign_in.area, emit=lambda _session, *event: told.append(event))
    stage = LoginByCode(area, FrontendUrls(area.options))
    codes = CodeLogin(area, Logins([stage]), stage)
    visit = Visit(area, Caller(address="192.0.2.1", user_agent="test"))
    codes.request(visit, {"email": address})
    with pytest.raises(RefusedValuesError):
        codes.confirm(visit, WRONG)
    codes.confirm(visit, server.mailbox.code(address))

    where = {"address": "192.0.2.1", "user_agent": "test"}
    user_id = server.user_row(name).id
    assert told == [
        ("user.login_failed", where | {"method": "code"}, user_id),
        ("user.email_verified", where | {"email": address}, user_id),
        ("user.logged_in", where | {"methods": ["code"]}, user_id),
    ]
    assert len(sessions_of(server, name)) == 1


def test_no_code_stands_in_the_database_or_the_log(
    server: AuthServer, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Only a digest is kept; the mail log shows a mask."""
    address, app = new_user(server, name), server.app()
    with caplog.at_level(logging.DEBUG):
        app.post(REQUEST, {"email": address})
        code = server.mailbox.code(address)

    stored = str(pending_of(server, name)) + str(server.rows(select(MAIL).where(MAIL.c.to == address)))
    assert code not in stored
    # The mail server of the tests logs what it gets.
    assert not [record for record in caplog.records if record.name != "mail.log" and code in record.getMessage()]
