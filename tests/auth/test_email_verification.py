"""Verifying e-mail addresses: by link, by code, and as a stage of a login."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import delete, select, update

from host.accounts.account import USERS
from host.accounts.emails.table import EMAILS
from host.accounts.sessions.table import PENDING, SESSIONS
from tests.auth.own_emails import (
    Told,
    add_factor,
    claim,
    link_key,
    mails,
    new_user,
    other,
    shown,
    signed_in,
    stored,
    watched,
)
from tests.auth.server import PASSWORD

_PATH = "/auth/email/verify"
_RESEND = "/auth/email/verify/resend"
_EMAIL = "/account/email"
_WRONG = "BBBB-BBBB"
_KINDS = ["browser", "app"]
_NUMBERS = itertools.count()
_DAY = 86_400


@pytest.fixture
def name():
    """A username of the test's own."""
    return f"person{next(_NUMBERS)}"


@pytest.fixture
def mandatory(server_with):
    """A host where an address has to be verified first, by link; with rate limits."""
    return server_with(account_rate_limits='{"login": null, "signup": null}', account_email_verification="mandatory")


@pytest.fixture
def lenient(server_with):
    """A host where a link also goes on with the login; its pages are elsewhere, and its links live for half a day."""
    return server_with(
        account_email_verification="mandatory",
        account_login_on_email_confirmation="true",
        account_email_confirmation_expire_days="0.5",
        headless_frontend_urls='{"account_confirm_email": "https://web.example/confirm/{key}"}',
    )


@pytest.fixture
def codes(server_with):
    """A host where an address has to be verified first, by a code that can be sent again and to another address."""
    return server_with(
        account_email_verification="mandatory",
        account_email_verification_by_code_enabled="true",
        account_email_verification_supports_resend="true",
        account_email_verification_supports_change="true",
    )


@pytest.fixture
def strict_codes(server_with):
    """A host where a code can be tried once, and neither be sent again nor elsewhere."""
    return server_with(
        account_email_verification="mandatory",
        account_email_verification_by_code_enabled="true",
        account_email_verification_by_code_max_attempts="1",
        account_email_verification_by_code_timeout="60",
    )


def _sign_up(client, name, address=""):
    body = {"username": name, "email": address or f"{name}@example.org", "password": PASSWORD}
    return client.post("/auth/signup", body)


def _look_up(client, key):
    return client.get(_PATH, headers={"X-Email-Verification-Key": key})


def _waiting(server):
    return [row.stage for row in server.rows(select(PENDING.c.stage))]


def test_a_link_shows_what_it_verifies(server, client, name):
    """Asking verifies nothing, and may be repeated."""
    account, address = new_user(server, name, verified=False)
    client.login(name, PASSWORD)
    client.put(_EMAIL, {"email": address})
    key = link_key(server, address)

    for asking in (client, server.client(client.kind), client):
        answer = _look_up(asking, key)
        assert answer.status == 200
        assert answer.body == {
            "status": 200,
            "data": {
                "email": address,
                "user": {
                    "id": account.id,
                    "display": name,
                    "username": name,
                    "email": address,
                    "has_usable_password": True,
                },
            },
            "meta": {"is_authenticating": False},
        }
    assert stored(server, account) == [(address, False, True)]


def test_a_link_verifies_for_whoever_is_signed_in(server, client, name):
    """200, and only once."""
    account, address = new_user(server, name, verified=False)
    client.login(name, PASSWORD)
    client.put(_EMAIL, {"email": address})
    key = link_key(server, address)

    answer = client.post(_PATH, {"key": key})

    assert (answer.status, answer.data["user"]["id"], answer.methods) == (200, account.id, ["password"])
    assert stored(server, account) == [(address, True, True)]
    for again in (client.post(_PATH, {"key": key}), _look_up(client, key)):
        assert (again.status, again.errors) == (400, [("invalid", "key")])


def test_a_link_verifies_on_any_device_and_signs_nobody_in(server, client, name):
    """401 with nothing pending: it is verified all the same."""
    account, address = new_user(server, name, verified=False)
    first = signed_in(server, "app", name)
    first.put(_EMAIL, {"email": address})

    answer = client.post(_PATH, {"key": link_key(server, address)})

    assert (answer.status, answer.pending, answer.meta["is_authenticated"]) == (401, [], False)
    assert stored(server, account) == [(address, True, True)]
    assert len(server.rows(select(SESSIONS.c.id).where(SESSIONS.c.user_id == account.id))) == 1


def test_a_link_verifies_for_others(server, client, name):
    """Whoever is signed in may confirm the address of somebody else, and stays who they are."""
    account, address = new_user(server, name, verified=False)
    signed_in(server, "app", name).put(_EMAIL, {"email": address})
    reader, _ = new_user(server, f"{name}.reader")
    client.login(f"{name}.reader", PASSWORD)

    answer = client.post(_PATH, {"key": link_key(server, address)})

    assert (answer.status, answer.data["user"]["id"]) == (200, reader.id)
    assert stored(server, account) == [(address, True, True)]


def test_a_key_is_needed(server, client):
    """In the body as in the header, and one that was given some time."""
    for key in ("", None, " "):
        assert client.post(_PATH, {"key": key}).errors == [("required", "key")]
    for answer in (client.get(_PATH), _look_up(client, ""), _look_up(client, "%20")):
        assert (answer.status, answer.errors) == (400, [("required", "key")])
    for bad in ("nonsense", "MQ.a.b", "1.x", "\u00e9", "x" * 5000, 5, ["a"], {"a": 1}):
        answer = client.post(_PATH, {"key": bad})
        assert (answer.status, answer.errors) == (400, [("invalid", "key")])
    assert client.get("/auth/session").pending == []


def _forge(_server, _account, key):
    return key[:-2] + ("AA" if key[-2:] != "AA" else "BB")


def _let_expire(server, _account, key):
    server.clock.forward(3 * _DAY + 1)
    return key


def _switch_off(server, account, key):
    with server.host.database.write() as session:
        session.connection().execute(update(USERS).where(USERS.c.id == account.id).values(is_active=False))
    return key


def _remove(server, account, key):
    with server.host.database.write() as session:
        session.connection().execute(delete(EMAILS).where(EMAILS.c.user_id == account.id))
    return key


@pytest.mark.parametrize("change", [_forge, _let_expire, _switch_off, _remove])
def test_a_link_dies(server, name, change):
    """Forged, after three days, with its account and its address."""
    client = server.app()
    account, address = new_user(server, name, verified=False)
    signed_in(server, "app", name).put(_EMAIL, {"email": address})
    key = change(server, account, link_key(server, address))

    for answer in (_look_up(client, key), client.post(_PATH, {"key": key})):
        assert (answer.status, answer.errors) == (400, [("invalid", "key")])
    assert not any(verified for _, verified, _ in stored(server, account))


def test_the_first_verified_address_becomes_primary(server, client, name):
    """Where there is none."""
    account = server.new_user(name)
    client.login(name, PASSWORD)
    address = f"{name}@example.org"
    assert client.post(_EMAIL, {"email": address}).data == [shown(address)]

    answer = client.post(_PATH, {"key": link_key(server, address)})

    assert answer.data["user"]["email"] == server.user_row(name).email == address
    assert stored(server, account) == [(address, True, True)]
    assert mails(server, address) == ["email_verification"]


@pytest.mark.parametrize("kind", _KINDS)
def test_a_login_waits_for_its_address(mandatory, name, kind):
    """Links: the login is dropped when the address is verified, and the next one passes."""
    server = mandatory
    client, address = server.client(kind), f"{name}@example.org"

    waits = _sign_up(client, name)
    assert (waits.status, waits.pending) == (401, ["verify_email"])
    assert client.get(_EMAIL).status == 401
    assert client.post(_EMAIL, {"email": other(address, "b")}).status == 409
    assert client.post(_RESEND).status == 409
    assert _look_up(client, link_key(server, address)).meta == {"is_authenticating": True}
    assert client.login(name, PASSWORD).pending == ["verify_email"]
    done = client.post(_PATH, {"key": link_key(server, address)})

    assert (done.status, done.pending) == (401, [])
    assert client.get("/auth/session").pending == []
    assert _waiting(server) == []
    assert client.login(name, PASSWORD).status == 200
    [row] = server.rows(select(EMAILS).where(EMAILS.c.email == address))
    assert row.verified


def test_the_address_that_was_used_has_to_be_verified(mandatory, name):
    """Whoever signs in by name needs any one verified; whoever has none passes."""
    server = mandatory
    account, address = new_user(server, name)
    claim(server, account, other(address, "b"))
    server.new_user(f"{name}.bare")

    by_address = server.app().post("/auth/login", {"email": other(address, "b"), "password": PASSWORD})

    assert by_address.pending == ["verify_email"]
    assert (mails(server, address), mails(server, other(address, "b"))) == ([], ["email_verification"])
    assert server.app().login(name, PASSWORD).status == 200
    assert server.app().login(f"{name}.bare", PASSWORD).status == 200


@pytest.mark.parametrize("kind", _KINDS)
def test_a_link_can_go_on_with_the_login(lenient, name, kind):
    """PLUGYARD_ACCOUNT_LOGIN_ON_EMAIL_CONFIRMATION: only with that of the same browser, account and address."""
    server = lenient
    name, strange = f"{name}{kind}", f"{name}{kind}.strange"
    client, stranger = server.client(kind), server.client(kind)
    _sign_up(client, name)
    _sign_up(stranger, strange)

    crossed = client.post(_PATH, {"key": link_key(server, f"{strange}@example.org")})
    assert (crossed.status, crossed.pending) == (401, ["verify_email"])
    answer = client.post(_PATH, {"key": link_key(server, f"{name}@example.org")})

    assert (answer.status, answer.methods, answer.data["user"]["username"]) == (200, [], name)
    assert client.get("/auth/session").status == 200
    assert stranger.get("/auth/session").pending == ["verify_email"]
    assert len(server.rows(select(SESSIONS.c.id).where(SESSIONS.c.user_id == server.user_row(name).id))) == 1


def test_links_lead_where_the_web_client_is(lenient, name):
    """PLUGYARD_HEADLESS_FRONTEND_URLS and PLUGYARD_ACCOUNT_EMAIL_CONFIRMATION_EXPIRE_DAYS."""
    app, address = lenient.app(), f"{name}@example.org"
    assert _sign_up(app, name).pending == ["verify_email"]
    assert lenient.mailbox.link(address).startswith("https://web.example/confirm/")
    key = link_key(lenient, address)

    lenient.clock.forward(_DAY / 2 + 2)
    assert app.post(_PATH, {"key": key}).errors == [("invalid", "key")]
    lenient.clock.forward(-10)
    assert app.post(_PATH, {"key": key}).status == 401
    assert stored(lenient, lenient.host.users.get(lenient.user_row(name).id)) == [(address, True, True)]


@pytest.mark.parametrize("kind", _KINDS)
def test_a_code_completes_a_sign_up(codes, name, kind):
    """In the session that asked for it, and once; the session begins without a step."""
    client, address = codes.client(kind), f"{name}@example.org"
    waits = _sign_up(client, name)
    code = codes.mailbox.code(address)

    assert (waits.status, waits.pending) == (401, ["verify_email"])
    assert [one.status for one in (codes.app().post(_PATH, {"key": code}), _look_up(codes.app(), code))] == [409, 409]
    found = _look_up(client, f"%20{code.lower()}%20")
    assert (found.data["email"], found.data["user"]["username"]) == (address, name)
    assert found.meta == {"is_authenticating": True}
    [row] = codes.rows(select(EMAILS).where(EMAILS.c.email == address))
    assert row.verified is False
    done = client.post(_PATH, {"key": code})

    assert (done.status, done.methods, done.data["user"]["email"]) == (200, [], address)
    assert done.meta["is_authenticated"] is True
    [row] = codes.rows(select(EMAILS).where(EMAILS.c.email == address))
    assert row.verified is True
    assert client.post(_PATH, {"key": code}).status == 409
    assert mails(codes, address) == ["email_verification"]


def test_a_code_is_not_stored(codes, name):
    """What the database keeps of it is no code."""
    _sign_up(codes.app(), name)
    code = codes.mailbox.code(f"{name}@example.org")

    user_id = codes.user_row(name).id
    [row] = codes.rows(select(PENDING.c.state).where(PENDING.c.user_id == user_id))

    assert code.replace("-", "") not in json.dumps(row.state).replace("-", "").upper()


def test_three_wrong_codes_end_the_login(codes, name):
    """Looking counts as trying, and so does sending nothing."""
    client = codes.app()
    _sign_up(client, name)
    code = codes.mailbox.code(f"{name}@example.org")

    answers = [client.post(_PATH, {"key": _WRONG}), client.post(_PATH, {}), _look_up(client, _WRONG)]

    assert [answer.status for answer in answers] == [400] * 3
    errors = [("incorrect_code", "key"), ("required", "key"), ("incorrect_code", "key")]
    assert [answer.errors[0] for answer in answers] == errors
    ended = client.post(_PATH, {"key": code})
    assert (ended.status, ended.body) == (409, {"status": 409})
    assert client.get("/auth/session").pending == []
    assert codes.rows(select(PENDING).where(PENDING.c.user_id == codes.user_row(name).id)) == []
    assert client.login(name, PASSWORD).pending == ["verify_email"]


def test_a_code_expires(codes, name):
    """After 900 s, which is also the end of the login."""
    client = codes.browser()
    _sign_up(client, name)
    code = codes.mailbox.code(f"{name}@example.org")
    codes.clock.forward(901)

    assert (client.post(_PATH, {"key": code}).status, client.get("/auth/session").pending) == (409, [])
    [row] = codes.rows(select(EMAILS).where(EMAILS.c.email == f"{name}@example.org"))
    assert row.verified is False


def test_life_and_tries_of_a_code_are_options(strict_codes, name):
    """PLUGYARD_ACCOUNT_EMAIL_VERIFICATION_BY_CODE_TIMEOUT and _MAX_ATTEMPTS; nothing is sent again, nor elsewhere."""
    client, address = strict_codes.app(), f"{name}@example.org"
    _sign_up(client, name)
    assert (client.post(_RESEND).status, client.post(_EMAIL, {"email": other(address, "b")}).status) == (409, 409)
    assert client.post(_PATH, {"key": _WRONG}).status == 400
    assert client.get("/auth/session").pending == []
    client.login(name, PASSWORD)
    code = strict_codes.mailbox.code(address, number=2)
    strict_codes.clock.forward(61)

    assert client.post(_PATH, {"key": code}).status == 409
    assert client.get("/auth/session").pending == ["verify_email"]
    assert mails(strict_codes, address) == ["email_verification"] * 2


@pytest.mark.parametrize("kind", _KINDS)
def test_a_code_is_sent_again(codes, name, kind):
    """Twice; only the newest is good, and wrong attempts go on counting."""
    client, address = codes.client(kind), f"{name}@example.org"
    _sign_up(client, name)
    first = codes.mailbox.code(address)

    again = client.post(_RESEND)
    assert (again.status, again.body) == (200, {"status": 200})
    assert client.post(_PATH, {"key": first}).errors == [("incorrect_code", "key")]
    assert [client.post(_RESEND).status for _ in range(2)] == [200, 409]
    assert client.post(_PATH, {"key": codes.mailbox.code(address, number=2)}).status == 400
    done = client.post(_PATH, {"key": codes.mailbox.code(address, number=3)})

    assert (done.status, mails(codes, address)) == (200, ["email_verification"] * 3)
    assert client.post(_RESEND).status == 409


def test_nothing_is_sent_again_where_nothing_waits(server, codes, client):
    """409: for links, and for those who wait for nothing."""
    for asking in (client, codes.browser(), codes.app()):
        answer = asking.post(_RESEND)
        assert (answer.status, answer.body) == (409, {"status": 409})
    assert _waiting(server) == []


@pytest.mark.parametrize("kind", _KINDS)
def test_the_address_of_a_sign_up_can_be_corrected(codes, name, kind):
    """Twice; the new address takes the place of the wrong one, and a code that was sent there is void."""
    client, address = codes.client(kind), f"{name}@example.org"
    _sign_up(client, name)
    first = codes.mailbox.code(address)
    account = codes.host.users.get(codes.user_row(name).id)

    for text, code in [("", "required"), ("nonsense", "invalid"), (address.upper(), "same_as_current")]:
        answer = client.post(_EMAIL, {"email": text})
        assert (answer.status, answer.errors) == (400, [(code, "email")])
    for mark in ("b", "c"):
        answer = client.post(_EMAIL, {"email": other(address, mark).upper()})
        assert (answer.status, answer.data) == (200, [shown(other(address, mark), primary=True)])
        assert stored(codes, account) == [(other(address, mark), False, True)]
    refused = client.post(_EMAIL, {"email": other(address, "d")})

    assert (refused.status, refused.body) == (409, {"status": 409})
    assert client.post(_PATH, {"key": first}).status == 400
    done = client.post(_PATH, {"key": codes.mailbox.code(other(address, "c"))})
    assert (done.status, done.data["user"]["email"]) == (200, other(address, "c"))
    assert stored(codes, account) == [(other(address, "c"), True, True)]
    assert codes.user_row(name).email == other(address, "c")


def test_only_who_has_proved_nothing_corrects_an_address(codes, name):
    """Who has another address verified, or a second factor, may sign in with that; a stolen password may not."""
    account, address = new_user(codes, name)
    claim(codes, account, other(address, "b"))
    careful, careful_address = new_user(codes, f"{name}.careful", verified=False)
    add_factor(codes, careful)

    for used in (other(address, "b"), careful_address):
        app = codes.app()
        assert app.post("/auth/login", {"email": used, "password": PASSWORD}).pending == ["verify_email"]
        answer = app.post(_EMAIL, {"email": other(address, "thief")})
        assert (answer.status, answer.body) == (409, {"status": 409})
    assert mails(codes, other(address, "thief")) == []
    assert stored(codes, careful) == [(careful_address, False, True)]


def test_a_pretended_sign_up_is_not_told_from_a_real_one(codes, name):
    """The address is somebody else's: every answer is the same, and no code is ever right."""
    _, taken = new_user(codes, f"{name}.owner")
    fresh = f"{name}@example.org"
    steps = [
        ("POST", _RESEND, None),
        ("POST", _PATH, {"key": _WRONG}),
        ("POST", _EMAIL, {"email": "{address}"}),
        ("POST", _EMAIL, {"email": "{other}"}),
        ("POST", _RESEND, None),
        ("POST", _PATH, {"key": _WRONG}),
        ("POST", _PATH, {}),
        ("POST", _PATH, {"key": _WRONG}),
        ("POST", _PATH, {"key": _WRONG}),
    ]
    for kind in _KINDS:
        seen = []
        for address, mark in ((other(fresh, kind), f"real{kind}"), (taken, f"fake{kind}")):
            client = codes.client(kind)
            first = _sign_up(client, f"{name}.{mark}", address)
            assert set(first.meta) == (
                {"is_authenticated"} if kind == "browser" else {"is_authenticated", "session_token"}
            )
            answers = [(first.status, json.dumps(first.data))]
            for method, path, body in steps:
                text = json.dumps(body).replace("{address}", address).replace("{other}", other(address, mark))
                answer = client.call(method, path, json.loads(text))
                data = json.dumps(answer.body).replace(address, "A").replace(other(address, mark), "B")
                answers.append((answer.status, data))
            seen.append(answers)
        assert seen[0] == seen[1]
        assert [status for status, _ in seen[0]] == [401, 200, 400, 400, 200, 200, 400, 400, 400, 409]
    assert mails(codes, taken) == ["account_already_exists"] * 4
    names = [row.username for row in codes.rows(select(USERS.c.username).where(USERS.c.username.like(f"{name}.%")))]
    assert sorted(names) == [f"{name}.owner", f"{name}.realapp", f"{name}.realbrowser"]


def test_an_address_cannot_be_corrected_to_that_of_somebody_else(codes, name):
    """It looks as always; its owner is told, no code is right, and the next correction is possible all the same."""
    _, taken = new_user(codes, f"{name}.owner")
    client, address = codes.app(), f"{name}@example.org"
    _sign_up(client, name)
    account = codes.host.users.get(codes.user_row(name).id)

    answer = client.post(_EMAIL, {"email": taken})

    assert (answer.status, answer.data) == (200, [shown(taken, primary=True)])
    assert client.get("/auth/session").pending == ["verify_email"]
    assert client.post(_RESEND).status == 200
    assert mails(codes, taken) == ["account_already_exists"] * 2
    assert stored(codes, account) == [(address, False, True)]
    assert client.post(_PATH, {"key": codes.mailbox.code(address)}).errors == [("incorrect_code", "key")]
    assert client.post(_EMAIL, {"email": other(address, "b")}).status == 200
    assert client.post(_PATH, {"key": codes.mailbox.code(other(address, "b"))}).status == 200
    assert stored(codes, account) == [(other(address, "b"), True, True)]


def test_an_owner_who_comes_first_keeps_the_address(codes, name):
    """Also while somebody else waits with the right code: that is told then, and counts as an attempt."""
    client, address = codes.app(), f"{name}@example.org"
    _sign_up(client, name)
    owner = codes.new_user(f"{name}.owner")
    claim(codes, owner, address, verified=True)
    code = codes.mailbox.code(address)

    answers = [client.post(_PATH, {"key": code}) for _ in range(3)]

    assert [answer.errors for answer in answers] == [[("email_taken", "key")]] * 3
    assert client.get("/auth/session").pending == []
    assert stored(codes, owner) == [(address, True, False)]


def test_an_account_that_is_switched_off_meanwhile_is_not_let_in(codes, name):
    """The right code ends at nothing."""
    client = codes.app()
    _sign_up(client, name)
    code = codes.mailbox.code(f"{name}@example.org")
    _switch_off(codes, codes.host.users.get(codes.user_row(name).id), "")

    answer = client.post(_PATH, {"key": code})

    assert (answer.status, answer.pending) == (401, [])
    assert codes.rows(select(SESSIONS).where(SESSIONS.c.user_id == codes.user_row(name).id)) == []


def test_a_second_factor_follows(codes, name):
    """The code is no login: the next stage waits."""
    account, address = new_user(codes, name, verified=False)
    add_factor(codes, account)
    client = codes.browser()
    client.login(name, PASSWORD)

    answer = client.post(_PATH, {"key": codes.mailbox.code(address)})

    assert (answer.status, answer.pending) == (401, ["mfa_authenticate"])
    assert stored(codes, account) == [(address, True, True)]


def test_mails_with_codes_are_limited(server_with, name):
    """One to each address within 10 s: 429, and an ordinary refusal for a login by address; nothing is done then."""
    server = server_with(
        account_rate_limits='{"login": null}',
        account_email_verification="mandatory",
        account_email_verification_by_code_enabled="true",
        account_email_verification_supports_resend="true",
    )
    client, address = server.app(), f"{name}@example.org"
    owner, taken = new_user(server, f"{name}.owner")
    assert _sign_up(client, name).status == 401

    again = client.post(_RESEND)
    by_name = server.app().login(name, PASSWORD)
    by_address = server.app().post("/auth/login", {"email": address, "password": PASSWORD})

    assert (again.status, again.body, by_name.status) == (429, {"status": 429}, 429)
    assert (by_address.status, by_address.errors) == (400, [("too_many_login_attempts", None)])
    assert mails(server, address) == ["email_verification"]
    assert [_sign_up(server.app(), f"{name}.{number}", taken).status for number in range(2)] == [401, 429]
    assert mails(server, taken) == ["account_already_exists"]
    server.clock.forward(11)
    assert (client.post(_RESEND).status, server.app().login(name, PASSWORD).status) == (200, 429)
    assert mails(server, address) == ["email_verification"] * 2
    signed = signed_in(server, "app", f"{name}.owner")
    assert [signed.put(_EMAIL, {"email": taken}).status for _ in range(2)] == [200, 429]
    assert stored(server, owner) == [(taken, True, True)]


def test_mails_with_links_are_limited(mandatory, name):
    """One to each address within 180 s: a login waits without another mail."""
    client, address = mandatory.app(), f"{name}@example.org"
    _sign_up(client, name)

    assert [client.login(name, PASSWORD).pending for _ in range(2)] == [["verify_email"]] * 2
    assert mails(mandatory, address) == ["email_verification"]
    mandatory.clock.forward(181)
    client.login(name, PASSWORD)
    assert mails(mandatory, address) == ["email_verification"] * 2


def test_a_proof_by_code_is_told(codes, name):
    """Each event says whose address and which, and holds no code."""
    told: list[Told] = []
    client, address = codes.app(), f"{name}@example.org"
    _sign_up(client, name)
    user_id, services, second = codes.user_row(name).id, codes.host.sign_in, other(address, "b")

    services.address_correction.correct(watched(codes, client, told), second)
    services.email_verification.verify(watched(codes, client, told), codes.mailbox.code(second))

    assert told == [
        ("user.email_changed", user_id, {"email": second, "former": address}),
        ("user.email_verified", user_id, {"email": second}),
        ("user.logged_in", user_id, {"methods": []}),
    ]


def test_of_many_uses_of_one_code_one_wins(codes, name):
    """Of as many wrong ones at the same time, three are looked at."""
    asked, address = codes.app(), f"{name}@example.org"

    def use(key):
        apps = [codes.app() for _ in range(32)]
        for app in apps:
            app.session_key = asked.session_key
        with ThreadPoolExecutor(len(apps)) as pool:
            return Counter(pool.map(lambda app: app.post(_PATH, {"key": key}).status, apps))

    _sign_up(asked, name)
    assert use(_WRONG) == {400: 3, 409: 29}
    asked.login(name, PASSWORD)
    right = use(codes.mailbox.code(address, number=2))

    assert right[200] == 1
    assert right[409] + right[410] == 31
    [row] = codes.rows(select(EMAILS).where(EMAILS.c.email == address))
    assert row.verified
    assert len(codes.rows(select(SESSIONS.c.id).where(SESSIONS.c.user_id == row.user_id))) == 1
