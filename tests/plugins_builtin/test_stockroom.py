"""The stockroom sample: tables, routes, an action and locating, on a real database."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from host import UIContext
from sample_plugins.stockroom.plugin import Stockroom

PATH = "/plugin/sample-stockroom"
HUGE = 2**40


@pytest.fixture
def stockroom(database, load, client_of):
    """A loaded stockroom that holds three screws in a drawer of a cabinet."""
    plugin = Stockroom()
    services = load(plugin, "sample-stockroom", database)
    client = client_of(plugin, "sample-stockroom")

    def create(collection, **fields):
        answer = client.post(f"{PATH}/{collection}/", json=fields)
        assert answer.status_code == 201, answer.text
        return answer.json()["id"]

    category = create("categories", name="Fasteners")
    cabinet = create("locations", name="Cabinet")
    drawer = create("locations", name="Drawer", parent_id=cabinet)
    part = create("parts", name="Screw", category_id=category)
    item = create("items", part_id=part, location_id=drawer, quantity=3)
    return SimpleNamespace(
        plugin=plugin, services=services, client=client, category=category, cabinet=cabinet, drawer=drawer, item=item
    )


def test_what_was_created_is_listed(stockroom):
    """Records can be read with the ids they were given."""
    assert stockroom.client.get(f"{PATH}/items/").json() == {
        "count": 1,
        "results": [{"id": stockroom.item, "part_id": 1, "location_id": stockroom.drawer, "quantity": 3}],
    }
    names = [one["name"] for one in stockroom.client.get(f"{PATH}/locations/?offset=1").json()["results"]]
    assert names == ["Drawer"]


@pytest.mark.parametrize(
    ("collection", "sent", "field"),
    [
        pytest.param("parts", {}, "name", id="missing"),
        pytest.param("parts", {"name": ""}, "name", id="empty"),
        pytest.param("parts", {"name": "Nut", "category_id": 99}, "category_id", id="unknown category"),
        pytest.param("items", {"part_id": HUGE}, "part_id", id="number beyond the column"),
        pytest.param("items", {"part_id": 1, "quantity": -1}, "quantity", id="negative"),
        pytest.param("items", [], "body", id="no object"),
    ],
)
def test_wrong_fields_are_named(stockroom, collection, sent, field):
    """A record that cannot be is refused, and the answer says which field is wrong."""
    answer = stockroom.client.post(f"{PATH}/{collection}/", json=sent)

    assert answer.status_code == 400
    assert list(answer.json()) == [field]


def test_an_item_is_moved(stockroom, user):
    """The action changes the location and tells others."""
    data = {"item": stockroom.item, "location": stockroom.cabinet}

    done = stockroom.plugin.perform_action("stockroom.move", data, user)

    change = {"item": stockroom.item, "from": stockroom.drawer, "to": stockroom.cabinet}
    assert done.result is True
    assert stockroom.plugin.locate_item(stockroom.item, user).message == "eve: Screw is at Cabinet"
    assert stockroom.services.emitted == [("sample-stockroom.item.moved", change, user.id)]


def test_a_move_that_makes_no_sense_changes_nothing(stockroom, user):
    """The caller is told, and nobody hears of an event."""
    item = stockroom.item
    for data in (
        None,
        {},
        {"item": "1", "location": 1},
        {"item": True, "location": True},
        {"item": 99, "location": 1},
        {"item": item, "location": HUGE},
    ):
        assert stockroom.plugin.perform_action("stockroom.move", data, user).result is False

    assert stockroom.services.emitted == []


def test_only_what_exists_can_be_located(stockroom, user):
    """``None`` becomes a 404 of the host."""
    plugin = stockroom.plugin

    assert plugin.locate_item(stockroom.item, user).message == "eve: Screw is at Drawer"
    assert plugin.locate_location(stockroom.drawer, user).message == "eve: follow the signs to Drawer"
    for unknown in (0, 99, HUGE):
        assert plugin.locate_item(unknown, user) is None
        assert plugin.locate_location(unknown, user) is None


def test_model_types_know_their_records(stockroom):
    """Attachments can be refused for a record that does not exist."""
    types = {one.name: one for one in stockroom.plugin.model_types()}

    assert set(types) == {"partcategory", "stocklocation"}
    assert types["partcategory"].exists(stockroom.category)
    assert types["stocklocation"].exists(stockroom.drawer)
    assert not types["stocklocation"].exists(99)
    assert not types["stocklocation"].exists(HUGE)


def test_a_location_has_a_panel(stockroom, user):
    """Other records have none."""

    def panels(model):
        query = {"target_model": model, "target_id": "2"}
        return stockroom.plugin.ui_panels(UIContext(feature_type="panel", user=user, query=query))

    assert [panel.context for panel in panels("stocklocation")] == [{"items": f"{PATH}/items/", "location": "2"}]
    assert panels("part") == []
