"""Locate."""

from __future__ import annotations

import pytest

from host import LocateResult, hookimpl
from host.errors import NotFoundError, RefusedError
from host.plugins.locate import Locate
from tests.plugins.bench import USER, Bench


class Lamp:
    """Locates items below 100 and no others."""

    @hookimpl
    def locate_item(self, item_id: int) -> LocateResult | None:
        if item_id == 13:
            msg = "bulb broken"
            raise RuntimeError(msg)
        return LocateResult(message=f"lamp {item_id}") if item_id < 100 else None


class Map(Lamp):
    """Locates both."""

    @hookimpl
    def locate_location(self) -> LocateResult:
        return LocateResult()


class Deaf:
    """Locates nothing."""


@pytest.fixture
def bench() -> Bench:
    bench = Bench()
    bench.load({"deaf": Deaf(), "lamp": Lamp(), "map": Map()}, inactive=["asleep"])
    return bench


@pytest.fixture
def locate(bench) -> Locate:
    return Locate(bench, bench.calls)


@pytest.mark.parametrize(
    ("item", "location", "body"),
    [
        pytest.param(5, None, {"success": "lamp 5", "plugin": "map", "item": 5}, id="item"),
        pytest.param("5", None, {"success": "lamp 5", "plugin": "map", "item": "5"}, id="item as text"),
        pytest.param(5, 6, {"success": "lamp 5", "plugin": "map", "item": 5}, id="item wins"),
        pytest.param(0, 6, {"success": "Plugin 'map' shows stock location 6.", "plugin": "map", "location": 6}, id="0"),
        pytest.param(
            None, 6, {"success": "Plugin 'map' shows stock location 6.", "plugin": "map", "location": 6}, id="none"
        ),
    ],
)
def test_the_named_plugin_locates(locate, item, location, body):
    """The answer says what was done, by whom, and repeats the id as it was sent."""
    assert locate.locate("map", item, location, USER).body == body


@pytest.mark.parametrize("plugin", [None, "", "nobody", "asleep", "deaf", 5, ["map"]], ids=repr)
def test_a_plugin_that_cannot_locate_is_refused(locate, plugin):
    """Missing, unknown, inactive plugins and those without the hooks are refused; the text names the plugin."""
    with pytest.raises(RefusedError) as caught:
        locate.locate(plugin, 5, None, USER)

    assert str(plugin or "plugin") in str(caught.value)


@pytest.mark.parametrize(("item", "location"), [(None, None), (0, 0), ("", None), (None, 0)])
def test_there_must_be_something_to_locate(locate, item, location):
    """Neither item nor location is a refusal that names the plugin."""
    with pytest.raises(RefusedError, match="map"):
        locate.locate("map", item, location, USER)


def test_a_plugin_that_locates_items_alone_refuses_locations(locate):
    """A hook that is not implemented cannot be asked."""
    with pytest.raises(RefusedError, match=r"lamp.*location"):
        locate.locate("lamp", None, 5, USER)


@pytest.mark.parametrize(
    "item", ["abc", "1.5", 1.5, True, -3, 10**30, "9" * 5000, [1], {"id": 1}, 100], ids=lambda v: repr(v)[:8]
)
def test_an_id_that_is_none_or_unknown_is_not_found(locate, item):
    """What is no id, and what the plugin does not know, is not found; the text names the id."""
    with pytest.raises(NotFoundError) as caught:
        locate.locate("map", item, None, USER)

    assert repr(item) in str(caught.value)


def test_a_failing_plugin_is_named_and_reported(bench, locate):
    """The caller learns which plugin failed; the reason stands in the error report."""
    with pytest.raises(RefusedError, match="lamp") as caught:
        locate.locate("lamp", 13, None, USER)

    assert "bulb" not in str(caught.value)
    assert bench.reported == ["plugin.lamp.locate_item"]


@pytest.mark.parametrize(
    ("message", "shown"),
    [("\ud800", "\\ud800"), (b"x", "Plugin 'odd' shows stock item 1."), (None, "Plugin 'odd' shows stock item 1.")],
)
def test_a_message_that_cannot_be_sent_is_made_one(bench, locate, message, shown):
    """An answer carries text, and no half of a surrogate pair."""

    class Odd:
        @hookimpl
        def locate_item(self) -> LocateResult:
            return LocateResult(message=message)

    bench.load({"odd": Odd()})

    assert locate.locate("odd", 1, None, USER).body["success"] == shown
