"""Phone numbers of accounts."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from host.accounts.account import Account
from host.accounts.phones import numbers
from host.accounts.problems import RefusedValuesError
from host.accounts.users import Users
from host.errors import NotFoundError
from host.storage.engine import Database

NUMBER = "+441632960123"
OTHER = "+441632960124"
FULL_WIDTH = "".join(chr(ord(digit) + 0xFEE0) for digit in "441632960123")


@pytest.fixture
def lite(sqlite_database: Database, passwords) -> Users:
    """Users of a database of one kind, where the other adds nothing."""
    return Users(sqlite_database, passwords)


def do(database: Database, function: Callable[..., Any], *arguments, **named):
    with database.write() as session:
        return function(session.connection(), *arguments, **named)


def stored(database: Database, user_id: int) -> list[dict[str, Any]]:
    with database.read() as connection:
        return [one.show() for one in numbers.list_of(connection, user_id)]


def codes(caught: pytest.ExceptionInfo[RefusedValuesError]) -> dict[str, list[str]]:
    return {member: [one.code for one in found] for member, found in caught.value.problems.items()}


@pytest.mark.parametrize("number", [NUMBER, "+123456", "+123456789012345"])
def test_numbers_in_the_international_form_are_accepted(number):
    assert numbers.phone_problems(numbers.clean_phone(f" {number} ")) == []


@pytest.mark.parametrize(
    "number",
    [
        *("441632960123", "+0441632960", "+12345", "+1234567890123456", "+44 1632 960123", "+44-1632-960123"),
        *(f"+{FULL_WIDTH}", "+44163296012x", "++441632960123", "+441632960123\n+1", "tel:+441632960123"),
    ],
)
def test_everything_else_is_refused(sqlite_database, lite, number):
    """Blanks, dashes, other digits, too few and too many; nothing is stored."""
    account = lite.create({"username": "ada"})

    with pytest.raises(RefusedValuesError) as caught:
        do(sqlite_database, numbers.set_phone, account.id, number)

    assert codes(caught) == {"phone": ["invalid_phone"]}
    assert stored(sqlite_database, account.id) == []


def test_an_account_has_one_number(database, users):
    """A new one takes the place of the old one, proved or not."""
    account = users.create({"username": "ada"})

    set_first = do(database, numbers.set_phone, account.id, NUMBER)
    set_again = do(database, numbers.set_phone, account.id, NUMBER)
    assert set_first.show() == set_again.show() == {"phone": NUMBER, "verified": False}
    assert stored(database, account.id) == [{"phone": NUMBER, "verified": False}]

    assert do(database, numbers.mark_verified, account.id, NUMBER).verified
    assert do(database, numbers.mark_verified, account.id, NUMBER).verified
    assert stored(database, account.id) == [{"phone": NUMBER, "verified": True}]

    do(database, numbers.mark_verified, account.id, OTHER)
    assert stored(database, account.id) == [{"phone": OTHER, "verified": True}]

    assert do(database, numbers.remove, account.id).phone == OTHER
    assert do(database, numbers.remove, account.id) is None
    assert stored(database, account.id) == []


@pytest.mark.parametrize(("typed", "code"), [(" ", "required"), (NUMBER, "same_as_current"), ("+1", "invalid_phone")])
def test_a_number_that_changes_nothing_is_refused(sqlite_database, lite, typed, code):
    account = lite.create({"username": "ada"})
    do(sqlite_database, numbers.mark_verified, account.id, NUMBER)

    with pytest.raises(RefusedValuesError) as caught:
        do(sqlite_database, numbers.check_new, account.id, typed)

    assert codes(caught) == {"phone": [code]}
    assert stored(sqlite_database, account.id) == [{"phone": NUMBER, "verified": True}]


def test_a_foreign_number_is_accepted_and_never_verified(sqlite_database, lite):
    """Whoever sets it learns only with the right code that it is somebody's; their old number stays."""
    owner, other = (lite.create({"username": name}) for name in ("ada", "eve"))
    do(sqlite_database, numbers.mark_verified, owner.id, NUMBER)
    do(sqlite_database, numbers.mark_verified, other.id, OTHER)

    assert do(sqlite_database, numbers.check_new, other.id, NUMBER) == NUMBER
    with pytest.raises(RefusedValuesError) as caught:
        do(sqlite_database, numbers.mark_verified, other.id, NUMBER)

    assert codes(caught) == {"code": ["phone_taken"]}
    assert stored(sqlite_database, other.id) == [{"phone": OTHER, "verified": True}]
    assert stored(sqlite_database, owner.id) == [{"phone": NUMBER, "verified": True}]


def test_of_many_who_prove_a_number_at_once_one_gets_it(database, users):
    accounts = [users.create({"username": f"user{number}"}) for number in range(8)]
    for account in accounts:
        do(database, numbers.set_phone, account.id, NUMBER)

    def prove(account: Account) -> str:
        try:
            return str(do(database, numbers.mark_verified, account.id, NUMBER).verified)
        except RefusedValuesError as refused:
            return refused.problems["code"][0].code

    with ThreadPoolExecutor(8) as pool:
        assert sorted(pool.map(prove, accounts)) == ["True"] + ["phone_taken"] * 7
    verified = [row["verified"] for account in accounts for row in stored(database, account.id)]
    assert sorted(verified) == [False] * 7 + [True]


@pytest.mark.parametrize(
    ("claims", "any_owner", "active_owner"),
    [
        ({}, None, None),
        ({"a": "claims"}, "a", "a"),
        ({"a": "claims", "b": "verified"}, "b", "b"),
        ({"a": "claims", "b": "claims"}, None, None),
        ({"a": "claims off", "b": "claims"}, "b", "b"),
        ({"a": "claims off"}, "a", None),
        ({"a": "verified off", "b": "claims"}, "a", None),
    ],
)
def test_whose_a_number_is(sqlite_database, lite, claims, any_owner, active_owner):
    """Proof counts first, then who alone claims it; accounts that are switched off only where they are asked for."""
    names: dict[int | None, str | None] = {None: None}
    for name, claim in claims.items():
        account = lite.create({"username": name}, flags={"is_active": not claim.endswith("off")})
        names[account.id] = name
        change = numbers.mark_verified if claim.startswith("verified") else numbers.set_phone
        do(sqlite_database, change, account.id, NUMBER)

    with sqlite_database.read() as connection:
        found = [numbers.owner_for_login(connection, f" {NUMBER}", active_only=only) for only in (False, True)]
        owner = numbers.find_verified(connection, NUMBER)
    assert [names[one] for one in found] == [any_owner, active_owner]
    assert (owner is not None) is ("verified" in " ".join(claims.values()))


def test_the_number_goes_with_the_account(sqlite_database, lite):
    account = lite.create({"username": "ada"})
    do(sqlite_database, numbers.mark_verified, account.id, NUMBER)

    lite.delete(account.id)

    assert stored(sqlite_database, account.id) == []
    with pytest.raises(NotFoundError):
        do(sqlite_database, numbers.set_phone, account.id, NUMBER)
