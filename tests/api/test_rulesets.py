"""Rule sets over the interface."""

from __future__ import annotations

from typing import Any

import pytest

from host.accounts.roles import ACTIONS, ROLES
from tests.api.accounts_service import AccountsService

PATH = "/api/user/ruleset/"
FLAGS = [f"can_{action}" for action in ACTIONS]


def _shown(values: dict[str, Any] | tuple[bool, ...]) -> str:
    flags = [values[flag] for flag in FLAGS] if isinstance(values, dict) else values
    return "".join(action[0] if given else "-" for action, given in zip(ACTIONS, flags, strict=True))


@pytest.mark.parametrize(
    ("method", "sent", "expected"),
    [
        ("PATCH", [{"can_view": True}], "v---"),
        ("PATCH", [{"can_add": True}], "vac-"),
        ("PATCH", [{"can_change": "yes"}], "v-c-"),
        ("PATCH", [{"can_delete": True}], "v-cd"),
        ("PUT", [{"can_delete": True}, {"can_delete": False}], "v-c-"),
        ("PATCH", [{"can_delete": True}, {"can_view": False}], "v-cd"),
        ("PATCH", [{"can_change": True}, {"can_change": False, "can_view": False}], "----"),
        ("PUT", [{"can_add": True}, {}], "vac-"),
        ("PATCH", [{"name": "stock", "label": "x", "group": 999}], "----"),
    ],
)
def test_rights_bring_what_they_need(accounts: AccountsService, method: str, sent: list[Any], expected: str):
    """Deleting and adding imply changing, changing implies seeing; the rest of the record is fixed."""
    pk = accounts.groups.create("Workshop").pk
    ruleset = accounts.rows("account_ruleset", "id", group_id=pk)[0]
    client = accounts.client("superuser")

    answer = [client.request(method, f"{PATH}{ruleset}/", json=values) for values in sent][-1]

    assert answer.status_code == 200
    assert _shown(answer.json()) == expected
    assert _shown(accounts.rows("account_ruleset", *FLAGS, id=ruleset)[0]) == expected
    role, label = next(iter(ROLES.items()))
    assert answer.json().items() >= {"pk": ruleset, "name": role, "label": label, "group": pk}.items()
    told = [data for name, data, _ in accounts.events if name == "group.rights_changed"]
    assert bool(told) is (expected != "----" or len(sent) > 1)
    assert all(data["role"] == role and data["group"] == pk for data in told)


def test_a_right_counts_for_members_at_once(accounts: AccountsService):
    """What a superuser grants shows in the member's own roles with the next request."""
    pk = accounts.groups.create("Workshop").pk
    accounts.users.change(accounts.pk["user"], {"group_ids": [pk]})
    member = accounts.client("user")
    ruleset = accounts.rows("account_ruleset", "id", group_id=pk, name="part")[0]

    before = member.get("/api/user/me/roles/").json()
    accounts.client("superuser").patch(f"{PATH}{ruleset}/", json={"can_change": True})
    after = member.get("/api/user/me/roles/").json()

    assert (before["roles"]["part"], before["permissions"]) == (None, {})
    assert (after["roles"]["part"], after["permissions"]) == (["view", "change"], {"part": ["view", "change"]})
    assert accounts.stored("account_ruleset", ruleset, "can_change") is True


@pytest.mark.parametrize("value", [None, "perhaps", 2, [], {}])
def test_wrong_values_are_refused(shared_accounts: AccountsService, value: Any):
    """The member is named and nothing changes."""
    if not shared_accounts.rows("account_ruleset", "id"):
        shared_accounts.groups.create("Workshop")
    ruleset = shared_accounts.rows("account_ruleset", "id")[0]

    answer = shared_accounts.client("superuser").patch(
        f"{PATH}{ruleset}/", json={"can_view": True, "can_delete": value}
    )

    assert (answer.status_code, list(answer.json())) == (400, ["can_delete"])
    assert shared_accounts.stored("account_ruleset", ruleset, "can_view") is False


def test_rule_sets_are_listed(accounts: AccountsService):
    """By group and by role, in the order of groups and roles."""
    first, second = (accounts.groups.create(name).pk for name in ("First", "Second"))
    client = accounts.client("user")

    listed = client.get(PATH).json()

    assert [(ruleset["group"], ruleset["name"]) for ruleset in listed] == [
        (group, role) for group in (first, second) for role in ROLES
    ]
    assert {ruleset["label"] for ruleset in listed} == set(ROLES.values())
    assert [found["name"] for found in client.get(f"{PATH}?group={second}").json()] == list(ROLES)
    assert [found["group"] for found in client.get(f"{PATH}?name=stock&ordering=-group").json()] == [second, first]
    assert client.get(f"{PATH}?name=nonsense").status_code == 400
    assert client.get(f"{PATH}?group=999").status_code == 400
    assert client.get(f"{PATH}?search=order&limit=1").json()["count"] == 8
    assert len(accounts.rows("account_ruleset", "id")) == 22
