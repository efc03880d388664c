"""E-mail addresses of accounts: proved, claimed, primary, removed."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from host.accounts.account import Account
from host.accounts.administrators import ensure_administrator
from host.accounts.emails import addresses
from host.accounts.emails.addresses import EmailAddress
from host.accounts.emails.links import EmailLinks
from host.accounts.problems import RefusedValuesError
from host.accounts.seals import Seals
from host.accounts.users import Users
from host.config.accounts import AccountOptions
from host.errors import NotFoundError
from host.storage.engine import Database


def options_of(**values: object) -> AccountOptions:
    return AccountOptions.model_validate(values)


PLAIN = options_of()
REPLACING = options_of(account_change_email=True, account_max_email_addresses=1)


@pytest.fixture
def lite(sqlite_database: Database, passwords) -> Users:
    """Users of a database of one kind, where the other adds nothing."""
    return Users(sqlite_database, passwords)


@pytest.fixture
def person(lite: Users) -> Callable[..., Account]:
    def make(username: str = "ada", email: str = "", *, verified: bool = False, active: bool = True) -> Account:
        values = {"username": username, "email": email}
        return lite.create(values, flags={"is_active": active}, verified=verified)

    return make


def stored(database: Database, user_id: int) -> list[str]:
    """Show the rows of an account: ``*`` is primary, ``!`` verified."""
    with database.read() as connection:
        return [_shown(one) for one in addresses.list_of(connection, user_id)]


def _shown(one: EmailAddress) -> str:
    return f"{one.email}{'*' if one.primary else ''}{'!' if one.verified else ''}"


def do(database: Database, function: Callable[..., Any], *arguments, **named):
    with database.write() as session:
        return function(session.connection(), *arguments, **named)


def wide(text: str) -> str:
    """Return the full-width letters that look like a text."""
    return "".join(chr(ord(sign) + 0xFEE0) for sign in text)


def codes(caught: pytest.ExceptionInfo[RefusedValuesError]) -> dict[str, list[str]]:
    return {member: [one.code for one in found] for member, found in caught.value.problems.items()}


def add(database: Database, account: Account, *added: str, options: AccountOptions = PLAIN) -> None:
    for address in added:
        do(database, addresses.add, account.id, address.rstrip("!"), options)
        if address.endswith("!"):
            do(database, addresses.mark_verified, account.id, address.rstrip("!"), options)


# -- new accounts ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("verified", "row"), [(False, "ada@example.org*"), (True, "ada@example.org*!")])
def test_a_new_account_has_its_address(sqlite_database, lite, verified, row):
    """The address is primary at once; whether it needs proof is said by whoever makes the account."""
    account = lite.create({"username": "ada", "email": "Ada@Example.org"}, verified=verified)

    assert stored(sqlite_database, account.id) == [row]
    assert lite.get(account.id).email == "ada@example.org"


def test_no_account_is_made_with_an_address_that_another_has_proved(database, users):
    """Claiming it is allowed, having it verified is not; the name in the address confuses no message."""
    address = "username_folded@example.org"
    users.create({"username": "ada", "email": address}, verified=True)

    with pytest.raises(RefusedValuesError) as caught:
        users.create({"username": "eve", "email": address}, verified=True)
    assert codes(caught) == {"email": ["email_taken"]}
    assert not users.has_username("eve")

    claiming = users.create({"username": "eve", "email": address})
    assert stored(database, claiming.id) == [f"{address}*"]


def test_the_first_administrator_has_an_address(sqlite_database, passwords):
    made = ensure_administrator(sqlite_database, passwords, "admin", email="admin@example.org")

    assert made is not None
    assert stored(sqlite_database, made.account.id) == ["admin@example.org*"]


def test_a_changed_mail_field_becomes_the_first_address(sqlite_database, lite, person):
    """Later changes of the mail field leave the addresses alone: new ones are proved first."""
    account = person()
    lite.change_own(account.id, {"email": "ada@example.org"})
    assert stored(sqlite_database, account.id) == ["ada@example.org*"]

    lite.change_own(account.id, {"email": "other@example.org"})
    assert stored(sqlite_database, account.id) == ["ada@example.org*"]
    assert lite.get(account.id).email == "other@example.org"


def test_a_proved_address_is_nobody_elses_username(sqlite_database, lite, person):
    """Unproved ones beside the mail field block no name."""
    account = person()
    add(sqlite_database, account, "a@example.org!", "b@example.org!", "c@example.org")

    with pytest.raises(RefusedValuesError) as caught:
        person("B@example.org")
    assert codes(caught) == {"username": ["username_taken"]}
    assert person("c@example.org").username == "c@example.org"
    assert lite.change_own(account.id, {"username": "b@example.org"}).username == "b@example.org"


def test_the_addresses_go_with_the_account(sqlite_database, lite):
    account = lite.create({"username": "ada", "email": "ada@example.org"}, verified=True)

    lite.delete(account.id)

    assert stored(sqlite_database, account.id) == []
    with pytest.raises(NotFoundError):
        do(sqlite_database, addresses.add, account.id, "b@example.org", PLAIN)


# -- add ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("typed", ["New@Example.ORG ", wide("new@example.org"), "new@example.org"])
def test_an_address_is_added_unproved(sqlite_database, person, typed):
    """However its letters are written, it is kept in one form and neither verified nor primary."""
    account = person(email="ada@example.org")

    added = do(sqlite_database, addresses.add, account.id, typed, PLAIN)

    assert added.show() == {"email": "new@example.org", "verified": False, "primary": False}
    assert stored(sqlite_database, account.id) == ["ada@example.org*", "new@example.org"]
    with sqlite_database.read() as connection:
        assert addresses.find(connection, account.id, typed) == added


@pytest.mark.parametrize(
    ("typed", "code"),
    [
        pytest.param(" ", "required", id="empty"),
        pytest.param("nowhere", "invalid", id="malformed"),
        pytest.param("a@" + "x." * 130 + "org", "max_length", id="too long"),
        pytest.param("ADA@example.org", "duplicate_email", id="own in another case"),
        pytest.param(f"{wide('ada')}@example.org", "duplicate_email", id="own with full-width letters"),
        pytest.param("third@example.org", "max_email_addresses", id="one too many"),
    ],
)
def test_an_address_that_cannot_be_added(sqlite_database, person, typed, code):
    """The reason stands under the member; nothing is stored."""
    account = person(email="ada@example.org")
    add(sqlite_database, account, "second@example.org")

    with pytest.raises(RefusedValuesError) as caught:
        add(sqlite_database, account, typed, options=options_of(account_max_email_addresses=2))

    assert codes(caught) == {"email": [code]}
    assert stored(sqlite_database, account.id) == ["ada@example.org*", "second@example.org"]


@pytest.mark.parametrize(("prevent", "taken"), [("true", False), ("strict", False), ("false", True)])
def test_a_foreign_address_is_told_only_where_enumeration_is_allowed(sqlite_database, person, prevent, taken):
    """Where it is accepted, it can still not be verified."""
    person("eve", "eve@example.org", verified=True)
    account = person()
    options = options_of(account_prevent_enumeration=prevent)

    if taken:
        with pytest.raises(RefusedValuesError) as caught:
            add(sqlite_database, account, "eve@example.org", options=options)
        assert codes(caught) == {"email": ["email_taken"]}
        return
    add(sqlite_database, account, "eve@example.org", options=options)
    with pytest.raises(RefusedValuesError) as caught:
        do(sqlite_database, addresses.mark_verified, account.id, "eve@example.org", options, member="key")
    assert codes(caught) == {"key": ["email_taken"]}
    assert stored(sqlite_database, account.id) == ["eve@example.org"]


def test_a_second_factor_can_block_new_addresses(sqlite_database, person):
    account = person(email="ada@example.org")

    with pytest.raises(RefusedValuesError) as caught:
        do(sqlite_database, addresses.add, account.id, "new@example.org", PLAIN, blocked=True)

    assert codes(caught) == {"email": ["add_email_blocked"]}
    assert stored(sqlite_database, account.id) == ["ada@example.org*"]


def test_a_replacing_address_waits_alone(sqlite_database, person):
    """Where a new address replaces the old one, one waits at a time, whatever the limit; the old one stays."""
    account = person(email="ada@example.org", verified=True)

    add(sqlite_database, account, "b@example.org", "c@example.org", options=REPLACING)

    assert stored(sqlite_database, account.id) == ["ada@example.org*!", "c@example.org"]


# -- verify ---------------------------------------------------------------------------------------------------------


def test_the_first_proved_address_becomes_primary(sqlite_database, lite):
    """Only where there is no primary one; the mail field follows."""
    account = lite.create({"username": "ada"})
    add(sqlite_database, account, "a@example.org", "b@example.org", "c@example.org")

    first = do(sqlite_database, addresses.mark_verified, account.id, "B@example.org", PLAIN)
    second = do(sqlite_database, addresses.mark_verified, account.id, "c@example.org", PLAIN)
    again = do(sqlite_database, addresses.mark_verified, account.id, "b@example.org", PLAIN)

    assert (first.newly, first.became_primary, _shown(first.address)) == (True, True, "b@example.org*!")
    assert (second.newly, second.became_primary, _shown(second.address)) == (True, False, "c@example.org!")
    assert (again.newly, again.replaced) == (False, ())
    assert stored(sqlite_database, account.id) == ["a@example.org", "b@example.org*!", "c@example.org!"]
    assert lite.get(account.id).email == "b@example.org"


def test_an_address_proved_by_code_is_stored_only_then(sqlite_database, person):
    """An address that the account does not have yet is added; the moment of it is the caller's."""
    account = person(email="ada@example.org")
    moment = datetime(2030, 1, 1, tzinfo=UTC)

    done = do(sqlite_database, addresses.mark_verified, account.id, "New@example.org", PLAIN, moment=moment)

    assert done.address.created == moment
    assert stored(sqlite_database, account.id) == ["ada@example.org*", "new@example.org!"]


def test_a_replacing_address_takes_the_place_of_all_others(database, users):
    """It is primary, stands in the mail field, and the caller learns what went."""
    account = users.create({"username": "ada", "email": "ada@example.org"}, verified=True)
    add(database, account, "b@example.org!")
    add(database, account, "new@example.org", options=REPLACING)

    done = do(database, addresses.mark_verified, account.id, "new@example.org", REPLACING)

    assert (done.became_primary, done.replaced) == (True, ("ada@example.org", "b@example.org"))
    assert stored(database, account.id) == ["new@example.org*!"]
    assert users.get(account.id).email == "new@example.org"


def test_of_many_who_prove_an_address_at_once_one_gets_it(database, users):
    """The others are told that it is taken, and their rows stay unverified."""
    accounts = [users.create({"username": f"user{number}", "email": "shared@example.org"}) for number in range(8)]

    def prove(account: Account) -> str:
        try:
            return str(do(database, addresses.mark_verified, account.id, "shared@example.org", PLAIN).newly)
        except RefusedValuesError as refused:
            return refused.problems["email"][0].code

    with ThreadPoolExecutor(8) as pool:
        assert sorted(pool.map(prove, accounts)) == ["True"] + ["email_taken"] * 7
    rows = [row for account in accounts for row in stored(database, account.id)]
    assert sorted(rows) == ["shared@example.org*"] * 7 + ["shared@example.org*!"]


# -- primary and removal --------------------------------------------------------------------------------------------


def test_a_proved_address_can_become_primary(database, users):
    """The caller learns the former one; the mail field follows."""
    account = users.create({"username": "ada", "email": "ada@example.org"})
    add(database, account, "b@example.org!")

    change = do(database, addresses.make_primary, account.id, "B@example.org")
    again = do(database, addresses.make_primary, account.id, "b@example.org")

    assert (change.changed, change.former, again.changed) == (True, "ada@example.org", False)
    assert stored(database, account.id) == ["ada@example.org", "b@example.org*!"]
    assert users.get(account.id).email == "b@example.org"


@pytest.mark.parametrize(
    ("typed", "code"),
    [
        ("", "required"),
        ("nowhere", "invalid"),
        ("x@example.org", "unknown_email"),
        ("eve@example.org", "unknown_email"),
        ("b@example.org", "unverified_primary_email"),
    ],
)
def test_an_address_that_cannot_become_primary(sqlite_database, person, typed, code):
    """Unknown, foreign and unproved ones are refused, even where no address is proved."""
    person("eve", "eve@example.org", verified=True)
    account = person(email="ada@example.org")
    add(sqlite_database, account, "b@example.org")

    with pytest.raises(RefusedValuesError) as caught:
        do(sqlite_database, addresses.make_primary, account.id, typed)

    assert codes(caught) == {"email": [code]}
    assert stored(sqlite_database, account.id) == ["ada@example.org*", "b@example.org"]


@pytest.mark.parametrize(
    ("present", "typed", "methods", "outcome"),
    [
        pytest.param(["b@example.org!"], "B@Example.org", ("username",), ["ada@example.org*!"], id="another one"),
        pytest.param(["b@example.org!"], "ada@example.org", ("username",), "cannot_remove_primary_email", id="primary"),
        pytest.param([], "ada@example.org", ("username", "email"), [], id="the only one"),
        pytest.param([], "ada@example.org", ("email",), "cannot_remove_primary_email", id="needed to sign in"),
        pytest.param([], "b@example.org", ("username",), "unknown_email", id="unknown"),
        pytest.param([], "b", ("username",), "invalid", id="malformed"),
    ],
)
def test_removal(sqlite_database, lite, person, present, typed, methods, outcome):
    """The primary address stays while there are others, and the last one where nobody could sign in without it."""
    account = person(email="ada@example.org", verified=True)
    add(sqlite_database, account, *present)
    options = options_of(account_login_methods=methods)
    before = stored(sqlite_database, account.id)

    if isinstance(outcome, str):
        with pytest.raises(RefusedValuesError) as caught:
            do(sqlite_database, addresses.remove, account.id, typed, options)
        assert codes(caught) == {"email": [outcome]}
        assert stored(sqlite_database, account.id) == before
    else:
        removed = do(sqlite_database, addresses.remove, account.id, typed, options)
        assert removed.email == typed.lower()
        assert stored(sqlite_database, account.id) == outcome
    assert lite.get(account.id).email == ("ada@example.org" if stored(sqlite_database, account.id) else "")


# -- owners ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("claims", "any_owner", "active_owner"),
    [
        pytest.param({}, None, None, id="nobody"),
        pytest.param({"a": "claims"}, "a", "a", id="one claims it"),
        pytest.param({"a": "claims", "b": "verified"}, "b", "b", id="proof wins"),
        pytest.param({"a": "claims", "b": "primary"}, "b", "b", id="primary wins"),
        pytest.param({"a": "claims", "b": "claims"}, None, None, id="two claim it"),
        pytest.param({"a": "primary", "b": "primary"}, None, None, id="primary of two"),
        pytest.param({"a": "primary off", "b": "claims"}, "b", "b", id="the active one"),
        pytest.param({"a": "primary off"}, "a", None, id="switched off"),
        pytest.param({"a": "verified off", "b": "claims"}, "a", None, id="proved and switched off"),
        pytest.param({"a": "field"}, "a", "a", id="mail field"),
        pytest.param({"a": "field", "b": "claims"}, "b", "b", id="a claim wins over a mail field"),
        pytest.param({"a": "field", "b": "field"}, None, None, id="two mail fields"),
    ],
)
def test_whose_an_address_is(sqlite_database, lite, person, claims, any_owner, active_owner):
    """Proof counts first, then who alone comes closest; accounts that are switched off only where they may."""
    names: dict[int | None, str | None] = {None: None}
    for name, claim in claims.items():
        kind, _, state = claim.partition(" ")
        account = person(name, "" if kind == "claims" else "x@example.org", verified=kind == "verified")
        names[account.id] = name
        if kind == "claims":
            add(sqlite_database, account, "x@example.org")
        elif kind == "field":
            do(sqlite_database, addresses.remove, account.id, "x@example.org", PLAIN)
            add(sqlite_database, account, f"{name}@example.org")
            lite.change_own(account.id, {"email": "x@example.org"})
        if state == "off":
            lite.deactivate(account.id)

    with sqlite_database.read() as connection:
        found = [addresses.owner_for_login(connection, "X@example.org", active_only=only) for only in (False, True)]
        assert addresses.is_known(connection, "X@example.org") is bool(claims)
        assert addresses.owner_for_login(connection, " ") is None
    assert [names[one] for one in found] == [any_owner, active_owner]


# -- links ----------------------------------------------------------------------------------------------------------


class Clock:
    def __init__(self) -> None:
        self.moment = datetime(2030, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.moment


@pytest.fixture
def calendar() -> Clock:
    return Clock()


@pytest.fixture
def links(calendar: Clock) -> EmailLinks:
    return EmailLinks(Seals("secret", clock=calendar), days=3)


def read(database: Database, links: EmailLinks, key: str) -> EmailAddress | None:
    with database.read() as connection:
        return links.read(connection, key)


def test_a_link_proves_its_address_until_it_is_proved(sqlite_database, person, links):
    """The key names no address; it is good for the one it was made for, once."""
    account = person(email="ada@example.org")
    with sqlite_database.read() as connection:
        (address,) = addresses.list_of(connection, account.id)
    key = links.key(address)

    assert "ada" not in key
    assert read(sqlite_database, links, key) == address
    do(sqlite_database, addresses.mark_verified, account.id, "ada@example.org", PLAIN)
    assert read(sqlite_database, links, key) is None


@pytest.mark.parametrize(("days", "is_good"), [(0, True), (3, True), (3.001, False)])
def test_a_link_lives_for_some_days(sqlite_database, person, links, calendar, days, is_good):
    account = person(email="ada@example.org")
    with sqlite_database.read() as connection:
        (address,) = addresses.list_of(connection, account.id)
    key = links.key(address)

    calendar.moment += timedelta(days=days)

    assert (read(sqlite_database, links, key) is not None) is is_good


@pytest.mark.parametrize("change", ["forged", "other secret", "other purpose", "empty", "é"])
def test_a_key_that_was_not_made_here_proves_nothing(sqlite_database, person, links, calendar, change):
    account = person(email="ada@example.org")
    with sqlite_database.read() as connection:
        (address,) = addresses.list_of(connection, account.id)
    key = {
        "forged": "x" + links.key(address),
        "other secret": EmailLinks(Seals("another", clock=calendar), days=3).key(address),
        "other purpose": Seals("secret", clock=calendar).sign("password-reset", "1.x"),
        "empty": "",
        "é": "é",
    }[change]

    assert read(sqlite_database, links, key) is None


def test_a_key_does_not_serve_a_row_that_came_later(sqlite_database, person, links):
    """Databases use the number of a removed row again."""
    account = person(email="ada@example.org")
    with sqlite_database.read() as connection:
        (address,) = addresses.list_of(connection, account.id)
    do(sqlite_database, addresses.remove, account.id, "ada@example.org", PLAIN)
    added = do(sqlite_database, addresses.add, account.id, "eve@example.org", PLAIN)

    assert added.id == address.id
    assert read(sqlite_database, links, links.key(address)) is None
