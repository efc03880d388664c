"""Owners over the interface."""

from __future__ import annotations

from tests.api.accounts_service import AccountsService

PATH = "/api/user/owner/"


def test_users_and_groups_are_owners(accounts_on_both: AccountsService):
    """Each has a number of its own, in lists, filters, search, pages and alone."""
    accounts = accounts_on_both
    group = accounts.groups.create("Workshop").pk
    accounts.users.change_own(accounts.pk["user"], {"first_name": "Ada", "last_name": "King"})
    accounts.users.deactivate(accounts.pk["staff"])
    client = accounts.client("user")

    owners = client.get(PATH).json()

    assert {tuple(owner.items())[1:] for owner in owners} == {
        (("owner_id", group), ("owner_model", "group"), ("name", "Workshop"), ("label", "Workshop")),
        (("owner_id", accounts.pk["staff"]), ("owner_model", "user"), ("name", "staff"), ("label", "staff")),
        (
            ("owner_id", accounts.pk["superuser"]),
            ("owner_model", "user"),
            ("name", "superuser"),
            ("label", "superuser"),
        ),
        (("owner_id", accounts.pk["user"]), ("owner_model", "user"), ("name", "user"), ("label", "user (Ada King)")),
    }
    assert len({owner["pk"] for owner in owners}) == 4
    assert [client.get(f"{PATH}{owner['pk']}/").json() for owner in owners] == owners

    def names(query: str) -> list[str]:
        return [owner["name"] for owner in client.get(f"{PATH}?{query}").json()]

    assert names("search=king") == ["user"]
    assert names("owner_model=group") == ["Workshop"]
    assert set(names("is_active=true")) == {"Workshop", "superuser", "user"}
    assert names("owner_model=user&ordering=-name") == ["user", "superuser", "staff"]
    page = client.get(f"{PATH}?limit=1&offset=1&owner_model=user&ordering=name").json()
    assert (page["count"], [owner["name"] for owner in page["results"]]) == (3, ["superuser"])
    assert client.get(f"{PATH}?owner_model=robot").status_code == 400


def test_an_owner_goes_with_its_account(accounts: AccountsService):
    """There is nothing to keep in step."""
    client = accounts.client("superuser")
    pk = client.get(f"{PATH}?search=staff").json()[0]["pk"]

    client.delete(f"/api/user/{accounts.pk['staff']}/")

    gone = client.get(f"{PATH}{pk}/")
    assert gone.status_code == 404
    assert "owner" in gone.json()["detail"]
    assert accounts.rows("account_user", "username") == ["user", "superuser"]
