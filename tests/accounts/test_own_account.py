"""The own account, profiles, and the directory of accounts."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from host.accounts.account import Account
from host.accounts.directory import Directory
from host.accounts.groups import Groups
from host.accounts.own_account import OwnAccount
from host.accounts.problems import RefusedValuesError
from host.accounts.rights import Rights
from host.accounts.roles import Permissions
from host.accounts.users import Users
from host.storage.engine import Database

EMPTY_PROFILE = {
    "language": None,
    "theme": None,
    "widgets": None,
    "displayname": None,
    "position": None,
    "status": None,
    "location": None,
    "active": True,
    "contact": None,
    "type": "internal",
    "organisation": None,
    "primary_group": None,
}


@pytest.fixture
def own(database: Database, users: Users) -> OwnAccount:
    return OwnAccount(users, Rights(database, lambda: {"part": "part"}))


@pytest.fixture
def directory(database: Database) -> Directory:
    return Directory(database)


@pytest.fixture
def ada(new_user: Callable[..., Account]) -> Account:
    return new_user("ada", email="ada@example.org")


def test_me_has_the_shape_of_the_interface(own: OwnAccount, users: Users, groups: Groups, ada: Account):
    """All members are there; roles and permissions only when asked for."""
    group = groups.create("Workshop")
    groups.grant(group.pk, "part", Permissions(can_view=True))
    users.change(ada.id, {"group_ids": [group.pk]})

    assert own.me(ada.id) == {
        "pk": ada.id,
        "username": "ada",
        "first_name": "",
        "last_name": "",
        "email": "ada@example.org",
        "groups": [{"pk": group.pk, "name": "Workshop"}],
        "is_staff": False,
        "is_superuser": False,
        "is_active": True,
        "profile": EMPTY_PROFILE,
    }
    more = own.me(ada.id, roles=True)
    assert more["roles"]["part"] == ["view"]
    assert more["roles"]["stock"] is None
    assert more["permissions"] == {"part": ["view"]}
    assert own.roles(ada.id)["permissions"] == {"part": ["view"]}


def test_me_is_one_query_with_all_groups_by_name(
    own: OwnAccount, users: Users, groups: Groups, new_user: Callable[..., Account], statements
):
    """However many groups there are, each account gets its own and nobody else's."""
    ada, bob = new_user("ada"), new_user("bob")
    workshop, office, foreign = (groups.create(name) for name in ("Workshop", "Office", "Foreign"))
    users.change(ada.id, {"group_ids": [workshop.pk, office.pk]})
    users.change_profile(ada.id, {"location": "Lab", "primary_group": workshop.pk})

    with statements() as seen:
        shown = own.me(ada.id)

    assert len(seen) == 1, seen
    assert [group["name"] for group in shown["groups"]] == ["Office", "Workshop"]
    assert shown["profile"] == {**EMPTY_PROFILE, "location": "Lab", "primary_group": workshop.pk}
    assert own.me(bob.id)["groups"] == []
    assert groups.member_ids(workshop.pk) == groups.member_ids(office.pk) == [ada.id]
    assert groups.member_ids(foreign.pk) == []


def test_people_change_themselves(own: OwnAccount, ada: Account):
    """The flags are ignored, a missing username counts in a complete change only."""
    changed = own.change(ada.id, {"first_name": "Ada", "is_superuser": True, "pk": 9})

    assert (changed["first_name"], changed["is_superuser"], changed["pk"]) == ("Ada", False, ada.id)
    with pytest.raises(RefusedValuesError):
        own.change(ada.id, {"first_name": "Ada"}, complete=True)


def test_a_profile_keeps_what_is_given(own: OwnAccount, ada: Account):
    """Members change one by one; the others stay."""
    theme = {"primaryColor": "teal", "nested": {"list": [1, None, "\\u0000"]}}
    own.change_profile(ada.id, {"theme": theme, "language": "de-at", "unknown": 1})

    changed = own.change_profile(ada.id, {"displayname": " Ada ", "active": False, "type": "bot"})

    assert changed == {
        **EMPTY_PROFILE,
        "theme": theme,
        "language": "de-at",
        "displayname": "Ada",
        "active": False,
        "type": "bot",
    }
    assert own.profile(ada.id) == changed
    assert own.change_profile(ada.id, {"theme": None})["theme"] is None


@pytest.mark.parametrize(
    ("member", "value", "code"),
    [
        ("language", "no language", "invalid"),
        ("theme", [1], "invalid"),
        ("theme", {"a": object()}, "invalid"),
        ("widgets", {"a": "x" * 70_000}, "max_length"),
        ("widgets", {"a": "\x00"}, "null_characters_not_allowed"),
        ("widgets", {"a": "\ud800"}, "invalid"),
        ("displayname", "x" * 256, "max_length"),
        ("displayname", 7, "invalid"),
        ("status", "a\x00b", "invalid"),
        ("status", "\ud800", "invalid"),
        ("active", None, "invalid"),
        ("type", "king", "invalid_choice"),
        ("type", None, "invalid_choice"),
        ("type", [], "invalid_choice"),
        ("primary_group", 999, "invalid_choice"),
        ("primary_group", "1", "invalid_choice"),
    ],
)
def test_wrong_profile_members_are_refused(own: OwnAccount, ada: Account, member: str, value: object, code: str):
    """The member and the reason are named, and nothing is kept."""
    with pytest.raises(RefusedValuesError) as caught:
        own.change_profile(ada.id, {"position": "Countess", member: value})

    assert {name: [problem.code for problem in found] for name, found in caught.value.problems.items()} == {
        member: [code]
    }
    assert own.profile(ada.id) == EMPTY_PROFILE


def test_the_primary_group_is_one_of_the_own(own: OwnAccount, users: Users, groups: Groups, ada: Account):
    """Only a group of the account can be its primary one, and it goes when the account leaves the group."""
    mine, foreign = groups.create("Mine"), groups.create("Foreign")
    users.change(ada.id, {"group_ids": [mine.pk]})

    assert own.change_profile(ada.id, {"primary_group": mine.pk})["primary_group"] == mine.pk
    with pytest.raises(RefusedValuesError):
        own.change_profile(ada.id, {"primary_group": foreign.pk})
    users.change(ada.id, {"group_ids": [foreign.pk]})
    assert own.profile(ada.id)["primary_group"] is None


def test_changes_of_one_profile_do_not_overwrite_each_other(own: OwnAccount, ada: Account):
    """Members that are changed at the same time all arrive."""
    members = ["displayname", "position", "status", "location", "contact", "organisation"]

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda name: own.change_profile(ada.id, {name: f"new {name}"}), members))

    profile = own.profile(ada.id)
    assert {name: profile[name] for name in members} == {name: f"new {name}" for name in members}


def test_accounts_are_listed(directory: Directory, users: Users, groups: Groups, new_user):
    """Filters, search, order and pages work together; the total counts all that fit."""
    group = groups.create("Workshop")
    for name in ("carol", "ada", "bob"):
        account = new_user(name, email=f"{name}@example.org", is_staff=name == "bob")
        users.change(account.id, {"group_ids": [group.pk] if name != "ada" else []})
    users.change_own(account.id, {"first_name": "Robert", "last_name": "Boole"})

    def names(**query: object) -> list[str]:
        return [found.username for found in directory.list(**query)[0]]  # type: ignore[arg-type]

    assert names() == ["ada", "bob", "carol"]
    assert names(ordering="-username") == ["carol", "bob", "ada"]
    assert names(is_staff=True) == ["bob"]
    assert names(is_staff=False, is_active=True, is_superuser=False) == ["ada", "carol"]
    assert names(search="boole ROB") == ["bob"]
    assert names(search="carol@") == ["carol"]
    assert names(search="_") == []
    assert names(group=group.pk) == ["bob", "carol"]
    assert names(limit=1, offset=1) == ["bob"]
    assert directory.list(limit=1) == ([directory.list()[0][0]], 3)


def test_other_records_get_short_forms(directory: Directory, ada: Account, new_user):
    """Known ids are answered at once, unknown and missing ones are left out."""
    bob = new_user("bob")

    found = directory.summaries([ada.id, bob.id, None, 999, ada.id])

    assert {pk: summary.username for pk, summary in found.items()} == {ada.id: "ada", bob.id: "bob"}
    assert directory.summaries([None]) == {}


def test_active_superusers_are_found(directory: Directory, ada: Account, new_user):
    """Only active superusers count."""
    boss = new_user("boss", is_superuser=True)
    new_user("former", is_superuser=True, is_active=False)

    assert [account.id for account in directory.superusers()] == [boss.id]
