"""Groups, roles and rights."""

from __future__ import annotations

import pytest

from host.accounts.groups import Groups
from host.accounts.problems import RefusedValuesError
from host.accounts.rights import Rights
from host.accounts.roles import ACTIONS, ROLES, Permissions
from host.accounts.users import Users
from host.contract.values import User
from host.errors import NotFoundError
from host.storage.engine import Database

MODELS = {"part": "part", "parttesttemplate": "part", "stockitem": "stock", "gadget": ""}


@pytest.fixture
def rights(database: Database) -> Rights:
    return Rights(database, lambda: MODELS)


def test_a_group_has_an_empty_rule_set_for_every_role(groups: Groups):
    """Eleven rule sets are made with the group, none of which allows anything."""
    group = groups.create(" Workshop ")

    rulesets = groups.rulesets(group.pk)

    assert group.name == "Workshop"
    assert [ruleset.name for ruleset in rulesets] == list(ROLES)
    assert len(ROLES) == 11
    assert not any(getattr(ruleset, f"can_{action}") for ruleset in rulesets for action in ACTIONS)


def test_group_names_are_checked(groups: Groups):
    """A name must be there, fit and be free, at first and later."""
    groups.create("Workshop")
    office = groups.create("Office")

    for name in ("", "  ", "x" * 151, "a\x00b", "Workshop"):
        with pytest.raises(RefusedValuesError):
            groups.create(name)
    with pytest.raises(RefusedValuesError, match="already"):
        groups.rename(office.pk, "Workshop")
    assert groups.rename(office.pk, "Bureau") == groups.get(office.pk)
    assert [group.name for group in groups.all()] == ["Bureau", "Workshop"]


def test_missing_groups_are_not_found(groups: Groups):
    """Every operation on a group or rule set that does not exist says so."""
    for attempt in (
        lambda: groups.get(77),
        lambda: groups.rename(77, "x"),
        lambda: groups.delete(77),
        lambda: groups.ruleset(77),
        lambda: groups.change_ruleset(77, {}),
        lambda: groups.grant(77, "part", Permissions()),
    ):
        with pytest.raises(NotFoundError, match="77"):
            attempt()


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, "----"),
        ({"can_view": True}, "v---"),
        ({"can_change": True}, "v-c-"),
        ({"can_add": True}, "vac-"),
        ({"can_delete": True}, "v-cd"),
    ],
)
def test_rights_imply_what_they_need(groups: Groups, given: dict[str, bool], expected: str):
    """Adding and deleting imply changing, and each of them viewing."""
    ruleset = groups.rulesets(groups.create("Workshop").pk)[0]

    changed = groups.change_ruleset(ruleset.pk, given)

    assert "".join(action[0] if getattr(changed, f"can_{action}") else "-" for action in ACTIONS) == expected
    assert groups.ruleset(ruleset.pk) == changed


def test_rights_are_the_union_of_groups(rights: Rights, users: Users, groups: Groups, new_user):
    """Each group adds; what no group gives, nobody has."""
    readers, writers = groups.create("Readers"), groups.create("Writers")
    groups.grant(readers.pk, "part", Permissions(can_view=True))
    groups.grant(writers.pk, "part", Permissions(can_change=True))
    groups.grant(writers.pk, "stock", Permissions(can_view=True))
    ada = users.change(new_user("ada").id, {"group_ids": [readers.pk, writers.pk]}).as_user()

    assert [rights.may(ada, "parttesttemplate", action) for action in ACTIONS] == [True, False, True, False]
    assert rights.may(ada, "stockitem", "view")
    assert not rights.may(ada, "stockitem", "change")
    granted = rights.of(ada)
    assert granted.roles() == {**dict.fromkeys(ROLES), "part": ["view", "change"], "stock": ["view"]}
    assert granted.permissions() == {
        "part": ["view", "change"],
        "parttesttemplate": ["view", "change"],
        "stockitem": ["view"],
    }


@pytest.mark.parametrize("model", ["part", "gadget", "unheard-of", ""])
def test_by_default_only_superusers_may(rights: Rights, new_user, model: str):
    """Being staff gives no right; a superuser passes everywhere."""
    staff, boss = new_user("staff", is_staff=True).as_user(), new_user("boss", is_superuser=True).as_user()

    assert not any(rights.may(staff, model, action) for action in ACTIONS)
    assert all(rights.may(boss, model, action) for action in ACTIONS)


def test_a_superuser_has_every_role_and_permission(rights: Rights):
    """All roles and all known models are listed in full, without asking the database for groups."""
    granted = rights.of(User(id=1, username="boss", is_superuser=True))

    assert granted.roles() == {role: list(ACTIONS) for role in ROLES}
    assert granted.permissions() == {model: list(ACTIONS) for model in MODELS}


def test_rights_go_with_the_group(rights: Rights, users: Users, groups: Groups, new_user):
    """Deleting a group takes its rights away and keeps its members."""
    group = groups.create("Workshop")
    groups.grant(group.pk, "part", Permissions(can_view=True))
    ada = users.change(new_user("ada").id, {"group_ids": [group.pk]})
    users.change_profile(ada.id, {"primary_group": group.pk})
    assert rights.may(ada.as_user(), "part", "view")
    assert groups.member_ids(group.pk) == [ada.id]

    groups.delete(group.pk)

    assert not rights.may(ada.as_user(), "part", "view")
    assert groups.rulesets() == []
    after = users.get(ada.id)
    assert after.groups == ()
    assert after.profile["primary_group"] is None
