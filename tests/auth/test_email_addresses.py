"""The e-mail addresses of the own account."""

from __future__ import annotations

import itertools
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import select

from host.accounts.emails.table import EMAILS
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

_PATH = "/account/email"
_NUMBERS = itertools.count()
_KINDS = ["browser", "app"]


@pytest.fixture
def name():
    """A username of the test's own."""
    return f"owner{next(_NUMBERS)}"


@pytest.fixture
def codes(server_with):
    """A host that verifies by code, with every other option of addresses the other way round."""
    return server_with(
        account_email_verification_by_code_enabled="true",
        account_max_email_addresses="2",
        account_email_notifications="false",
        account_login_methods="email",
    )


@pytest.fixture
def changing(server_with):
    """A host where a new address replaces the old one."""
    return server_with(account_change_email="true", account_max_email_addresses="1")


@pytest.fixture
def strict(server_with):
    """A host with rate limits, that wants a fresh proof for changes, and tells whose an address is."""
    return server_with(
        account_rate_limits='{"login": null}',
        account_reauthentication_required="true",
        account_prevent_enumeration="false",
        login_signup_mail_restriction="@example.org",
    )


def test_the_own_addresses_are_listed(server, client, name):
    """With whether each is verified, and primary; those of others are not."""
    account, address = new_user(server, name)
    claim(server, account, other(address, "second"))
    client.login(name, PASSWORD)

    answer = client.get(_PATH)

    assert answer.status == 200
    assert answer.body == {
        "status": 200,
        "data": [shown(address, verified=True, primary=True), shown(other(address, "second"))],
    }


def test_nobody_else_gets_at_them(server, client):
    """Whoever is not signed in is told to sign in."""
    for method in ("GET", "PUT", "PATCH", "DELETE"):
        answer = client.call(method, _PATH, None if method == "GET" else {"email": "a@example.org"})

        assert answer.status == 401
        assert answer.meta["is_authenticated"] is False
        assert "login" in answer.flows


def test_whoever_is_not_signed_in_adds_nothing(server, client):
    """409, whatever they send."""
    before = len(server.rows(select(EMAILS.c.id)))

    for body in ({}, {"email": "nonsense"}, {"email": "anonymous@example.org"}):
        answer = client.post(_PATH, body)
        assert (answer.status, answer.body) == (409, {"status": 409})

    assert len(server.rows(select(EMAILS.c.id))) == before


def test_an_address_is_added(server, client, name):
    """It is kept in lower case, unverified, and a link is mailed to it that verifies it."""
    account, address = new_user(server, name)
    client.login(name, PASSWORD)
    new = other(address, "new")

    answer = client.post(_PATH, {"email": f" {new.upper()} "})

    assert (answer.status, answer.data) == (200, [shown(address, verified=True, primary=True), shown(new)])
    assert stored(server, account) == [(address, True, True), (new, False, False)]
    assert mails(server, new) == ["email_verification"]
    assert "/web/verify-email/" in server.mailbox.link(new)
    assert client.post("/auth/email/verify", {"key": link_key(server, new)}).status == 200
    assert stored(server, account) == [(address, True, True), (new, True, False)]


def test_what_is_no_new_address_is_refused(server, name):
    """Nothing is stored, and nothing mailed."""
    client = server.app()
    account, address = new_user(server, name)
    client.login(name, PASSWORD)
    long = f"a@{'b' * 60}.{'c' * 60}.{'d' * 60}.{'e' * 60}.{'f' * 60}.org"
    own = [(address, "duplicate_email"), (address.upper(), "duplicate_email")]
    malformed = [("nonsense", "invalid"), (["a"], "invalid"), ("a\0@example.org", "invalid"), (long, "max_length")]

    for text, code in [("", "required"), (None, "required"), *malformed, *own]:
        answer = client.post(_PATH, {"email": text})
        assert (answer.status, answer.errors) == (400, [(code, "email")])

    assert stored(server, account) == [(address, True, True)]
    assert mails(server, address) == []


def test_an_address_of_somebody_else_is_only_claimed(server, client, name):
    """Nobody learns whose it is; it cannot be verified while its owner has it verified."""
    account, address = new_user(server, name)
    owner, taken = new_user(server, f"{name}.other")
    client.login(name, PASSWORD)

    answer = client.post(_PATH, {"email": taken})
    refused = client.post("/auth/email/verify", {"key": link_key(server, taken)})

    assert (answer.status, answer.data[-1]) == (200, shown(taken))
    assert (refused.status, refused.errors) == (400, [("email_taken", "key")])
    assert stored(server, account) == [(address, True, True), (taken, False, False)]
    assert stored(server, owner) == [(taken, True, True)]


def test_another_mail_is_sent(server, name):
    """Also to an address that is verified already."""
    client = server.app()
    account, address = new_user(server, name, verified=False)
    client.login(name, PASSWORD)

    for count in (1, 2):
        answer = client.put(_PATH, {"email": address.upper()})
        assert (answer.status, answer.body) == (200, {"status": 200})
        assert mails(server, address) == ["email_verification"] * count
        client.post("/auth/email/verify", {"key": link_key(server, address)})

    assert stored(server, account) == [(address, True, True)]


def test_only_own_addresses_can_be_named(server, name):
    """Those of others count as unknown."""
    client = server.app()
    account, address = new_user(server, name)
    _, foreign = new_user(server, f"{name}.other")
    client.login(name, PASSWORD)
    wrong = [("", "required"), ("nonsense", "invalid"), (foreign, "unknown_email")]

    for method, (text, code) in itertools.product(["PUT", "PATCH", "DELETE"], wrong):
        answer = client.call(method, _PATH, {"email": text, "primary": True})
        assert (answer.status, answer.errors) == (400, [(code, "email")])

    assert stored(server, account) == [(address, True, True)]
    assert mails(server, foreign) == []


def test_a_verified_address_becomes_primary(server, client, name):
    """It becomes the account's own; the one before is told."""
    account, address = new_user(server, name)
    claim(server, account, other(address, "better"), verified=True)
    client.login(name, PASSWORD)

    for _ in range(2):
        answer = client.patch(_PATH, {"email": other(address, "better"), "primary": True})
        assert answer.status == 200
        assert answer.data == [
            shown(address, verified=True),
            shown(other(address, "better"), verified=True, primary=True),
        ]

    assert stored(server, account) == [(address, True, False), (other(address, "better"), True, True)]
    assert server.user_row(name).email == client.get("/auth/session").data["user"]["email"] == other(address, "better")
    assert mails(server, address) == ["email_changed"]
    assert other(address, "better") in server.mailbox.text(address)


@pytest.mark.parametrize("verified", [True, False])
def test_an_unverified_address_does_not_become_primary(server, name, verified):
    """Whether there is a verified one or not."""
    client = server.app()
    account, address = new_user(server, name, verified=verified)
    claim(server, account, other(address, "claimed"))
    client.login(name, PASSWORD)

    answer = client.patch(_PATH, {"email": other(address, "claimed"), "primary": True})
    both = client.patch(_PATH, {"email": other(address, "claimed"), "primary": False})

    assert (answer.status, answer.errors) == (400, [("unverified_primary_email", "email")])
    assert (both.status, both.errors) == (400, [("unverified_primary_email", "email"), ("required", "primary")])
    assert stored(server, account) == [(address, verified, True), (other(address, "claimed"), False, False)]


def test_an_address_cannot_stop_being_primary(server, name):
    """Only true is allowed, and everything that is wrong is told at once."""
    client = server.app()
    account, address = new_user(server, name)
    client.login(name, PASSWORD)

    falsehoods: list[object] = [None, False, "false", 0, "", []]

    for primary in falsehoods:
        answer = client.patch(_PATH, {"email": address, "primary": primary})
        both = client.patch(_PATH, {"email": "x@x.org", "primary": primary})
        assert (answer.status, answer.errors) == (400, [("required", "primary")])
        assert (both.status, both.errors) == (400, [("unknown_email", "email"), ("required", "primary")])

    assert client.patch(_PATH, {"email": address, "primary": "true"}).status == 200
    assert stored(server, account) == [(address, True, True)]


def test_an_address_is_removed(server, client, name):
    """The primary one is told of it."""
    account, address = new_user(server, name)
    claim(server, account, other(address, "old"))
    client.login(name, PASSWORD)

    answer = client.delete(_PATH, {"email": other(address, "OLD")})

    assert (answer.status, answer.data) == (200, [shown(address, verified=True, primary=True)])
    assert stored(server, account) == [(address, True, True)]
    assert (mails(server, address), mails(server, other(address, "old"))) == (["email_removed"], [])


def test_the_primary_address_stays_while_there_are_others(server, name):
    """As the only one it may go where people sign in otherwise; then it is told itself."""
    client = server.app()
    account, address = new_user(server, name)
    claim(server, account, other(address, "second"))
    client.login(name, PASSWORD)

    refused = client.delete(_PATH, {"email": address})
    assert (refused.status, refused.errors) == (400, [("cannot_remove_primary_email", "email")])
    assert len(stored(server, account)) == 2
    client.delete(_PATH, {"email": other(address, "second")})
    answer = client.delete(_PATH, {"email": address})

    assert (answer.status, answer.data) == (200, [])
    assert stored(server, account) == []
    assert server.user_row(name).email == ""
    assert "email" not in client.get("/auth/session").data["user"]
    assert mails(server, address) == ["email_removed", "email_removed"]


def test_an_account_with_a_second_factor_gets_no_address_by_link(server, name):
    """A factor needs every address verified."""
    client = server.app()
    account, address = new_user(server, name)
    client.login(name, PASSWORD)
    add_factor(server, account)

    answer = client.post(_PATH, {"email": other(address, "new")})

    assert (answer.status, answer.errors) == (400, [("add_email_blocked", "email")])
    assert stored(server, account) == [(address, True, True)]


def test_every_change_is_told(server, name):
    """Each event says whose address and which, and holds no key."""
    account, address = new_user(server, name)
    told: list[Told] = []
    new = other(address, "new")
    app, services = signed_in(server, "app", name), server.host.sign_in

    services.own_addresses.add(watched(server, app, told), new)
    services.email_verification.verify(watched(server, server.app(), told), link_key(server, new))
    services.own_addresses.make_primary(watched(server, app, told), new, primary=True)
    services.own_addresses.remove(watched(server, app, told), address)

    assert told == [
        ("user.email_added", account.id, {"email": new}),
        ("user.email_verified", account.id, {"email": new}),
        ("user.email_changed", account.id, {"email": new, "former": address}),
        ("user.email_removed", account.id, {"email": address}),
    ]


def test_changes_are_limited(strict, name):
    """10 within a minute, every attempt counted; looking is free. A link goes out once in 180 s."""
    server = strict
    account, address = new_user(server, name)
    app = signed_in(server, "app", name)
    first = app.post(_PATH, {"email": other(address, "new")})
    early = app.put(_PATH, {"email": other(address, "new")})
    attempts = [app.patch(_PATH, {}).status for _ in range(8)]

    refused = [
        app.call(method, _PATH, {"email": other(address, "new")}) for method in ("POST", "PUT", "PATCH", "DELETE")
    ]

    assert (first.status, early.status, early.body) == (200, 403, {"status": 403})
    assert attempts == [400] * 8
    assert {(answer.status, answer.body["status"]) for answer in refused} == {(429, 429)}
    assert [app.get(_PATH).status for _ in range(12)] == [200] * 12
    assert mails(server, other(address, "new")) == ["email_verification"]
    assert len(stored(server, account)) == 2
    server.clock.forward(181)
    assert app.put(_PATH, {"email": other(address, "new")}).status == 200
    assert mails(server, other(address, "new")) == ["email_verification"] * 2


@pytest.mark.parametrize("kind", _KINDS)
def test_a_fresh_proof_can_be_required(strict, name, kind):
    """PLUGYARD_ACCOUNT_REAUTHENTICATION_REQUIRED: for POST, PATCH and DELETE, once the input is right."""
    server = strict
    account, address = new_user(server, name)
    claim(server, account, other(address, "second"), verified=True)
    before = stored(server, account)
    client = signed_in(server, kind, name)
    changes = [
        ("POST", {"email": other(address, "new")}),
        ("PATCH", {"email": other(address, "second"), "primary": True}),
        ("DELETE", {"email": other(address, "second")}),
    ]
    server.clock.forward(301)

    for method, body in changes:
        assert client.call(method, _PATH, {"email": "nonsense"}).status == 400
        answer = client.call(method, _PATH, body)
        assert (answer.status, answer.flows) == (401, ["reauthenticate"])
        assert answer.meta["is_authenticated"] is True
    assert client.put(_PATH, {"email": address}).status == 200
    assert stored(server, account) == before
    assert mails(server, other(address, "new")) == []

    assert client.post("/auth/reauthenticate", {"password": PASSWORD}).status == 200
    assert [client.call(method, _PATH, body).status for method, body in changes[:2]] == [200, 200]
    assert (other(address, "second"), True, True) in stored(server, account)


def test_only_some_domains_can_be_added(strict, name):
    """PLUGYARD_LOGIN_SIGNUP_MAIL_RESTRICTION holds here, too."""
    server = strict
    account, address = new_user(server, name)
    new_user(server, f"{name}.other")
    app = signed_in(server, "app", name)

    foreign, taken = app.post(_PATH, {"email": "a@evil.org"}), app.post(_PATH, {"email": f"{name}.other@example.org"})

    assert (foreign.status, foreign.errors) == (400, [("invalid", "email")])
    assert (taken.status, taken.errors) == (400, [("email_taken", "email")])
    assert stored(server, account) == [(address, True, True)]
    assert app.post(_PATH, {"email": other(address, "new")}).status == 200


def test_a_new_address_can_replace_the_old_one(changing, name):
    """PLUGYARD_ACCOUNT_CHANGE_EMAIL: one new address waits at a time, and takes the place of all others at last."""
    server = changing
    account, address = new_user(server, name)
    for kind in _KINDS:
        client = signed_in(server, kind, name)
        before = client.get("/auth/session").data["user"]["email"]
        first, second = other(address, f"{kind}1"), other(address, f"{kind}2")

        assert client.post(_PATH, {"email": first}).data == [shown(before, verified=True, primary=True), shown(first)]
        assert client.post(_PATH, {"email": second}).data == [shown(before, verified=True, primary=True), shown(second)]
        assert client.post("/auth/email/verify", {"key": link_key(server, first)}).errors == [("invalid", "key")]
        assert stored(server, account) == [(before, True, True), (second, False, False)]
        answer = client.post("/auth/email/verify", {"key": link_key(server, second)})

        assert (answer.status, answer.data["user"]["email"]) == (200, second)
        assert stored(server, account) == [(second, True, True)]
        assert mails(server, before)[-1] == "email_changed"


def test_by_code_nothing_is_stored_before_the_proof(codes, name):
    """The session keeps the address and lists it; others do not see it."""
    for kind in _KINDS:
        account, address = new_user(codes, f"{name}.{kind}")
        client = codes.client(kind)
        client.post("/auth/login", {"email": address, "password": PASSWORD})
        new = other(address, "new")

        answer = client.post(_PATH, {"email": new})

        assert (answer.status, answer.data) == (200, [shown(address, verified=True, primary=True), shown(new)])
        assert client.get(_PATH).data == answer.data
        assert stored(codes, account) == [(address, True, True)]
        another = codes.app()
        another.post("/auth/login", {"email": address, "password": PASSWORD})
        assert another.get(_PATH).data == [shown(address, verified=True, primary=True)]
        assert another.post("/auth/email/verify", {"key": codes.mailbox.code(new)}).status == 409

        done = client.post("/auth/email/verify", {"key": codes.mailbox.code(new).lower().replace("-", " ")})

        assert (done.status, done.methods) == (200, ["password"])
        assert stored(codes, account) == [(address, True, True), (new, True, False)]
        assert client.get(_PATH).data[1:] == [shown(new, verified=True)]
        assert client.post("/auth/email/verify", {"key": codes.mailbox.code(new)}).status == 409


def test_a_code_for_an_address_that_is_not_stored_can_be_sent_again(codes, name):
    """Twice, then 403; afterwards only the newest code is good. An address that waits can be removed."""
    account, address = new_user(codes, name)
    app, new = codes.app(), other(address, "new")
    app.post("/auth/login", {"email": address, "password": PASSWORD})
    app.post(_PATH, {"email": new})

    assert app.put(_PATH, {"email": address}).status == 200  # proved already: what waits goes on waiting
    assert [app.put(_PATH, {"email": new}).status for _ in range(3)] == [200, 200, 403]
    assert mails(codes, new) == ["email_verification"] * 3
    old = app.post("/auth/email/verify", {"key": codes.mailbox.code(new, number=1)})
    assert (old.status, old.errors) == (400, [("incorrect_code", "key")])
    assert app.delete(_PATH, {"email": new}).data == [shown(address, verified=True, primary=True)]
    assert app.post("/auth/email/verify", {"key": codes.mailbox.code(new, number=3)}).status == 409
    assert app.put(_PATH, {"email": new}).errors == [("unknown_email", "email")]
    assert stored(codes, account) == [(address, True, True)]
    assert app.put(_PATH, {"email": address}).status == 200
    assert app.post("/auth/email/verify", {"key": codes.mailbox.code(address)}).status == 200


def test_a_code_proves_no_address_of_somebody_else(codes, name):
    """The right code tells that it is taken; until then nothing does. It counts as a failed attempt."""
    account, address = new_user(codes, name)
    _, taken = new_user(codes, f"{name}.other")
    app = codes.app()
    app.post("/auth/login", {"email": address, "password": PASSWORD})
    assert app.post(_PATH, {"email": taken}).data[1:] == [shown(taken)]
    code = codes.mailbox.code(taken)

    found = app.get("/auth/email/verify", headers={"X-Email-Verification-Key": code})
    tries = [app.post("/auth/email/verify", {"key": code}) for _ in range(2)]

    assert (found.status, found.errors) == (400, [("email_taken", "key")])
    assert [answer.errors for answer in tries] == [[("email_taken", "key")]] * 2
    assert app.post("/auth/email/verify", {"key": code}).status == 409
    assert stored(codes, account) == [(address, True, True)]


def test_an_account_has_no_more_addresses_than_it_may(codes, name):
    """PLUGYARD_ACCOUNT_MAX_EMAIL_ADDRESSES holds when an address is added and again when it is proved."""
    account, address = new_user(codes, name)
    apps = [codes.app() for _ in range(3)]
    for number, app in enumerate(apps):
        app.post("/auth/login", {"email": address, "password": PASSWORD})
        assert app.post(_PATH, {"email": other(address, number)}).status == 200
    keys = [codes.mailbox.code(other(address, number)) for number in range(3)]

    with ThreadPoolExecutor(3) as pool:
        answers = list(
            pool.map(lambda pair: pair[0].post("/auth/email/verify", {"key": pair[1]}), zip(apps, keys, strict=True))
        )

    assert Counter(answer.status for answer in answers) == {200: 1, 400: 2}
    assert [answer.errors for answer in answers if answer.status == 400] == [[("max_email_addresses", "key")]] * 2
    assert len(stored(codes, account)) == 2
    assert apps[0].post(_PATH, {"email": other(address, 3)}).errors == [("max_email_addresses", "email")]


def test_the_only_address_stays_where_people_sign_in_by_it(codes, name):
    """And nobody is told of a change where notifications are off."""
    account, address = new_user(codes, name)
    claim(codes, account, other(address, "second"), verified=True)
    app = codes.app()
    app.post("/auth/login", {"email": address, "password": PASSWORD})

    assert app.patch(_PATH, {"email": other(address, "second"), "primary": True}).status == 200
    assert app.delete(_PATH, {"email": address}).status == 200
    refused = app.delete(_PATH, {"email": other(address, "second")})

    assert (refused.status, refused.errors) == (400, [("cannot_remove_primary_email", "email")])
    assert stored(codes, account) == [(other(address, "second"), True, True)]
    assert mails(codes, address) == []


def test_an_account_with_a_second_factor_may_add_an_address_by_code(codes, name):
    """It is verified as soon as it is there."""
    account, address = new_user(codes, name)
    app = codes.app()
    app.post("/auth/login", {"email": address, "password": PASSWORD})
    add_factor(codes, account)

    assert app.post(_PATH, {"email": other(address, "new")}).status == 200
    assert app.post("/auth/email/verify", {"key": codes.mailbox.code(other(address, "new"))}).status == 200
    assert stored(codes, account)[1:] == [(other(address, "new"), True, False)]


@pytest.mark.parametrize("kind", _KINDS)
def test_an_optional_code_waits_in_the_session(codes, name, kind):
    """Whoever signs up is signed in at once, and can verify the address later."""
    client, address = codes.client(kind), f"{name}@example.org"
    assert client.post("/auth/signup", {"username": name, "email": address, "password": PASSWORD}).status == 200
    code = codes.mailbox.code(address)

    found = client.get("/auth/email/verify", headers={"X-Email-Verification-Key": code})

    assert (found.data["email"], found.meta) == (address, {"is_authenticating": False})
    assert client.post("/auth/email/verify", {"key": code}).status == 200
    assert stored(codes, codes.host.users.get(codes.user_row(name).id)) == [(address, True, True)]
    assert client.post("/auth/email/verify", {"key": code}).status == 409
