"""Notifications over the interface."""

from __future__ import annotations

import re

import pytest
from sqlalchemy import select

from host.records.notifications import NOTIFICATIONS, Target
from tests.api.service import Service

PATH = "/api/notifications/"


@pytest.fixture
def told(shared_service: Service):
    """Tell the kinds of callers things, and take all back afterwards."""
    service = shared_service
    pks = {account.username: account.id for account in service.host.directory.list()[0]}
    notifications = service.host.records.notifications

    def tell(caller: str, name: str, **more) -> int:
        notifications.tell([pks[caller]], category="tests", name=name, **more)
        with service.host.database.read() as connection:
            statement = select(NOTIFICATIONS.c.id).where(NOTIFICATIONS.c.name == name)
            return int(connection.execute(statement.where(NOTIFICATIONS.c.user_id == pks[caller])).scalar_one())

    yield tell
    with service.host.database.write() as session:
        session.connection().execute(NOTIFICATIONS.delete())


def test_people_see_what_they_were_told(shared_service, told):
    """The record has every member that clients read."""
    pk = told("user", "Look", message="at this", target=Target(name="Lamp", model="part", id=7, link="/part/7/"))
    plain = told("user", "Plain")
    told("staff", "Look")

    found = {record["pk"]: record for record in shared_service.client("user").get(PATH).json()}

    assert set(found) == {pk, plain}
    record = found[pk]
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d", record.pop("creation"))
    assert 0 <= record.pop("age") < 60
    assert record.pop("user") == next(
        account.id for account in shared_service.host.directory.list()[0] if account.username == "user"
    )
    assert record == {
        "pk": pk,
        "target": {"name": "Lamp", "model_name": "part", "model_type": "part", "model_id": 7, "link": "/part/7/"},
        "source": None,
        "category": "tests",
        "name": "Look",
        "message": "at this",
        "age_human": "just now",
        "read": False,
    }
    assert found[plain]["target"] is None


@pytest.mark.parametrize(
    ("query", "names"),
    [
        pytest.param("", ["second", "first"], id="newest first"),
        pytest.param("?read=true", ["first"], id="read"),
        pytest.param("?read=false", ["second"], id="unread"),
        pytest.param("?read=maybe", ["second", "first"], id="a filter that is no boolean is ignored"),
        pytest.param("?category=tests&ordering=name", ["first", "second"], id="category, by name"),
        pytest.param("?category=other", [], id="another category"),
        pytest.param("?search=SEC", ["second"], id="search"),
    ],
)
def test_lists_are_filtered_ordered_and_searched(shared_service, told, query, names):
    """Category and read filter; category, name and message are searched."""
    client = shared_service.client("user")
    first = told("user", "first")
    told("user", "second")
    assert client.patch(f"{PATH}{first}/", json={"read": True}).json()["read"] is True

    assert [record["name"] for record in client.get(PATH + query).json()] == names
    page = client.get(f"{PATH}?limit=1{query.replace('?', '&')}").json()
    assert (page["count"], [record["name"] for record in page["results"]]) == (len(names), names[:1])


def test_only_the_mark_can_be_changed(shared_service, told):
    """Other members are ignored; a value that is no boolean is refused."""
    client = shared_service.client("user")
    pk = told("user", "fixed")

    assert client.patch(f"{PATH}{pk}/", json={"name": "x", "message": "x"}).json()["name"] == "fixed"
    assert client.patch(f"{PATH}{pk}/", json={"read": "perhaps"}).status_code == 400
    assert client.put(f"{PATH}{pk}/", json={}).json() == {"read": ["This field is required."]}
    assert client.post(PATH, json={"name": "x"}).status_code == 405
    assert client.put(f"{PATH}{pk}/", json={"read": True}).json()["read"] is True


def test_all_are_read_at_once(shared_service, told):
    """Those of others stay unread."""
    told("user", "a")
    other = told("staff", "b")

    assert shared_service.client("user").post(f"{PATH}readall/").status_code == 200

    assert [record["read"] for record in shared_service.client("user").get(PATH).json()] == [True]
    assert shared_service.client("staff").get(f"{PATH}{other}/").json()["read"] is False


def test_nobody_reaches_what_others_were_told(shared_service, told):
    """Not even superusers, alone or in bulk."""
    pk = told("user", "mine")
    client = shared_service.client("superuser")

    for answer in (
        client.get(f"{PATH}{pk}/"),
        client.patch(f"{PATH}{pk}/", json={"read": True}),
        client.delete(f"{PATH}{pk}/"),
    ):
        assert answer.status_code == 404
    assert client.request("DELETE", PATH, json={"items": [pk]}).status_code == 400
    assert shared_service.client("user").get(f"{PATH}{pk}/").json()["read"] is False


def test_several_are_deleted_at_once(shared_service, told):
    """By keys, by filters, or all of one's own."""
    client = shared_service.client("user")
    first, second, third = (told("user", name) for name in ("a", "b", "c"))
    foreign = told("staff", "a")

    assert client.request("DELETE", PATH, json={"items": [first, foreign]}).status_code == 204
    assert {record["pk"] for record in client.get(PATH).json()} == {second, third}
    assert client.request("DELETE", PATH, json={"filters": {"name": "b"}}).status_code == 204
    assert client.request("DELETE", f"{PATH}?all=true").status_code == 204
    assert client.get(PATH).json() == []
    assert shared_service.client("staff").get(f"{PATH}{foreign}/").status_code == 200
