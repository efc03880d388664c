"""Accounts are made, changed and deleted."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import text

from host.accounts.account import AccountUser
from host.accounts.groups import Groups
from host.accounts.problems import RefusedValuesError
from host.accounts.users import Users
from host.contract.values import User
from host.errors import InvalidInputError, NotFoundError
from host.storage.engine import Database
from tests.accounts.conftest import PASSWORD


def test_an_account_keeps_what_it_was_made_of(users: Users):
    """Case of the username is preserved, the address is lowered, flags default to a plain active account."""
    account = users.create(
        {
            "username": " Ada ",
            "email": "Ada@Example.org",
            "first_name": "Ada",
            "last_name": "Lovelace",
            "is_staff": True,
        },
        password=PASSWORD,
    )

    assert users.get(account.id) == account
    assert (account.username, account.email, account.first_name) == ("Ada", "ada@example.org", "Ada")
    assert (account.is_active, account.is_staff, account.is_superuser) == (True, False, False)
    assert account.has_usable_password
    assert account.created.tzinfo is not None
    assert account.as_user() == User(id=account.id, username="Ada", email="ada@example.org")


def test_everything_wrong_is_named_at_once(users: Users):
    """Each member has its own messages and codes."""
    with pytest.raises(RefusedValuesError) as caught:
        users.create(
            {"username": "a b", "email": "nowhere", "first_name": "x" * 151, "last_name": 7, "group_ids": [999]},
            password="123",
        )

    assert {member: [problem.code for problem in found] for member, found in caught.value.problems.items()} == {
        "username": ["invalid"],
        "email": ["invalid"],
        "first_name": ["max_length"],
        "last_name": ["invalid"],
        "group_ids": ["invalid_choice"],
        "password": ["password_too_short", "password_too_common", "password_entirely_numeric"],
    }
    assert set(caught.value.fields) == set(caught.value.problems)


@pytest.mark.parametrize(
    ("username", "code"),
    [("ADA", "username_taken"), ("\uff21da", "username_taken"), ("rOOt", "username_blacklisted"), ("", "required")],
)
def test_some_usernames_cannot_be_had(users: Users, new_user, username: str, code: str):
    """A taken name is refused in any spelling, so are forbidden and empty ones."""
    new_user("Ada")

    with pytest.raises(RefusedValuesError) as caught:
        users.create({"username": username})
    assert [problem.code for problem in caught.value.problems["username"]] == [code]


def test_a_race_for_a_username_has_one_winner(users: Users):
    """Of many that take the same name at once, one gets it and the others are told that it is taken."""

    def attempt(number: int) -> object:
        try:
            return users.create({"username": "ada" if number % 2 else "ADA"})
        except InvalidInputError as error:
            return error.fields

    with ThreadPoolExecutor(6) as pool:
        results = list(pool.map(attempt, range(6)))

    refused = [result for result in results if isinstance(result, dict)]
    assert len(refused) == 5
    assert all(list(fields) == ["username"] and "taken" in fields["username"][0] for fields in refused)


def test_similarity_can_be_left_aside(users: Users):
    """A password like the username is refused, unless nothing is to be compared."""
    with pytest.raises(RefusedValuesError):
        users.create({"username": "countess"}, password="countess77")

    assert users.create({"username": "countess"}, password="countess77", compare=False).has_usable_password


def test_people_change_their_own_data_but_not_their_rights(users: Users, new_user):
    """Names, address and username change; flags and groups are ignored."""
    account = new_user("ada", is_superuser=True)

    changed = users.change_own(
        account.id,
        {"username": "Ada", "email": "A@B.example", "last_name": "King", "is_superuser": False, "group_ids": [1]},
    )

    assert (changed.username, changed.email, changed.last_name) == ("Ada", "a@b.example", "King")
    assert changed.is_superuser
    assert changed.groups == ()


def test_a_complete_change_needs_a_username(users: Users, new_user):
    """A replacement without username is refused, a partial change is not."""
    account = new_user()

    with pytest.raises(RefusedValuesError) as caught:
        users.change_own(account.id, {"first_name": "Ada"}, complete=True)
    assert list(caught.value.fields) == ["username"]
    assert users.change_own(account.id, {"first_name": "Ada"}).first_name == "Ada"
    assert users.change_own(account.id, {}).first_name == "Ada"


def test_a_change_cannot_take_a_name(users: Users, new_user):
    """Somebody else's username is refused, one's own in another case is not."""
    new_user("ada")
    other = new_user("bob")

    with pytest.raises(RefusedValuesError, match="taken"):
        users.change_own(other.id, {"username": "Ada"})
    assert users.change_own(other.id, {"username": "BOB"}).username == "BOB"


def test_nobody_takes_the_address_of_another_as_a_name(users: Users, new_user):
    """Whoever signs in with an e-mail address is not shadowed by an account of that name; one's own is fine."""
    new_user("ann", email="ann@example.org")
    eve = new_user("eve", email="eve@example.org")

    with pytest.raises(RefusedValuesError) as refused:
        users.change_own(eve.id, {"username": "Ann@Example.org"})

    assert refused.value.problems["username"][0].code == "username_taken"
    assert users.change_own(eve.id, {"username": "eve@example.org"}).username == "eve@example.org"


def test_administrators_change_flags_and_groups(users: Users, groups: Groups, new_user):
    """Flags and groups change together; what is no flag or no group is refused."""
    group = groups.create("Workshop")
    account = new_user()

    changed = users.change(account.id, {"is_staff": True, "group_ids": [group.pk, group.pk]})

    assert changed.is_staff
    assert changed.groups == (group,)
    with pytest.raises(RefusedValuesError) as caught:
        users.change(account.id, {"is_staff": "yes", "group_ids": ["1"]})
    assert set(caught.value.fields) == {"is_staff", "group_ids"}
    assert users.change(account.id, {"group_ids": []}).groups == ()


def test_an_administrator_is_always_left(users: Users, new_user):
    """The last active superuser can be neither switched off, demoted nor deleted; the last but one can."""
    first, second = new_user("ada", is_superuser=True), new_user("bob", is_superuser=True)
    users.change(second.id, {"is_superuser": False})

    for attempt in (
        lambda: users.deactivate(first.id),
        lambda: users.change(first.id, {"is_superuser": False}),
        lambda: users.delete(first.id),
    ):
        with pytest.raises(InvalidInputError, match="last active superuser"):
            attempt()
    assert users.get(first.id).is_superuser
    users.delete(second.id)
    with pytest.raises(NotFoundError):
        users.get(second.id)


def test_administrators_cannot_remove_each_other(users: Users, new_user):
    """When all superusers are removed at the same time, one of them stays."""
    everyone = [new_user(name, is_superuser=True) for name in ("ada", "bob", "carol", "dan")]

    def remove(number: int) -> bool:
        account_id = everyone[number].id
        try:
            users.deactivate(account_id) if number % 2 else users.delete(account_id)
        except InvalidInputError:
            return False
        return True

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(remove, range(4))) == [False, True, True, True]


def test_an_inactive_account_is_nobody(users: Users, new_user):
    """The rest of the host gets active accounts only."""
    account = new_user()
    assert users.user(account.id) == account.as_user()

    users.deactivate(account.id)

    assert users.user(account.id) is None
    assert not users.get(account.id).is_active


def test_a_password_is_set_and_taken_away(users: Users, new_user):
    """Only the newest password fits; an account can be left without one."""
    account = new_user()
    assert users.check_password(account.id, PASSWORD)

    users.set_password(account.id, "another long one")

    assert not users.check_password(account.id, PASSWORD)
    assert users.check_password(account.id, "another long one")
    assert users.get(account.id).password_changed > account.password_changed
    users.set_password(account.id, None)
    assert not users.get(account.id).has_usable_password
    assert not users.check_password(account.id, "another long one")


def test_weak_passwords_need_an_override(users: Users, new_user):
    """A weak password is refused unless the rules are overridden; an empty one always is."""
    account = new_user()

    with pytest.raises(RefusedValuesError) as caught:
        users.set_password(account.id, "ada")
    assert "password_too_short" in [problem.code for problem in caught.value.problems["password"]]
    users.set_password(account.id, "ada", override_rules=True)
    assert users.check_password(account.id, "ada")
    with pytest.raises(RefusedValuesError):
        users.set_password(account.id, "", override_rules=True)


def test_a_missing_account_is_not_found(users: Users):
    """Every operation on an account that does not exist says so."""
    for attempt in (
        lambda: users.get(77),
        lambda: users.change(77, {"is_staff": True}),
        lambda: users.change_own(77, {}),
        lambda: users.change_profile(77, {}),
        lambda: users.set_password(77, PASSWORD),
        lambda: users.delete(77),
        lambda: users.deactivate(77),
    ):
        with pytest.raises(NotFoundError, match="77"):
            attempt()


def test_no_text_of_an_account_shows_its_hash(database: Database, users: Users, new_user):
    """Neither the value nor the row nor a refused statement shows the password's hash."""
    account = new_user()
    with database.write() as session:
        row = session.get(AccountUser, account.id)
        assert row is not None
        stored = row.password_hash
        assert stored
        assert stored not in repr(row)
        assert stored not in str(row)
    assert stored not in repr(users.get(account.id))
    with pytest.raises(Exception, match="account_nothing") as caught, database.write() as session:
        session.connection().execute(text("UPDATE account_nothing SET x = :hash"), {"hash": stored})
    assert stored not in str(caught.value)
