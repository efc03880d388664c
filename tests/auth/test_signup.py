"""Signing up."""

from __future__ import annotations

import itertools

import pytest
from sqlalchemy import select

from host.accounts.account import USERS
from host.accounts.emails.table import EMAILS
from host.accounts.groups import GROUPS, MEMBERSHIPS
from host.accounts.passwords import Passwords
from host.accounts.phones.table import PHONES
from host.accounts.sessions.table import PENDING, SESSIONS
from host.mail.log import MAIL
from tests.auth.server import PASSWORD

_PATH = "/auth/signup"
_NUMBERS = itertools.count()
# Options that do not touch each other share a host.
_RULES = {
    "account_username_min_length": "5",
    "account_username_blacklist": "Admin,daemon",
    "login_signup_mail_restriction": "@example.org, @works.example",
    "signup_group": "Members",
}
_TELLING = {
    "account_prevent_enumeration": "false",
    "account_email_verification": "mandatory",
    "account_signup_fields": "username*,email,phone,password*",
}
_WITHOUT = {
    "account_email_verification": "none",
    "account_login_methods": "username",
    "account_phone_enabled": "false",
    "account_signup_fields": "username*,email,phone*,password*",
}


def _values(**more):
    number = next(_NUMBERS)
    return {
        "username": f"newcomer{number}",
        "email": f"newcomer{number}@example.org",
        "password": PASSWORD,
        **more,
    }


def _count(server):
    return len(server.rows(select(USERS.c.id)))


def _emails(server, username):
    rows = server.rows(select(EMAILS).where(EMAILS.c.user_id == server.user_row(username).id))
    return [(row.email, row.verified, row.primary) for row in rows]


def _templates(server, address):
    return [row.template for row in server.rows(select(MAIL.c.template).where(MAIL.c.to == address))]


def test_whoever_signs_up_is_signed_in(server, client):
    """200 without a step; the account has its address, unverified, and a mail to verify it is on its way."""
    values = _values()

    answer = client.post(_PATH, values)

    assert answer.status == 200
    row = server.user_row(values["username"])
    assert answer.data == {
        "user": {
            "id": row.id,
            "display": values["username"],
            "username": values["username"],
            "email": values["email"],
            "has_usable_password": True,
        },
        "methods": [],
    }
    assert answer.meta == {"is_authenticated": True, "session_token": client.session_key}
    assert _emails(server, values["username"]) == [(values["email"], False, True)]
    assert (row.is_active, row.is_staff, row.is_superuser) == (True, False, False)
    [session] = server.rows(select(SESSIONS).where(SESSIONS.c.user_id == row.id))
    assert (session.client, session.methods) == (client.kind, [])
    assert _templates(server, values["email"]) == ["email_verification"]
    assert server.client(client.kind).login(values["username"], PASSWORD).status == 200


def test_an_address_is_not_required(server, client):
    """By default it may be left out, and no mail goes out."""
    values = _values(email="")
    mails = len(server.rows(select(MAIL.c.global_id)))

    answer = client.post(_PATH, values)

    assert answer.status == 200
    assert "email" not in answer.data["user"]
    assert _emails(server, values["username"]) == []
    assert len(server.rows(select(MAIL.c.global_id))) == mails


def test_values_are_cleaned(server, client):
    """Blanks around go, an address is kept in lower case, a username in its own."""
    values = _values()
    name = f"Ada.{values['username']}"

    answer = client.post(
        _PATH, {"username": f" {name} ", "email": f" {values['email'].upper()}", "password": f" {PASSWORD} "}
    )

    assert answer.status == 200
    assert answer.data["user"]["username"] == name
    assert _emails(server, name) == [(values["email"], False, True)]
    assert server.client(client.kind).login(name, PASSWORD).status == 200


def test_members_that_are_not_asked_for_do_not_exist(server, client):
    """Nobody gives themselves rights, a phone number, or an id."""
    values = _values(phone="nonsense", is_staff=True, is_superuser=True, id=1, password2="another")

    assert client.post(_PATH, values).status == 200
    row = server.user_row(values["username"])
    assert (row.is_staff, row.is_superuser) == (False, False)
    assert server.rows(select(PHONES)) == []


@pytest.mark.parametrize(
    ("change", "errors"),
    [
        pytest.param(
            {"username": None, "password": None}, [("required", "username"), ("required", "password")], id="nothing"
        ),
        pytest.param({"username": " "}, [("required", "username")], id="blank username"),
        pytest.param({"username": "a b"}, [("invalid", "username")], id="blank within"),
        pytest.param({"username": "a\0b"}, [("invalid", "username")], id="null character"),
        pytest.param({"username": "a" * 151}, [("max_length", "username")], id="long username"),
        pytest.param({"username": ["a"]}, [("invalid", "username")], id="a list"),
        pytest.param({"username": "other@example.org"}, [("invalid", "username")], id="address of others as username"),
        pytest.param({"email": "nonsense"}, [("invalid", "email")], id="malformed address"),
        pytest.param(
            {"email": f"a@{'b' * 60}.{'c' * 60}.{'d' * 60}.{'e' * 60}.{'f' * 60}.org"},
            [("max_length", "email")],
            id="long address",
        ),
        pytest.param({"password": "short"}, [("password_too_short", "password")], id="short password"),
        pytest.param({"password": "iloveyou1"}, [("password_too_common", "password")], id="common password"),
        pytest.param({"password": "73915528046"}, [("password_entirely_numeric", "password")], id="digits"),
        pytest.param(
            {"password": 1234},
            [
                ("password_too_short", "password"),
                ("password_too_common", "password"),
                ("password_entirely_numeric", "password"),
            ],
            id="a number",
        ),
        pytest.param(
            {"password": "a\0bcdefghij"}, [("null_characters_not_allowed", "password")], id="null in password"
        ),
        pytest.param(
            {"username": "a b", "email": "x", "password": "short"},
            [("invalid", "username"), ("invalid", "email"), ("password_too_short", "password")],
            id="all wrong",
        ),
    ],
)
def test_wrong_input_is_refused(server, client, change, errors):
    """All that is wrong is named, in the order of the members, and no account is made."""
    before = _count(server)

    answer = client.post(_PATH, {**_values(), **change})

    assert answer.status == 400
    assert answer.errors == errors
    assert _count(server) == before
    assert client.get("/auth/session").status == 401


def test_a_password_like_the_own_name_is_not_noticed(server, client):
    """There is nobody yet whom it could resemble."""
    values = _values()

    assert client.post(_PATH, {**values, "password": f"{values['username']}!"}).status == 200
    assert server.user_row(values["username"]).password_hash


@pytest.mark.parametrize("spelling", [str, str.upper, lambda name: name.replace("n", "\uff4e", 1)])
def test_a_username_is_taken_in_every_spelling(server, client, spelling):
    """Case does not count, nor do letters that look the same."""
    values = _values()
    server.new_user(values["username"])
    before = _count(server)

    answer = client.post(_PATH, {**values, "username": spelling(values["username"])})

    assert (answer.status, answer.errors) == (400, [("username_taken", "username")])
    assert _count(server) == before


def test_an_address_is_taken_in_every_spelling(server, client):
    """Where it need not be verified first, uniqueness wins over secrecy."""
    values = _values()
    server.new_user(f"has-{values['username']}", email=values["email"])
    before = _count(server)

    answer = client.post(_PATH, {**values, "email": values["email"].upper()})

    assert (answer.status, answer.errors) == (400, [("email_taken", "email")])
    assert _count(server) == before


def test_the_own_address_may_be_the_username(server, client):
    """Only that of others may not."""
    values = _values()

    assert client.post(_PATH, {**values, "username": values["email"]}).status == 200
    assert server.client(client.kind).login(values["email"], PASSWORD).status == 200


def test_whoever_is_signed_in_cannot_sign_up(server, client):
    """409 after good input, 400 after bad."""
    client.post(_PATH, _values())
    before = _count(server)

    answer = client.post(_PATH, _values())

    assert (answer.status, answer.body) == (409, {"status": 409})
    assert client.post(_PATH, {}).status == 400
    assert _count(server) == before


def test_a_closed_host_takes_nobody(server_with):
    """403 after good input, 400 after bad; the flow is not offered."""
    server = server_with(login_enable_reg="false")
    for client in (server.browser(), server.app()):
        answer = client.post(_PATH, _values())

        assert (answer.status, answer.body) == (403, {"status": 403})
        assert client.post(_PATH, {}).errors == [("required", "username"), ("required", "password")]
        assert "signup" not in client.get("/auth/session").flows
        assert _count(server) == 0


def test_sign_ups_are_limited(server_with):
    """The 21st within a minute is refused, whatever it says."""
    server = server_with(account_rate_limits='{"login": null}')
    app = server.app()
    statuses = [app.post(_PATH, {}).status for _ in range(20)]

    refused = app.post(_PATH, _values())

    assert statuses == [400] * 20
    assert (refused.status, refused.body) == (429, {"status": 429})
    assert _count(server) == 0
    server.clock.forward(61)
    assert app.post(_PATH, _values()).status == 200


def test_the_rules_for_usernames_are_options(server_with):
    """A shortest length, and names that nobody may take, in any spelling."""
    server = server_with(**_RULES)
    before = _count(server)
    app = server.app()

    short = app.post(_PATH, _values(username="four"))
    forbidden = app.post(_PATH, _values(username="DAEMON"))

    assert short.errors == [("min_length", "username")]
    assert forbidden.errors == [("username_blacklisted", "username")]
    assert _count(server) == before


def test_only_some_domains_may_sign_up(server_with):
    """With that option an address is needed, of one of them; it must be all of the domain."""
    server = server_with(**_RULES)
    before = _count(server)
    app = server.app()

    for address, errors in {
        "": [("required", "email")],
        "a@evil.org": [("invalid", "email")],
        "a@sub.example.org": [("invalid", "email")],
        "a@notexample.org": [("invalid", "email")],
    }.items():
        assert app.post(_PATH, _values(email=address)).errors == errors
    assert _count(server) == before
    assert app.post(_PATH, _values(email="a@WORKS.example")).status == 200


def test_new_accounts_join_the_configured_group(server_with):
    """A group that does not exist keeps nobody out."""
    server = server_with(**_RULES)
    early = _values()
    assert server.app().post(_PATH, early).status == 200
    server.host.groups.create("Members")
    values = _values()

    assert server.app().post(_PATH, values).status == 200

    rows = server.rows(select(MEMBERSHIPS.c.user_id).join(GROUPS).where(GROUPS.c.name == "Members"))
    assert [row.user_id for row in rows] == [server.user_row(values["username"]).id]


def test_the_members_are_an_option(server_with):
    """Without a username one is made from the address; without a password the account has none."""
    server = server_with(account_signup_fields="email*,password", account_login_methods="email")
    app, values = server.app(), _values()
    server.new_user(values["username"])

    missing = app.post(_PATH, {"username": "ignored"})
    answer = app.post(_PATH, {"email": values["email"], "username": "ignored"})

    assert missing.errors == [("required", "email")]
    assert answer.status == 200
    name = answer.data["user"]["username"]
    assert name.startswith(values["username"])
    assert name != values["username"]
    assert answer.data["user"]["has_usable_password"] is False
    assert server.user_row(name).password_hash is None


def test_without_secrecy_a_taken_address_is_told(server_with):
    """Also where an address has to be verified first."""
    server = server_with(**_TELLING)
    values = _values()
    server.new_user("owner", email=values["email"])
    before = _count(server)

    answer = server.app().post(_PATH, values)

    assert answer.errors == [("email_taken", "email")]
    assert _count(server) == before


def test_in_strict_mode_nobody_learns_of_an_address(server_with):
    """Two accounts may claim it, and only one will be able to prove it."""
    server = server_with(account_prevent_enumeration="strict")
    values = _values()
    server.new_user("owner", email=values["email"])

    answer = server.app().post(_PATH, values)

    assert answer.status == 200
    assert _emails(server, values["username"]) == [(values["email"], False, True)]
    assert server.app().post(_PATH, _values(username=values["email"])).errors == [("invalid", "username")]


def test_where_addresses_are_not_verified_nobody_is_asked_to(server_with):
    """The account is there at once, and no mail goes out."""
    server = server_with(**_WITHOUT)
    values = _values()

    assert server.app().post(_PATH, values).status == 200
    assert _templates(server, values["email"]) == []


@pytest.mark.parametrize("by_code", ["true", "false"])
def test_a_taken_address_looks_like_a_new_one(server_with, by_code, monkeypatch):
    """Same status, body and work; no account is made, and the owner is told by mail."""
    server = server_with(account_email_verification="mandatory", account_email_verification_by_code_enabled=by_code)
    hashed = []
    hash_one = Passwords.hash

    def counted(self, password):
        hashed.append(1)
        return hash_one(self, password)

    monkeypatch.setattr(Passwords, "hash", counted)
    for kind in ("browser", "app"):
        fresh, taken = _values(), _values()
        server.new_user(f"owner-{kind}", email=taken["email"])
        hashed.clear()
        before = _count(server)

        first = server.client(kind).post(_PATH, fresh)
        client = server.client(kind)
        second = client.post(_PATH, taken)

        assert (first.status, first.pending) == (second.status, second.pending) == (401, ["verify_email"])
        assert first.data == second.data
        assert set(first.meta) == set(second.meta)
        assert len(hashed) == 2
        assert _count(server) == before + 1
        assert _templates(server, taken["email"]) == ["account_already_exists"]
        assert "/web/reset-password" in server.mailbox.text(taken["email"])
        assert _templates(server, fresh["email"]) == ["email_verification"]
        assert client.get("/auth/session").pending == ["verify_email"]
        waiting = server.rows(select(PENDING).where(PENDING.c.user_id.is_(None)))
        assert {row.stage for row in waiting} == {"verify_email"}


@pytest.fixture
def phones(server_with):
    """A host that asks for a phone number."""
    return server_with(account_signup_fields="username*,email,phone*,password*", account_email_verification="mandatory")


@pytest.mark.parametrize(
    ("phone", "code"),
    [("", "required"), ("0163 2960123", "invalid_phone"), ("+44-163", "invalid_phone"), ([1], "invalid_phone")],
)
def test_a_number_is_needed_where_it_is_asked_for(phones, phone, code):
    """It stands in the form that the whole world knows."""
    before = _count(phones)

    answer = phones.app().post(_PATH, _values(phone=phone))

    assert (answer.status, answer.errors) == (400, [(code, "phone")])
    assert _count(phones) == before


def test_a_number_has_to_be_verified_first(phones):
    """The account is there, and its first login waits."""
    for number, client in enumerate((phones.browser(), phones.app())):
        values = _values(phone=f"+4416329601{number:02}")

        answer = client.post(_PATH, values)

        assert (answer.status, answer.pending) == (401, ["verify_phone"])
        user_id = phones.user_row(values["username"]).id
        [row] = phones.rows(select(PHONES).where(PHONES.c.user_id == user_id))
        assert (row.phone, row.verified) == (values["phone"], False)
        assert phones.rows(select(SESSIONS).where(SESSIONS.c.user_id == user_id)) == []


def test_a_taken_number_looks_like_a_new_one(phones):
    """The account is made, and waits for ever; the number stays with whoever proved it."""
    owner, app = phones.new_user("has-number"), phones.app()
    row = {"user_id": owner.id, "phone": "+441632960199", "verified": True, "created": phones.clock()}
    with phones.host.database.write() as session:
        session.connection().execute(PHONES.insert().values(**row))
    fresh = phones.app().post(_PATH, _values(phone="+441632960198"))
    values = _values(phone="+441632960199")

    answer = app.post(_PATH, values)

    assert (answer.status, answer.data) == (fresh.status, fresh.data)
    assert answer.pending == app.get("/auth/session").pending == ["verify_phone"]
    claims = phones.rows(select(PHONES.c.user_id, PHONES.c.verified).where(PHONES.c.phone == "+441632960199"))
    assert sorted(claims) == [(owner.id, True), (phones.user_row(values["username"]).id, False)]


def test_without_secrecy_a_taken_number_is_told(server_with):
    """Where enumeration is no concern, no account is made for nothing."""
    server = server_with(**_TELLING)
    owner = server.new_user("has-number")
    row = {"user_id": owner.id, "phone": "+441632960199", "verified": True, "created": server.clock()}
    with server.host.database.write() as session:
        session.connection().execute(PHONES.insert().values(**row))
    before = _count(server)

    answer = server.app().post(_PATH, _values(phone="+441632960199"))

    assert (answer.status, answer.errors) == (400, [("phone_taken", "phone")])
    assert _count(server) == before


def test_without_phone_numbers_nobody_is_asked_for_one(server_with):
    """The switch for numbers wins over the list of members."""
    server = server_with(**_WITHOUT)

    assert server.app().post(_PATH, _values(phone="nonsense")).status == 200
    assert server.rows(select(PHONES)) == []


def test_an_address_that_must_be_verified_waits_behind_the_number(phones):
    """An address of somebody else looks like a new one there, too: first the number is asked for."""
    values = _values(phone="+441632960150")
    phones.new_user("owner-of-address", email=values["email"])
    fresh = phones.app().post(_PATH, _values(phone="+441632960151"))
    before = _count(phones)

    answer = phones.app().post(_PATH, values)

    assert (answer.status, answer.data) == (fresh.status, fresh.data)
    assert answer.pending == ["verify_phone"]
    assert _templates(phones, values["email"]) == []
    assert _count(phones) == before
