"""Groups over the interface."""

from __future__ import annotations

from typing import Any

import pytest

from host.accounts.roles import ROLES, Permissions
from tests.api.accounts_service import AccountsService

PATH = "/api/user/group/"


def test_a_group_is_made_renamed_and_deleted(accounts: AccountsService):
    """It comes with a rule set for every role, which go with it, as do its memberships; events tell of it."""
    client, boss = accounts.client("superuser"), accounts.pk["superuser"]

    made = client.post(PATH, json={"name": " Workshop ", "pk": 77})
    pk = made.json()["pk"]
    assert (made.status_code, made.json()) == (201, {"pk": pk, "name": "Workshop"})
    assert accounts.rows("account_ruleset", "name", group_id=pk) == list(ROLES)
    accounts.users.change(boss, {"group_ids": [pk]})

    renamed = client.put(f"{PATH}{pk}/", json={"name": "Office"})
    assert (renamed.status_code, renamed.json()["name"]) == (200, "Office")
    assert client.patch(f"{PATH}{pk}/", json={}).json() == {"pk": pk, "name": "Office"}
    assert accounts.rows("account_group", "name") == ["Office"]

    assert client.delete(f"{PATH}{pk}/").status_code == 204
    assert accounts.rows("account_group", "id") == accounts.rows("account_ruleset", "id") == []
    assert accounts.rows("account_membership", "user_id") == []
    assert [(name, data["name"], by) for name, data, by in accounts.events] == [
        ("group.created", "Workshop", boss),
        ("group.changed", "Office", boss),
        ("group.deleted", "Office", boss),
    ]


@pytest.mark.parametrize(
    "name", ["", "  ", "x" * 151, "<b>x</b>", "a\x00b", None, ["x"], "Taken", pytest.param("Taken\u2028", id="cleaned")]
)
def test_wrong_names_are_refused(shared_accounts: AccountsService, name: Any):
    """The member is named, at making and at renaming, and nothing is stored."""
    client = shared_accounts.client("superuser")
    names = shared_accounts.rows("account_group", "name")
    if not names:
        names = [shared_accounts.groups.create(free).name for free in ("Taken", "Other")]
    other = shared_accounts.rows("account_group", "id", name="Other")[0]

    made, renamed = client.post(PATH, json={"name": name}), client.patch(f"{PATH}{other}/", json={"name": name})

    assert (made.status_code, renamed.status_code) == (400, 400)
    assert list(made.json()) == list(renamed.json()) == ["name"]
    assert shared_accounts.rows("account_group", "name") == names


def test_details_come_when_asked_for(accounts_on_both: AccountsService):
    """Members, rule sets and permissions are shown in lists and single groups, to every user."""
    accounts = accounts_on_both
    pk, empty = (accounts.groups.create(name).pk for name in ("Workshop", "Empty"))
    accounts.groups.grant(pk, "part", Permissions(can_change=True))
    for name in ("staff", "user"):
        accounts.users.change(accounts.pk[name], {"group_ids": [pk]})
    client = accounts.client("user")
    asked = "user_detail=true&role_detail=1&permission_detail=yes"

    listed = client.get(f"{PATH}?{asked}").json()
    single = client.get(f"{PATH}{pk}/?{asked}").json()
    page = client.get(f"{PATH}?user_detail=true&limit=1&search=work").json()

    assert [group["name"] for group in listed] == ["Empty", "Workshop"]
    assert listed[1] == single
    assert single["users"] == [
        {
            "pk": accounts.pk[name],
            "username": name,
            "first_name": "",
            "last_name": "",
            "email": f"{name}@example.org",
        }
        for name in ("staff", "user")
    ]
    assert [ruleset["name"] for ruleset in single["roles"]] == list(ROLES)
    part = next(ruleset for ruleset in single["roles"] if ruleset["name"] == "part")
    assert (part["group"], part["can_view"], part["can_change"], part["can_delete"]) == (pk, True, True, False)
    assert single["permissions"] == {"part": ["view", "change"]}
    assert (listed[0]["pk"], listed[0]["users"], listed[0]["permissions"]) == (empty, [], {})
    assert (page["count"], set(page["results"][0])) == (1, {"pk", "name", "users"})
    assert set(client.get(f"{PATH}{pk}/?user_detail=false&role_detail=nonsense").json()) == {"pk", "name"}
