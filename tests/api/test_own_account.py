"""The own account over the interface."""

from __future__ import annotations

from typing import Any

import pytest

from host.accounts.roles import ACTIONS, ROLES
from tests.accounts.conftest import PASSWORD
from tests.api.accounts_service import MODELS, AccountsService

ME = "/api/user/me/"
PROFILE = "/api/user/me/profile/"


@pytest.mark.parametrize("method", ["PATCH", "PUT"])
def test_the_own_profile_is_changed(accounts: AccountsService, method: str):
    """What is sent is stored and shown everywhere, the rest stays; unknown members are ignored."""
    client, pk = accounts.client("user"), accounts.pk["user"]
    group = accounts.groups.create("Workshop").pk
    accounts.users.change(pk, {"group_ids": [group]})
    theme = {"primaryColor": "teal", "nested": [1, None, {"a": "<b>"}]}
    client.patch(PROFILE, json={"displayname": "Ada", "status": None})

    sent = {"theme": theme, "type": "bot", "active": "no", "primary_group": group, "is_superuser": True, "x": 1}
    answer = client.request(method, PROFILE, json=sent)

    assert answer.status_code == 200
    wanted = {"displayname": "Ada", "theme": theme, "type": "bot", "active": False, "primary_group": group}
    assert answer.json().items() >= wanted.items()
    assert len(answer.json()) == 12
    assert client.get(PROFILE).json() == client.get(ME).json()["profile"] == answer.json()
    assert accounts.stored("account_user", pk, "profile")["theme"] == theme
    assert accounts.stored("account_user", pk, "primary_group_id") == group
    assert accounts.stored("account_user", accounts.pk["staff"], "profile") == {}


@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("language", "no language"),
        ("theme", [1]),
        ("theme", "text"),
        ("widgets", {"a": "x" * 70_000}),
        ("widgets", {"a": "\x00"}),
        ("displayname", "x" * 256),
        ("displayname", "<b>Ada</b>"),
        ("status", "x" * 2001),
        ("active", None),
        ("active", "perhaps"),
        ("type", "king"),
        ("type", None),
        ("primary_group", 999),
        ("primary_group", 2**63 - 1),
        ("primary_group", "x"),
    ],
)
def test_wrong_profile_members_are_refused(shared_accounts: AccountsService, member: str, value: Any):
    """The member is named and nothing is stored."""
    answer = shared_accounts.client("user").patch(PROFILE, json={"position": "Countess", member: value})

    assert (answer.status_code, list(answer.json())) == (400, [member])
    assert shared_accounts.stored("account_user", shared_accounts.pk["user"], "profile") == {}


def test_the_own_roles_are_shown(shared_accounts: AccountsService):
    """Superusers have all, others what their groups grant; being staff grants nothing."""
    boss = shared_accounts.client("superuser").get(f"{ME}roles/").json()
    staff = shared_accounts.client("staff").get(f"{ME}roles/").json()

    assert boss["roles"] == {role: list(ACTIONS) for role in ROLES}
    assert boss["permissions"] == {model: list(ACTIONS) for model in sorted(MODELS)}
    assert staff == {
        "user": shared_accounts.pk["staff"],
        "username": "staff",
        "is_staff": True,
        "is_superuser": False,
        "roles": dict.fromkeys(ROLES),
        "permissions": {},
    }
    with_roles = shared_accounts.client("staff").get(f"{ME}?roles=true").json()
    assert (with_roles["roles"], with_roles["permissions"]) == (staff["roles"], staff["permissions"])
    assert "roles" not in shared_accounts.client("staff").get(ME).json()
    assert shared_accounts.rows("account_ruleset", "id") == []


def test_a_token_is_made_by_asking(accounts: AccountsService):
    """Each request makes another one; both paths and all schemes do, and none opens what the account may not."""
    client = accounts.client("anonymous")
    client.auth = ("user", PASSWORD)

    texts = [client.get(path, params={"name": "my script"}).json() for path in (f"{ME}token/", "/api/user/token/")]
    again = accounts.client_with(texts[0]["token"]).get(f"{ME}token/").json()

    assert [set(answer) for answer in texts] == [{"token", "name", "expiry"}] * 2
    assert texts[0]["token"] != texts[1]["token"]
    assert texts[0]["name"] == "my-script"
    assert accounts.client_with(again["token"]).get(ME).json()["username"] == "user"
    assert accounts.rows("account_token", "name", user_id=accounts.pk["user"]) == [
        "tests",
        "my-script",
        "my-script",
        "",
    ]
    assert client.get(f"{ME}token/", params={"name": "<b>x</b>"}).status_code == 400
    assert [name for name, _, _ in accounts.events] == ["user.token_made"] * 3


def test_the_own_profile_is_described(shared_accounts: AccountsService):
    """OPTIONS gives choices and references, from which clients build forms."""
    actions = shared_accounts.client("user").options(PROFILE).json()["actions"]

    assert [choice["value"] for choice in actions["PUT"]["type"]["choices"]] == ["bot", "internal", "external", "guest"]
    assert actions["PUT"]["primary_group"].items() >= {"type": "related field", "api_url": "/api/user/group/"}.items()
    assert actions["GET"]["theme"]["type"] == "nested object"
