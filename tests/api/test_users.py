"""Users over the interface, and who may do what with all records of this area."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from host.accounts.changes import FLAGS as ACCOUNT_FLAGS
from tests.accounts.conftest import PASSWORD
from tests.api.accounts_service import ENDPOINTS, RIGHTS, AccountsService
from tests.api.service import FLAGS

U = "/api/user/"
HUGE = 2**63 - 1
BRIEF = {"pk", "username", "first_name", "last_name", "email", "is_active"}
FULL = BRIEF | {"groups", "is_staff", "is_superuser", "profile"}


def test_every_caller_gets_their_status_for_every_method(accounts: AccountsService):
    """Each route answers each method of each kind of caller as the table says, and refusals change nothing."""
    wrong = []
    before = accounts.rows("account_user", "username", *ACCOUNT_FLAGS)
    for path, methods in RIGHTS.items():
        only_superusers = path.endswith("set-password/")
        for method in ("GET", "POST", "PUT", "PATCH", "DELETE"):
            wanted = methods.get(method, (403, 403, 405) if only_superusers else (405, 405, 405))
            for caller, status in zip(("anonymous", *FLAGS), (401, *wanted), strict=True):
                got = accounts.client(caller).request(method, path.replace("{id:int}", "999"), json={}).status_code
                if got != status:
                    wrong.append((method, path, caller, got, status))

    assert not wrong
    assert accounts.rows("account_user", "username", *ACCOUNT_FLAGS) == before
    assert accounts.rows("account_group", "name") == []
    assert {endpoint.path for endpoint in ENDPOINTS} == set(RIGHTS)
    assert all(set(endpoint.operations) == set(RIGHTS[endpoint.path]) for endpoint in ENDPOINTS)


@pytest.mark.parametrize(("caller", "members"), [("user", BRIEF), ("staff", FULL), ("superuser", FULL)])
def test_only_the_staff_sees_what_rights_others_have(shared_accounts: AccountsService, caller: str, members: set[str]):
    """Neither members nor filters nor order tell a plain user who administers the host."""
    client, boss = shared_accounts.client(caller), shared_accounts.pk["superuser"]

    found = client.get(U).json()

    assert [user["username"] for user in found] == ["staff", "superuser", "user"]
    assert all(set(user) == members for user in found)
    assert set(client.get(f"{U}{boss}/").json()) == members
    filtered = [user["username"] for user in client.get(f"{U}?is_superuser=true").json()]
    ordered = [user["username"] for user in client.get(f"{U}?ordering=-is_superuser,username").json()]
    if caller == "user":
        assert filtered == ordered == ["staff", "superuser", "user"]
    else:
        assert filtered == ["superuser"]
        assert ordered == ["superuser", "staff", "user"]


def test_users_are_found(accounts_on_both: AccountsService):
    """Search, filters, order and pages work together."""
    client = accounts_on_both.client("superuser")
    group = client.post(f"{U}group/", json={"name": "Workshop"}).json()["pk"]
    for name in ("carol", "bob"):
        made = {"username": name, "first_name": name.title(), "email": f"{name}@shop.example", "group_ids": [group]}
        assert client.post(U, json=made).status_code == 201
    client.patch(f"{U}{client.get(f'{U}?search=carol').json()[0]['pk']}/", json={"is_active": False})

    def names(query: str) -> list[str]:
        return [user["username"] for user in client.get(f"{U}?{query}").json()]

    assert names("search=shop.example") == ["bob", "carol"]
    assert names("search=BOB shop") == ["bob"]
    assert names("is_active=false") == ["carol"]
    assert names("is_staff=true&ordering=-username") == ["superuser", "staff"]
    assert names(f"group={group}&ordering=-username") == ["carol", "bob"]
    page = client.get(f"{U}?limit=2&offset=1&ordering=username").json()
    assert (page["count"], [user["username"] for user in page["results"]]) == (5, ["carol", "staff"])
    assert page["results"][0]["groups"] == [{"pk": group, "name": "Workshop"}]
    for wrong in ("group=999", f"group={HUGE}", "group=x"):
        assert client.get(f"{U}?{wrong}").status_code == 400


def test_a_superuser_makes_and_changes_users(accounts: AccountsService):
    """What is sent is stored and answered, nothing of the password is, and events tell of it."""
    client = accounts.client("superuser")
    group = client.post(f"{U}group/", json={"name": "Workshop"}).json()["pk"]
    accounts.events.clear()

    made = client.post(U, json={"username": " ada ", "email": "Ada@Example.org", "is_staff": "yes", "pk": 7})
    pk = made.json()["pk"]
    changed = client.patch(
        f"{U}{pk}/", json={"first_name": "Ada", "group_ids": [group], "is_superuser": True, "profile": {"status": "x"}}
    )
    replaced = client.put(f"{U}{pk}/", json={"username": "countess"})

    assert (made.status_code, changed.status_code, replaced.status_code) == (201, 200, 200)
    assert made.json().items() >= {"username": "ada", "email": "ada@example.org", "is_staff": True}.items()
    assert changed.json()["groups"] == [{"pk": group, "name": "Workshop"}]
    assert changed.json()["profile"]["status"] is None
    assert replaced.json().items() >= {"username": "countess", "first_name": "Ada", "is_superuser": True}.items()
    columns = ("username", "first_name", "is_staff", "is_superuser", "is_active", "password_hash")
    assert accounts.rows("account_user", *columns, id=pk) == [("countess", "Ada", True, True, True, None)]
    assert accounts.rows("account_membership", "group_id", user_id=pk) == [group]
    boss = accounts.pk["superuser"]
    assert accounts.events == [
        ("user.created", {"user": pk, "username": "ada"}, boss),
        (
            "user.changed",
            {"user": pk, "username": "ada", "changed": ["first_name", "is_superuser", "groups"]},
            boss,
        ),
        ("user.changed", {"user": pk, "username": "countess", "changed": ["username"]}, boss),
    ]


@pytest.mark.parametrize(
    ("sent", "member"),
    [
        ({"username": ""}, "username"),
        ({"username": "x" * 151}, "username"),
        ({"username": "<b>x</b>"}, "username"),
        ({"username": "a b"}, "username"),
        ({"username": "USER"}, "username"),
        ({"username": "\uff55ser"}, "username"),
        ({"username": None}, "username"),
        ({"username": ["x"]}, "username"),
        ({"username": "x\x00"}, "username"),
        ({"first_name": "x" * 151}, "first_name"),
        ({"last_name": "<script>x</script>"}, "last_name"),
        ({"last_name": None}, "last_name"),
        ({"email": "nobody"}, "email"),
        ({"email": "x" * 250 + "@example.org"}, "email"),
        ({"is_staff": None}, "is_staff"),
        ({"is_active": "maybe"}, "is_active"),
        ({"is_superuser": {}}, "is_superuser"),
        ({"group_ids": 1}, "group_ids"),
        ({"group_ids": [999]}, "group_ids"),
        ({"group_ids": [HUGE]}, "group_ids"),
        ({"group_ids": [HUGE + 1]}, "group_ids"),
        ({"group_ids": ["x"]}, "group_ids"),
        ({"group_ids": [None]}, "group_ids"),
    ],
)
def test_wrong_members_of_users_are_refused(shared_accounts: AccountsService, sent: dict[str, Any], member: str):
    """The member is named, at making and at changing, and nothing is stored."""
    accounts = shared_accounts
    client = accounts.client("superuser")
    before = accounts.rows("account_user", "username", "first_name", "last_name", "email", *ACCOUNT_FLAGS)

    made = client.post(U, json={"username": "ada", **sent})
    changed = client.patch(f"{U}{accounts.pk['staff']}/", json={"first_name": "New", **sent})

    assert (made.status_code, changed.status_code) == (400, 400)
    assert list(made.json()) == list(changed.json()) == [member]
    assert accounts.rows("account_user", "username", "first_name", "last_name", "email", *ACCOUNT_FLAGS) == before
    assert accounts.events == []


def test_users_that_are_not_there_are_not_found(accounts_on_both: AccountsService):
    """Also ids that are longer than a key can be."""
    client = accounts_on_both.client("superuser")
    attempts: list[tuple[str, str, Any]] = [
        ("GET", "", None),
        ("PATCH", "", {"first_name": "x", "is_active": False}),
        ("DELETE", "", None),
        ("PUT", "set-password/", {"password": "brass-hinge-42-meadow"}),
    ]
    records: list[tuple[str, str, Any]] = [
        ("DELETE", "group/", None),
        ("PATCH", "group/", {"name": "x"}),
        ("PATCH", "ruleset/", {"can_view": True}),
        ("GET", "owner/", None),
        ("DELETE", "tokens/", None),
    ]

    for pk in (999, 2**31, HUGE):
        found = [client.request(method, f"{U}{pk}/{end}", json=body).status_code for method, end, body in attempts]
        found += [client.request(method, f"{U}{name}{pk}/", json=body).status_code for method, name, body in records]
        assert found == [404] * 9

    assert len(accounts_on_both.rows("account_user", "id")) == 3


@pytest.mark.parametrize("caller", ["user", "staff"])
def test_nobody_raises_themselves(accounts: AccountsService, caller: str):
    """Neither through their own record nor through the list does anybody get a right that they lack."""
    client, pk = accounts.client(caller), accounts.pk[caller]
    group = accounts.groups.create("Workshop").pk
    flags = {"is_staff": True, "is_superuser": True, "is_active": True, "group_ids": [group], "groups": [group]}

    own = client.patch(f"{U}me/", json=flags)
    complete = client.put(f"{U}me/", json={"username": caller, **flags})
    profile = client.patch(f"{U}me/profile/", json={"is_superuser": True, "primary_group": group})
    record = client.patch(f"{U}{pk}/", json=flags)
    rights = client.patch(f"{U}ruleset/{accounts.rows('account_ruleset', 'id')[0]}/", json={"can_delete": True})

    assert [answer.status_code for answer in (own, complete, profile, record, rights)] == [200, 200, 400, 403, 403]
    assert own.json()["is_superuser"] is complete.json()["is_superuser"] is False
    assert accounts.stored("account_user", pk, "is_superuser") is False
    assert accounts.stored("account_user", pk, "is_staff") is (caller == "staff")
    assert accounts.rows("account_membership", "user_id") == []
    assert not any(accounts.rows("account_ruleset", "can_delete"))


def test_a_new_password_counts_at_once(accounts: AccountsService):
    """The old one is refused, the moment moves, which ends sessions, and the answer says nothing."""
    pk = accounts.pk["user"]
    before = accounts.stored("account_user", pk, "password_changed")
    anonymous = accounts.client("anonymous")

    answer = accounts.client("superuser").put(f"{U}{pk}/set-password/", json={"password": "brass-hinge-42-meadow"})

    assert (answer.status_code, answer.json()) == (200, {})
    assert anonymous.get(f"{U}me/", auth=("user", PASSWORD)).status_code == 401
    assert anonymous.get(f"{U}me/", auth=("user", "brass-hinge-42-meadow")).status_code == 200
    assert accounts.stored("account_user", pk, "password_changed") > before
    assert accounts.events == [("user.password_changed", {"user": pk, "username": "user"}, accounts.pk["superuser"])]


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        ({"password": "12345"}, 400),
        ({"password": "12345", "override_warning": False}, 400),
        ({"password": "12345", "override_warning": True}, 200),
        ({"password": "", "override_warning": True}, 400),
        ({"password": None, "override_warning": True}, 400),
        ({"password": "x" * 5000, "override_warning": True}, 400),
        ({"password": "a\x00bcdefghij", "override_warning": True}, 400),
        ({"password": {}, "override_warning": True}, 400),
        ({"override_warning": True}, 400),
    ],
)
def test_a_weak_password_needs_a_word(shared_accounts: AccountsService, sent: dict[str, Any], status: int):
    """The rules are named under the member; overriding them allows weak passwords only, no impossible ones."""
    accounts = shared_accounts
    pk = accounts.pk["user"]
    before = accounts.stored("account_user", pk, "password_hash")

    answer = accounts.client("superuser").patch(f"{U}{pk}/set-password/", json=sent)

    assert answer.status_code == status
    assert (accounts.stored("account_user", pk, "password_hash") == before) is (status == 400)
    if status == 400:
        assert list(answer.json()) == ["password"]
    if sent.get("password") == "12345" and status == 400:
        assert len(answer.json()["password"]) >= 2
        assert "12345" not in answer.text


def test_a_lent_right_changes_no_account(accounts: AccountsService):
    """A client with every scope of a superuser reads, but makes neither tokens nor passwords, accounts nor rights."""
    client = accounts.client("anonymous")
    client.headers["Authorization"] = "Bearer read+write+staff+plugins"
    group = accounts.groups.create("Workshop").pk
    before = accounts.rows("account_user", "username", "password_hash", "is_superuser", "email")
    own = accounts.pk["superuser"]
    attempts: list[tuple[str, str, Any]] = [
        ("GET", f"{U}me/token/", None),
        ("GET", f"{U}token/", None),
        ("POST", f"{U}tokens/", {}),
        ("PATCH", f"{U}me/", {"email": "else@example.org"}),
        ("PATCH", f"{U}{own}/", {"email": "else@example.org"}),
        ("PUT", f"{U}{own}/set-password/", {"password": "brass-hinge-42-meadow"}),
        ("POST", U, {"username": "ada", "is_superuser": True}),
        ("DELETE", f"{U}{accounts.pk['user']}/", None),
        ("DELETE", f"{U}group/{group}/", None),
        ("PATCH", f"{U}ruleset/{accounts.rows('account_ruleset', 'id')[0]}/", {"can_view": True}),
    ]

    assert client.get(f"{U}me/").status_code == client.get(U).status_code == 200
    assert [client.request(method, path, json=body).status_code for method, path, body in attempts] == [403] * 10

    assert client.patch(f"{U}me/profile/", json={"status": "away"}).status_code == 200
    assert len(accounts.rows("account_token", "id")) == 3
    assert accounts.rows("account_user", "username", "password_hash", "is_superuser", "email") == before
    assert accounts.rows("account_group", "id") == [group]
    assert not any(accounts.rows("account_ruleset", "can_view"))


_REMOVALS: list[Callable[..., Any]] = [
    lambda client, pk: client.delete(f"{U}{pk}/"),
    lambda client, pk: client.patch(f"{U}{pk}/", json={"is_active": False}),
    lambda client, pk: client.patch(f"{U}{pk}/", json={"is_superuser": False}),
]


def test_a_superuser_is_left(accounts_on_both: AccountsService):
    """Two superusers who remove each other at once do not both succeed, in whatever way they try."""
    accounts = accounts_on_both
    boss = accounts.pk["superuser"]
    for number, remove in enumerate(_REMOVALS):
        other = accounts.users.create({"username": f"other-{number}"}, flags={"is_superuser": True}).id
        mine, theirs = (accounts.tokens.issue(pk)[0] for pk in (boss, other))
        removals = [(mine, other), (theirs, boss)] * 2

        with ThreadPoolExecutor(4) as pool:
            underway = [pool.submit(remove, accounts.client_with(token), pk) for token, pk in removals]
            answers = [attempt.result() for attempt in underway]

        left = accounts.rows("account_user", "id", is_superuser=True, is_active=True)
        assert len(left) == 1
        assert {answer.status_code for answer in answers} <= {200, 204, 400, 401, 403, 404}
        refused = remove(accounts.client_with(mine if left == [boss] else theirs), left[0])
        assert refused.status_code == 400
        assert "last active superuser" in refused.json()["non_field_errors"][0]
        boss = left[0]


def test_a_deleted_user_is_gone_with_everything(accounts: AccountsService):
    """Tokens and memberships go too, and the token opens nothing any more."""
    pk = accounts.pk["user"]
    client = accounts.client("user")

    answer = accounts.client("superuser").delete(f"{U}{pk}/")

    assert (answer.status_code, answer.content) == (204, b"")
    assert client.get(f"{U}me/").status_code == 401
    assert accounts.rows("account_token", "id", user_id=pk) == []
    assert accounts.events == [("user.deleted", {"user": pk, "username": "user"}, accounts.pk["superuser"])]


def test_forms_are_described(accounts: AccountsService):
    """OPTIONS says what a form needs, to superusers also for writing."""
    actions = accounts.client("superuser").options(U).json()["actions"]

    assert set(actions) == {"GET", "POST"}
    assert actions["POST"]["username"].items() >= {"type": "string", "required": True, "max_length": 150}.items()
    assert actions["POST"]["group_ids"]["child"]["api_url"] == f"{U}group/"
    assert set(accounts.client("user").options(U).json()["actions"]) == {"GET"}
    password = accounts.client("superuser").options(f"{U}{accounts.pk['user']}/set-password/").json()["actions"]
    assert password["PUT"]["password"]["required"] is True
