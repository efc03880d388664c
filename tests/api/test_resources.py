"""Records: create, change, delete, bulk delete and their descriptions."""

from __future__ import annotations

import pytest

from api.bulk import MOST_ITEMS

PATH = "/api/shelf/"


@pytest.fixture
def keys(superuser):
    """Three shelves and one that plain users cannot see; returns their keys."""
    made = [superuser.post(PATH, json={"name": name}) for name in ("a", "b", "c", "secret")]
    return [response.json()["pk"] for response in made]


def left(superuser):
    """Return the keys that are left."""
    return [shelf["pk"] for shelf in superuser.get(f"{PATH}?ordering=name").json()]


@pytest.mark.parametrize(
    ("method", "path", "expected"),
    [
        ("GET", PATH, {"anonymous": 401, "user": 200, "staff": 200, "superuser": 200}),
        ("POST", PATH, {"anonymous": 401, "user": 403, "staff": 201, "superuser": 201}),
        ("DELETE", PATH, {"anonymous": 401, "user": 403, "staff": 403, "superuser": 400}),
        ("GET", f"{PATH}1/", {"anonymous": 401, "user": 200, "staff": 200, "superuser": 200}),
        ("PATCH", f"{PATH}1/", {"anonymous": 401, "user": 403, "staff": 200, "superuser": 200}),
        ("PUT", f"{PATH}1/", {"anonymous": 401, "user": 403, "staff": 200, "superuser": 200}),
        ("DELETE", f"{PATH}1/", {"anonymous": 401, "user": 403, "staff": 403, "superuser": 204}),
        ("GET", f"{PATH}99/", {"anonymous": 401, "user": 404, "staff": 404, "superuser": 404}),
    ],
)
def test_who_may_do_what(client_of, keys, method, path, expected):
    """Each operation has its own right."""
    body = None if method in {"GET", "DELETE"} else {"name": "x"}

    assert {caller: client_of(caller).request(method, path, json=body).status_code for caller in expected} == expected


def test_create_answers_the_record(superuser):
    """201 with the whole record; the server's members are ignored on input, defaults filled in."""
    response = superuser.post(PATH, json={"name": " New ", "pk": 77, "built": "2000-01-01 00:00", "owner": 1})

    assert response.status_code == 201
    shelf = response.json()
    assert shelf["pk"] == 1
    assert shelf["name"] == "New"
    assert shelf["kind"] == "wood"
    assert shelf["owner_detail"] == {"pk": 1, "username": "user"}
    assert superuser.get(f"{PATH}1/").json() == shelf


def test_patch_changes_only_what_is_sent(superuser, keys):
    """PATCH takes a subset; PUT needs the required members."""
    assert superuser.patch(f"{PATH}{keys[0]}/", json={"level": 7}).json()["level"] == 7
    assert superuser.patch(f"{PATH}{keys[0]}/", json={}).json()["level"] == 7
    assert superuser.put(f"{PATH}{keys[0]}/", json={"level": 8}).json() == {"name": ["This field is required."]}


@pytest.mark.parametrize(
    ("query", "body", "gone"),
    [
        ("", {"items": [1]}, {1}),
        ("", {"items": ["1", 1, 2]}, {1, 2}),
        ("", {"items": [1, 999]}, {1}),
        ("", {"filters": {"name": "b"}}, {2}),
        ("", {"filters": {"kind": "wood"}, "items": [1, 3]}, {1, 3}),
        ("", {"filters": {"full": False, "level": "0"}, "items": [2]}, {2}),
        ("?all=true", {}, {1, 2, 3, 4}),
        ("?all=true", None, {1, 2, 3, 4}),
        ("?all=true&name=b", None, {1, 2, 3, 4}),
        ("?all=true", {"items": [3]}, {3}),
    ],
    ids=repr,
)
def test_bulk_delete(superuser, keys, query, body, gone):
    """Items and filters are combined by AND; success is 204 without a body."""
    response = superuser.request("DELETE", f"{PATH}{query}", json=body)

    assert response.status_code == 204, response.text
    assert response.content == b""
    assert set(left(superuser)) == {1, 2, 3, 4} - gone


@pytest.mark.parametrize(
    ("query", "body"),
    [
        ("", None),
        ("", {}),
        ("", {"items": None}),
        ("", {"items": []}),
        ("", {"items": [999]}),
        ("", {"items": 1}),
        ("", {"items": "1"}),
        ("", {"items": {"1": 1}}),
        ("", {"items": ["x"]}),
        ("", {"items": [True]}),
        ("", {"items": [None]}),
        ("", {"items": [10**30]}),
        ("", {"filters": []}),
        ("", {"filters": "x"}),
        ("", {"filters": {"unknown": 1}}),
        ("", {"filters": {"name__contains": "a"}}),
        ("", {"filters": {"level": "x"}}),
        ("", {"filters": {"name": "nothing"}}),
        ("", {"filters": {"owner_detail": {}}}),
        ("", {"filters": {"name": "a"}, "items": [2]}),
        ("?all=", {}),
        ("?all=false", {}),
        ("?all=1", {}),
    ],
)
def test_a_bulk_delete_that_means_nothing_is_refused(superuser, keys, query, body):
    """400 with a plain text, and nothing is deleted."""
    response = superuser.request("DELETE", f"{PATH}{query}", json=body)

    assert response.status_code == 400
    assert isinstance(response.json()["non_field_errors"], str)
    assert left(superuser) == keys


def test_bulk_delete_of_very_many(superuser, keys):
    """The limit is the interface's own, not one of what a database takes in one statement."""
    assert superuser.request("DELETE", PATH, json={"items": list(range(1, 40_000))}).status_code == 413
    assert superuser.request("DELETE", PATH, json={"items": list(range(1, MOST_ITEMS + 2))}).status_code == 400
    assert left(superuser) != []
    assert superuser.request("DELETE", PATH, json={"items": list(range(1, MOST_ITEMS + 1))}).status_code == 204
    assert left(superuser) == []


@pytest.mark.parametrize(
    ("path", "caller", "methods"),
    [
        (PATH, "user", {"GET"}),
        (PATH, "staff", {"GET", "POST"}),
        (PATH, "superuser", {"GET", "POST", "DELETE"}),
        (f"{PATH}1/", "user", {"GET"}),
        (f"{PATH}1/", "staff", {"GET", "PUT"}),
        (f"{PATH}1/", "superuser", {"GET", "PUT", "DELETE"}),
    ],
)
def test_options_shows_what_the_caller_may_do(client_of, path, caller, methods):
    """Clients build their forms from it."""
    response = client_of(caller).options(path)

    assert response.status_code == 200
    body = response.json()
    assert set(body) == {"name", "description", "renders", "parses", "actions"}
    assert body["renders"] == ["application/json"]
    assert body["parses"] == ["application/json", "application/x-www-form-urlencoded", "multipart/form-data"]
    assert set(body["actions"]) == methods
    if "POST" in methods:
        fields = body["actions"]["POST"]
        assert fields["pk"] == {"type": "integer", "required": True, "read_only": True, "label": "ID"} | {
            "required": False
        }
        assert fields["name"]["required"] is True
        assert fields["name"]["max_length"] == 50
        assert fields["name"]["help_text"] == "What it is called"
        assert fields["kind"]["default"] == "wood"
        assert fields["owner"]["model"] == "owner"
        assert fields["owner"]["api_url"] == "/api/owner/"
        assert fields["owner"]["allow_null"] is True
        assert set(fields["owner_detail"]["children"]) == {"pk", "username"}


def test_options_of_a_closed_endpoint_needs_a_caller(anonymous, user):
    """Anonymous OPTIONS is 401 on a closed and 200 on an open endpoint."""
    assert anonymous.options(PATH).status_code == 401
    assert anonymous.options("/api/open/").status_code == 200
    assert user.options("/api/super/").status_code == 403


def test_bulk_delete_by_form(superuser, keys):
    """In a form the structures are JSON text."""
    assert superuser.request("DELETE", PATH, data={"items": "[1, 2]"}).status_code == 204
    assert left(superuser) == keys[2:]
