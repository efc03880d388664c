"""The phone number of the own account."""

from __future__ import annotations

import itertools
import logging

import pytest

from tests.auth.own_emails import Told, watched
from tests.auth.own_phones import Texts, give_number, stored_number
from tests.auth.server import PASSWORD

_PATH = "/account/phone"
_VERIFY = "/auth/phone/verify"
_RESEND = "/auth/phone/verify/resend"
_WRONG = "BBBB-BBBB"
_NUMBERS = itertools.count()


@pytest.fixture
def name():
    """A username of the test's own."""
    return f"caller{next(_NUMBERS)}"


@pytest.fixture
def number():
    """A number of the test's own."""
    return f"+44163296{next(_NUMBERS):04}"


@pytest.fixture
def texts(server, caplog):
    """The text messages of the default host."""
    caplog.set_level(logging.INFO)
    return Texts(server, caplog)


@pytest.fixture
def strict(server_with):
    """A host with rate limits that wants a fresh proof for changes."""
    return server_with(account_rate_limits='{"login": null}', account_reauthentication_required="true")


def test_the_number_is_shown(server, client, name, number):
    """In a list of one or none."""
    account = server.new_user(name)
    client.login(name, PASSWORD)
    assert client.get(_PATH).body == {"status": 200, "data": []}
    give_number(server, account, number)

    answer = client.get(_PATH)

    assert (answer.status, answer.body) == (200, {"status": 200, "data": [{"phone": number, "verified": True}]})


def test_whoever_is_not_signed_in_sees_and_changes_nothing(server, client, number):
    """401 for looking, 409 for changing."""
    assert client.get(_PATH).status == 401
    for body in ({}, {"phone": number}):
        answer = client.post(_PATH, body)
        assert (answer.status, answer.body) == (409, {"status": 409})
    for path in (_VERIFY, _RESEND):
        answer = client.post(path, {"code": _WRONG})
        assert (answer.status, answer.body) == (409, {"status": 409})


def test_a_number_changes_when_its_code_comes_back(server, client, texts, name, number):
    """Until then the old one stays; the code serves the session that asked, once."""
    account, old = server.new_user(name), f"+4516{number[6:]}"
    give_number(server, account, old)
    client.login(name, PASSWORD)

    answer = client.post(_PATH, {"phone": f" {number} "})
    assert (answer.status, answer.body) == (202, {"status": 202, "data": [{"phone": number, "verified": False}]})
    assert client.get(_PATH).data == [{"phone": old, "verified": True}]
    other = server.app()
    other.login(name, PASSWORD)
    assert other.post(_VERIFY, {"code": texts.code(number)}).status == 409
    assert client.post(_RESEND).status == 409
    done = client.post(_VERIFY, {"code": texts.code(number).lower()})

    assert (done.status, done.data["user"]["id"], done.methods) == (200, account.id, ["password"])
    assert stored_number(server, account) == [(number, True)]
    assert client.get(_PATH).data == [{"phone": number, "verified": True}]
    assert client.post(_VERIFY, {"code": texts.code(number)}).status == 409
    assert (len(texts.to(number)), texts.to(old)) == (1, [])


def test_what_is_no_new_number_is_refused(server, name, number):
    """Nothing is sent."""
    account, client = server.new_user(name), server.app()
    give_number(server, account, number)
    client.login(name, PASSWORD)
    malformed = ["01632960123", "+0163296012", "+44 1632 960123", "+44-163", "+12345", "+1234567890123456", ["+1"]]
    wrong = [("", "required"), (None, "required"), *((text, "invalid_phone") for text in malformed)]

    for text, code in [*wrong, (number, "same_as_current")]:
        answer = client.post(_PATH, {"phone": text})
        assert (answer.status, answer.errors) == (400, [(code, "phone")])

    assert stored_number(server, account) == [(number, True)]
    assert client.post(_VERIFY, {"code": _WRONG}).status == 409


def test_three_wrong_codes_end_a_change(server, texts, name, number):
    """Whoever is signed in stays so."""
    account, client = server.new_user(name), server.app()
    client.login(name, PASSWORD)
    client.post(_PATH, {"phone": number})
    code = texts.code(number)

    answers = [client.post(_VERIFY, {"code": text}) for text in (_WRONG, "", _WRONG)]

    assert [answer.status for answer in answers] == [400] * 3
    errors = [answer.errors[0] for answer in answers]
    assert errors == [("incorrect_code", "code"), ("required", "code"), ("incorrect_code", "code")]
    assert client.post(_VERIFY, {"code": code}).status == 409
    assert client.get("/auth/session").status == 200
    assert stored_number(server, account) == []


def test_a_code_expires(server, texts, name, number):
    """After 900 s."""
    account, client = server.new_user(name), server.app()
    client.login(name, PASSWORD)
    client.post(_PATH, {"phone": number})
    server.clock.forward(901)

    assert client.post(_VERIFY, {"code": texts.code(number)}).status == 409
    assert stored_number(server, account) == []


def test_a_number_of_somebody_else_looks_like_any_other(server, client, texts, name, number):
    """Only the right code tells, and changes nothing."""
    account, owner = server.new_user(name), server.new_user(f"{name}.owner")
    give_number(server, owner, number)
    client.login(name, PASSWORD)

    answer = client.post(_PATH, {"phone": number})
    refused = client.post(_VERIFY, {"code": texts.code(number)})

    assert (answer.status, answer.data) == (202, [{"phone": number, "verified": False}])
    assert (refused.status, refused.errors) == (400, [("phone_taken", "code")])
    assert (stored_number(server, account), stored_number(server, owner)) == ([], [(number, True)])


def test_changes_are_limited(strict, caplog, name, number):
    """One a minute for each account, every attempt counted; one text to each number in 30 s, three a minute in all."""
    caplog.set_level(logging.INFO)
    texts = Texts(strict, caplog)
    client = strict.app()
    strict.new_user(name)
    client.login(name, PASSWORD)
    assert client.post(_PATH, {"phone": "nonsense"}).status == 400
    refused = client.post(_PATH, {"phone": number})
    assert (refused.status, refused.body) == (429, {"status": 429})
    strict.clock.forward(61)
    assert client.post(_PATH, {"phone": number}).status == 202
    assert client.get(_PATH).status == 200
    statuses = []
    for mark, wanted in (("a", number), ("b", f"{number}1"), ("c", f"{number}2"), ("d", f"{number}3")):
        strict.new_user(f"{name}.{mark}")
        other = strict.app()
        other.login(f"{name}.{mark}", PASSWORD)
        statuses.append(other.post(_PATH, {"phone": wanted}).status)

    assert statuses == [429, 202, 202, 429]
    assert [len(texts.to(f"{number}{end}")) for end in ("", "1", "2", "3")] == [1, 1, 1, 0]


def test_a_fresh_proof_can_be_required(strict, name, number):
    """PLUGYARD_ACCOUNT_REAUTHENTICATION_REQUIRED: once the input is right."""
    account, client = strict.new_user(name), strict.browser()
    client.login(name, PASSWORD)
    strict.clock.forward(301)

    assert client.post(_PATH, {"phone": "nonsense"}).status == 400
    strict.clock.forward(61)
    answer = client.post(_PATH, {"phone": number})

    assert (answer.status, answer.flows, answer.meta) == (401, ["reauthenticate"], {"is_authenticated": True})
    assert client.post(_VERIFY, {"code": _WRONG}).status == 409
    assert stored_number(strict, account) == []
    client.post("/auth/reauthenticate", {"password": PASSWORD})
    strict.clock.forward(61)
    assert client.post(_PATH, {"phone": number}).status == 202


def test_numbers_can_be_switched_off(server_with, name, number):
    """PLUGYARD_ACCOUNT_PHONE_ENABLED: nobody has one, and nobody gets one."""
    server = server_with(account_phone_enabled="false")
    account = server.new_user(name)
    give_number(server, account, number)
    for client in (server.browser(), server.app()):
        client.login(name, PASSWORD)

        assert client.get(_PATH).body == {"status": 200, "data": []}
        assert client.post(_PATH, {"phone": f"{number}1"}).status == 409
        assert client.post(_VERIFY, {"code": _WRONG}).status == 409
    assert stored_number(server, account) == [(number, True)]


def test_a_change_is_told(server, texts, name, number):
    """The event says whose number and which, and holds no code."""
    told: list[Told] = []
    account, client = server.new_user(name), server.app()
    old = f"+4516{number[6:]}"
    give_number(server, account, old)
    client.login(name, PASSWORD)

    server.host.sign_in.own_number.change(watched(server, client, told), number)
    server.host.sign_in.phone_verification.verify(watched(server, client, told), texts.code(number))

    assert told == [("user.phone_changed", account.id, {"phone": number, "former": old})]
