"""Verifying phone numbers as a stage of a login."""

from __future__ import annotations

import itertools
import json
import logging
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import select

from host.accounts.account import USERS
from host.accounts.emails.table import EMAILS
from host.accounts.phones.table import PHONES
from host.accounts.sessions.table import PENDING, SESSIONS
from tests.auth.own_emails import add_factor, link_key, mails, new_user, stored
from tests.auth.own_phones import Texts, give_number, stored_number
from tests.auth.server import PASSWORD, running_server

_PATH = "/auth/phone/verify"
_RESEND = "/auth/phone/verify/resend"
_PHONE = "/account/phone"
_WRONG = "BBBB-BBBB"
_KINDS = ["browser", "app"]
_NUMBERS = itertools.count()
_MEMBERS = "username*,email,phone,password*"


@pytest.fixture
def name():
    """A username of the test's own."""
    return f"dialler{next(_NUMBERS)}"


@pytest.fixture
def number():
    """A number of the test's own."""
    return f"+44163296{next(_NUMBERS):04}"


@pytest.fixture
def phones(server_with):
    """A host where people sign up with a number, and an address has to be verified, too."""
    return server_with(
        account_signup_fields=_MEMBERS,
        account_email_verification="mandatory",
        account_email_verification_by_code_enabled="true",
        account_phone_verification_supports_resend="true",
        account_phone_verification_supports_change="true",
    )


@pytest.fixture
def strict(server_with):
    """A host with rate limits where a code can be tried once, and neither be sent again nor elsewhere."""
    return server_with(
        account_rate_limits='{"login": null, "signup": null}',
        account_signup_fields=_MEMBERS,
        account_phone_verification_max_attempts="1",
        account_phone_verification_timeout="60",
    )


@pytest.fixture
def texts(phones, caplog):
    """The text messages of that host."""
    caplog.set_level(logging.INFO)
    return Texts(phones, caplog)


def _sign_up(client, name, number, address=""):
    body = {"username": name, "phone": number, "email": address, "password": PASSWORD}
    return client.post("/auth/signup", body)


@pytest.mark.parametrize("kind", _KINDS)
def test_a_sign_up_waits_for_its_number(phones, texts, name, number, kind):
    """In the session that asked for it; without an address it is complete then."""
    client = phones.client(kind)
    waits = _sign_up(client, name, number)
    code = texts.code(number)

    assert (waits.status, waits.pending) == (401, ["verify_phone"])
    assert client.get("/auth/session").pending == ["verify_phone"]
    assert phones.app().post(_PATH, {"code": code}).status == 409
    assert [client.get(path).status for path in (_PHONE, "/account/email")] == [401, 401]
    done = client.post(_PATH, {"code": f" {code.replace('-', '').lower()} "})

    assert (done.status, done.methods, done.meta["is_authenticated"]) == (200, [], True)
    assert stored_number(phones, phones.host.users.get(phones.user_row(name).id)) == [(number, True)]
    assert client.get(_PHONE).data == [{"phone": number, "verified": True}]
    assert client.post(_PATH, {"code": code}).status == 409
    assert phones.client(kind).login(name, PASSWORD).status == 200


def test_an_address_waits_behind_the_number(phones, texts, name, number):
    """401 with the next stage."""
    client, address = phones.app(), f"{name}@example.org"
    _sign_up(client, name, number, address)
    assert mails(phones, address) == []

    answer = client.post(_PATH, {"code": texts.code(number)})
    done = client.post("/auth/email/verify", {"key": phones.mailbox.code(address)})

    assert (answer.status, answer.pending, done.status) == (401, ["verify_email"], 200)
    account = phones.host.users.get(phones.user_row(name).id)
    assert (stored_number(phones, account), stored(phones, account)) == ([(number, True)], [(address, True, True)])


def test_three_wrong_codes_end_the_login(phones, texts, name, number):
    """Sending nothing counts as trying."""
    client = phones.browser()
    _sign_up(client, name, number)
    code = texts.code(number)

    answers = [client.post(_PATH, {"code": text}) for text in (_WRONG, "", _WRONG)]

    assert [answer.status for answer in answers] == [400] * 3
    errors = [answer.errors[0] for answer in answers]
    assert errors == [("incorrect_code", "code"), ("required", "code"), ("incorrect_code", "code")]
    ended = client.post(_PATH, {"code": code})
    assert (ended.status, ended.body, client.get("/auth/session").pending) == (409, {"status": 409}, [])
    assert client.login(name, PASSWORD).pending == ["verify_phone"]
    assert phones.rows(select(PHONES.c.verified).where(PHONES.c.phone == number)) == [(False,)]


def test_life_and_tries_of_a_code_are_options(strict, caplog, name, number):
    """PLUGYARD_ACCOUNT_PHONE_VERIFICATION_TIMEOUT and _MAX_ATTEMPTS; nothing is sent again, nor elsewhere."""
    caplog.set_level(logging.INFO)
    texts, client = Texts(strict, caplog), strict.app()
    _sign_up(client, name, number)
    assert (client.post(_RESEND).status, client.post(_PHONE, {"phone": f"{number}1"}).status) == (409, 409)
    assert client.post(_PATH, {"code": _WRONG}).status == 400
    assert client.get("/auth/session").pending == []
    strict.clock.forward(61)
    client.login(name, PASSWORD)
    strict.clock.forward(61)

    assert client.post(_PATH, {"code": texts.code(number)}).status == 409
    assert client.get("/auth/session").pending == ["verify_phone"]
    assert len(texts.to(number)) == 2
    assert strict.rows(select(PHONES.c.verified).where(PHONES.c.phone == number)) == [(False,)]


@pytest.mark.parametrize("kind", _KINDS)
def test_a_code_is_sent_again(phones, texts, name, number, kind):
    """Twice; only the newest is good."""
    client = phones.client(kind)
    _sign_up(client, name, number)
    first = texts.code(number)

    again = client.post(_RESEND)
    assert (again.status, again.body) == (200, {"status": 200})
    assert client.post(_PATH, {"code": first}).errors == [("incorrect_code", "code")]
    assert [client.post(_RESEND).status for _ in range(2)] == [200, 409]
    assert len(texts.to(number)) == 3
    assert client.post(_PATH, {"code": texts.code(number)}).status == 200
    assert phones.rows(select(PHONES.c.verified).where(PHONES.c.phone == number)) == [(True,)]


@pytest.mark.parametrize("kind", _KINDS)
def test_the_number_of_a_sign_up_can_be_corrected(phones, texts, name, number, kind):
    """Twice; a code that was sent to the wrong one is void."""
    client = phones.client(kind)
    _sign_up(client, name, number)
    account = phones.host.users.get(phones.user_row(name).id)

    for text, code in [("", "required"), ("nonsense", "invalid_phone"), (number, "same_as_current")]:
        answer = client.post(_PHONE, {"phone": text})
        assert (answer.status, answer.errors) == (400, [(code, "phone")])
    for end in ("1", "2"):
        answer = client.post(_PHONE, {"phone": number + end})
        assert (answer.status, answer.data) == (202, [{"phone": number + end, "verified": False}])
        assert stored_number(phones, account) == [(number + end, False)]
    refused = client.post(_PHONE, {"phone": f"{number}3"})

    assert (refused.status, refused.body) == (409, {"status": 409})
    assert client.post(_PATH, {"code": texts.code(number)}).status == 400
    assert client.post(_PATH, {"code": texts.code(f"{number}2")}).status == 200
    assert stored_number(phones, account) == [(f"{number}2", True)]


def test_whoever_has_a_second_factor_does_not_correct_a_number(phones, name, number):
    """A stolen password is not enough."""
    account, _ = new_user(phones, name)
    give_number(phones, account, number, verified=False)
    add_factor(phones, account)
    client = phones.app()
    assert client.login(name, PASSWORD).pending == ["verify_phone"]

    answer = client.post(_PHONE, {"phone": f"{number}1"})

    assert (answer.status, answer.body) == (409, {"status": 409})
    assert stored_number(phones, account) == [(number, False)]


def test_a_number_of_somebody_else_looks_like_any_other(phones, texts, name, number):
    """Its owner is told, no code is right, and it can be corrected like any other."""
    owner = phones.new_user(f"{name}.owner")
    give_number(phones, owner, number)
    client = phones.app()

    assert _sign_up(client, name, number).pending == ["verify_phone"]
    assert client.post(_RESEND).status == 200
    assert client.post(_PATH, {"code": _WRONG}).errors == [("incorrect_code", "code")]
    assert all("You have an account" in text for text in texts.to(number))
    assert len(texts.to(number)) == 2
    assert client.post(_PHONE, {"phone": f"{number}1"}).status == 202
    assert client.post(_PHONE, {"phone": number}).status == 202
    account = phones.host.users.get(phones.user_row(name).id)
    assert stored_number(phones, account) == [(f"{number}1", False)]
    assert client.post(_PATH, {"code": texts.code(f"{number}1")}).status == 400
    assert stored_number(phones, owner) == [(number, True)]


def test_a_pretended_sign_up_is_not_told_from_a_real_one(phones, texts, name, number):
    """The address is somebody else's: the own number is proved just so, then the address is waited for."""
    _, taken = new_user(phones, f"{name}.owner")
    steps = [("/auth/phone/verify", {"code": _WRONG}), (_PHONE, {"phone": "{other}"}), (_PATH, {"code": "{code}"})]
    seen = []
    for end, address in (("5", f"{name}@example.org"), ("6", taken)):
        client, mine, other = phones.app(), number + end, f"{number}{end}9"
        first = _sign_up(client, f"{name}.{end}", mine, address)
        answers = [(first.status, first.data)]
        phones.clock.forward(600)
        for path, body in steps:
            code = texts.code(other) if "{code}" in body.values() else ""
            values = json.loads(json.dumps(body).replace("{other}", other).replace("{code}", code))
            answer = client.post(path, values)
            answers.append((answer.status, json.dumps(answer.body).replace(other, "B")))
        answers.append((client.get("/auth/session").pending, client.post("/auth/email/verify", {"key": _WRONG}).status))
        seen.append(answers)
        phones.clock.forward(301)
        assert client.get("/auth/session").pending == []

    assert seen[0] == seen[1]
    assert [status for status, _ in seen[0]] == [401, 400, 202, 401, ["verify_email"]]
    assert mails(phones, taken) == ["account_already_exists"]
    assert phones.rows(select(USERS.c.id).where(USERS.c.username == f"{name}.6")) == []


def test_text_messages_are_limited(strict, caplog, name, number):
    """One to each number within 30 s and three a minute from one place: 429, and nothing is done."""
    caplog.set_level(logging.INFO)
    texts = Texts(strict, caplog)
    strict.clock.forward(600)

    answers = [_sign_up(strict.app(), f"{name}.{end}", number + end) for end in ("1", "2", "3", "4")]
    login = strict.app().login(f"{name}.1", PASSWORD)

    assert [answer.status for answer in answers] == [401, 401, 401, 429]
    assert (answers[3].body, login.status) == ({"status": 429}, 429)
    assert [len(texts.to(number + end)) for end in ("1", "2", "3", "4")] == [1, 1, 1, 0]
    assert strict.rows(select(USERS.c.id).where(USERS.c.username == f"{name}.4")) == []
    strict.clock.forward(61)
    assert strict.app().login(f"{name}.1", PASSWORD).pending == ["verify_phone"]


def test_a_code_is_not_sent_again_at_once(server_with, caplog, name, number):
    """429 within 30 s, and nothing is sent; later it is."""
    caplog.set_level(logging.INFO)
    server = server_with(
        account_rate_limits='{"login": null, "signup": null}',
        account_signup_fields=_MEMBERS,
        account_phone_verification_supports_resend="true",
    )
    client, texts = server.app(), Texts(server, caplog)
    _sign_up(client, name, number)

    refused = client.post(_RESEND)
    server.clock.forward(31)
    sent = client.post(_RESEND)

    assert (refused.status, refused.body) == (429, {"status": 429})
    assert (sent.status, len(texts.to(number))) == (200, 2)


def test_a_number_that_is_no_member_of_sign_ups_is_not_waited_for(server, name, number):
    """Though it is not verified."""
    account, client = server.new_user(name), server.app()
    give_number(server, account, number, verified=False)

    assert client.login(name, PASSWORD).status == 200
    assert client.post(_PATH, {"code": _WRONG}).status == 409
    assert stored_number(server, account) == [(number, False)]


@pytest.mark.parametrize("kind", ["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def test_of_many_proofs_at_the_same_moment_one_counts(kind, request, tmp_path, smtp, caplog):
    """A code and a link serve once, and of as many wrong codes three are looked at."""
    caplog.set_level(logging.INFO)
    options = {"database_url": request.getfixturevalue("host_postgres_url")} if kind == "postgres" else {}
    with running_server(tmp_path, smtp, account_signup_fields=_MEMBERS, **options) as server:
        texts, asked, apps = Texts(server, caplog), server.app(), [server.app() for _ in range(32)]
        number, address = "+441632969999", f"raced.{kind}@example.org"

        def use(path, body):
            for app in apps:
                app.session_key = asked.session_key
            with ThreadPoolExecutor(len(apps)) as pool:
                return Counter(pool.map(lambda app: app.post(path, body).status, apps))

        _sign_up(asked, "raced", number, address)
        assert use(_PATH, {"code": _WRONG}) == {400: 3, 409: 29}
        asked.login("raced", PASSWORD)
        right = use(_PATH, {"code": texts.code(number)})
        asked.session_key = None
        linked = use("/auth/email/verify", {"key": link_key(server, address)})

        assert right[200] == 1
        assert right[409] + right[410] == 31
        assert linked == {401: 1, 400: 31}
        user_id = server.user_row("raced").id
        assert server.rows(select(PHONES.c.user_id, PHONES.c.verified)) == [(user_id, True)]
        assert server.rows(select(EMAILS.c.user_id, EMAILS.c.verified)) == [(user_id, True)]
        assert len(server.rows(select(SESSIONS.c.id).where(SESSIONS.c.user_id == user_id))) == 1
        assert server.rows(select(PENDING.c.session_id)) == []
