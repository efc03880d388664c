"""Registering clients over the interface."""

from __future__ import annotations

import pytest

from host.accounts.digests import token_digest
from host.accounts.oauth.tables import CLIENTS
from tests.oauth.conftest import CALLBACK

PATH = "/api/oauth/clients/"
BODY = {"name": "Shelf app", "redirect_uris": [CALLBACK], "scopes": ["write", "read", "read"]}


@pytest.fixture
def caller(world):
    return world.program


def test_a_client_is_registered(world, caller):
    """It belongs to the caller; its secret is shown once and stored as a digest."""
    answer = caller("sam").post(PATH, json=BODY)

    shown = answer.json()
    secret = shown.pop("client_secret")
    assert answer.status_code == 201
    assert caller("sam").get(f"{PATH}{shown['pk']}/").json() == shown
    assert (shown["owner"], shown["scopes"], shown["public"]) == (world.users["sam"].id, ["read", "write"], False)
    (row,) = world.rows(CLIENTS)
    assert row.secret_digest == token_digest(secret)
    assert secret not in str(row)
    data = {"client": shown["client_id"], "name": "Shelf app", "owner": world.users["sam"].id}
    assert world.events == [("oauth.client_made", data, world.users["sam"].id)]
    assert world.tokens((shown["client_id"], secret))["scope"] == "read"


def test_a_public_client_has_no_secret(world, caller):
    """There is nothing that it could keep."""
    answer = caller("sam").post(PATH, json={**BODY, "public": True})

    assert "client_secret" not in answer.json()
    assert world.rows(CLIENTS)[0].secret_digest is None


@pytest.mark.parametrize(
    ("changes", "member"),
    [
        ({"name": ""}, "name"),
        ({"name": "x" * 101}, "name"),
        ({"redirect_uris": ["http://app.example.org/"]}, "redirect_uris"),
        ({"redirect_uris": [f"{CALLBACK}{number}" for number in range(21)]}, "redirect_uris"),
        ({"redirect_uris": [], "public": True}, "redirect_uris"),
        ({"redirect_uris": [7, None]}, "redirect_uris"),
        ({"redirect_uris": ["org.example.app:/"]}, "redirect_uris"),
        ({"scopes": []}, "scopes"),
        ({"scopes": ["read", "all"]}, "scopes"),
        ({"scopes": "read"}, "scopes"),
    ],
)
def test_a_client_that_cannot_be_is_refused(world, caller, changes, member):
    """The member is named, and nothing is stored."""
    answer = caller("sam").post(PATH, json=BODY | changes)

    assert answer.status_code == 400
    assert answer.json().keys() == {member}
    assert world.rows(CLIENTS) == []


def test_who_manages_which_clients(world, caller):
    """Staff their own, superusers all, others none."""
    world.client("sam")
    world.client("root")
    world.client(None)

    for name, status in (("", 401), ("ada", 403)):
        for method, path in (("GET", PATH), ("POST", PATH), ("GET", f"{PATH}1/"), ("DELETE", f"{PATH}1/")):
            assert caller(name).request(method, path).status_code == status
    assert [one["pk"] for one in caller("sam").get(PATH).json()] == [1]
    assert sorted(one["pk"] for one in caller("root").get(PATH).json()) == [1, 2, 3]
    for pk in (2, 3):
        path = f"{PATH}{pk}/"
        for response in (
            caller("sam").get(path),
            caller("sam").patch(path, json={"redirect_uris": ["https://sam.example/"]}),
            caller("sam").delete(path),
        ):
            assert response.status_code == 404
    assert [row.redirect_uris for row in world.rows(CLIENTS)] == [[CALLBACK]] * 3


def test_a_client_is_changed(world, caller):
    """Name, addresses and scopes; nothing else, and it stays of its kind."""
    world.client("sam")
    change = {"name": "New", "redirect_uris": [f"{CALLBACK}2"], "scopes": ["staff", "read"], "public": True, "owner": 1}

    answer = caller("sam").patch(f"{PATH}1/", json=change)
    refused = caller("sam").patch(f"{PATH}1/", json={"redirect_uris": [], "name": "Never"})

    assert answer.status_code == 200
    assert refused.status_code == 400
    (row,) = world.rows(CLIENTS)
    assert (row.name, row.redirect_uris, row.scopes) == ("New", [f"{CALLBACK}2"], ["read", "staff"])
    assert (row.public, row.owner_id) == (False, world.users["sam"].id)


def test_a_removed_client_takes_its_tokens_along(world, caller):
    """They are worth nothing at once, and the removal is told."""
    client = world.client("sam")
    token = world.tokens(client)

    assert caller("sam").delete(f"{PATH}1/").status_code == 204

    assert world.rows(CLIENTS) == []
    assert world.stored == (0, 0, 0)
    assert world.caller(token["access_token"]).get("/api/who/").status_code == 401
    assert world.refresh(client, token["refresh_token"]).json()["error"] == "invalid_client"
    assert world.events[-1][0] == "oauth.client_removed"


def test_forms_are_described(caller):
    """A web client builds its forms from OPTIONS; what the server sets is read only."""
    members = caller("sam").options(PATH).json()["actions"]["POST"]

    assert members["name"]["required"] is True
    assert [one["value"] for one in members["scopes"]["child"]["choices"]] == ["read", "write", "plugins", "staff"]
    assert members["client_secret"]["read_only"] is True
