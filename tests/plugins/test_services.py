"""What a plugin gets from the host."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
from sqlalchemy import text

from host import ActionResult, Json, LocateResult, Plugin, Services, Setting, SettingError, User, hookimpl
from host.plugins.bounded import run_bounded
from host.plugins.events import Events
from host.plugins.plugin_loop import stop_plugin_loop
from host.plugins.services import PluginServices
from host.plugins.settings import PluginSettings
from host.settings.store import SettingStore
from tests.plugins.bench import Bench
from tests.settings.test_setting_store import add_user


class Lamp(Plugin):
    """Has settings and hears its own events."""

    def __init__(self) -> None:
        self.heard: list[Any] = []

    @hookimpl
    def plugin_settings(self) -> list[Setting]:
        return [
            Setting(key="N", name="n", type="integer", default=1),
            Setting(key="T", name="t", protected=True, confirm=True),
            Setting(key="FIXED", name="f", type="boolean"),
        ]

    @hookimpl
    def user_settings(self) -> list[Setting]:
        return [Setting(key="HUE", name="h", default="red")]

    @hookimpl
    def on_event(self, event: object) -> None:
        self.heard.append(event)


@pytest.fixture
def bench(database) -> Bench:
    bench = Bench()
    events = Events(database, bench, bench.calls)
    settings = PluginSettings(
        database,
        bench,
        bench.calls,
        SettingStore(database),
        report=bench.report,
        overrides={"lamp": {"FIXED": "yes"}},
    )
    bench.events = events  # type: ignore[attr-defined]
    services_for = partial(
        PluginServices,
        database=database,
        settings=settings,
        emit=events.emit,
        notify=lambda _session, to, **told: bench.told.append((to, told)),  # type: ignore[attr-defined]
        inbox=lambda: pytest.fail("no mail is handed in here"),
    )
    bench.told = []  # type: ignore[attr-defined]
    bench.services_for = services_for  # type: ignore[attr-defined]
    bench.load({"lamp": Lamp()}, services_for=services_for)
    return bench


@pytest.fixture
def lamp(bench) -> Lamp:
    plugin = bench.current.plugins["lamp"].object
    assert isinstance(plugin, Lamp)
    return plugin


def test_it_is_what_the_contract_promises(lamp):
    """A type checker compares the class with the protocol here."""
    services = lamp.services
    assert isinstance(services, PluginServices)
    promised: Services = services

    assert promised is services
    assert services.identity.key == "lamp"
    assert services.log.name == "plugyard.plugin.lamp"
    assert services.static_url("a.js:b") == "/static/plugins/lamp/a.js:b"


def test_a_plugin_reads_and_writes_its_settings(lamp):
    """Values have their types; protected ones are readable; confirmation is for people."""
    assert lamp.settings.get("N") == 1
    lamp.settings.set("N", 5)
    lamp.settings.set("T", "secret")

    assert lamp.settings.get("N") == 5
    assert lamp.settings.get("T") == "secret"


def test_a_fixed_setting_stays(lamp):
    """The configuration wins for the plugin too."""
    lamp.settings.set("FIXED", False)

    assert lamp.settings.get("FIXED") is True


def test_a_refused_value_is_a_setting_error(lamp):
    """Plugins know this error, not the host's."""
    with pytest.raises(SettingError, match="whole number"):
        lamp.settings.set("N", "many")


@pytest.mark.parametrize("name", ["HUE", "nothing"])
def test_an_undeclared_setting_is_a_key_error(lamp, name):
    """A user setting is no setting, and the other way round."""
    with pytest.raises(KeyError, match=name):
        lamp.settings.get(name)
    with pytest.raises(KeyError, match=name):
        lamp.settings.set(name, "x")
    with pytest.raises(KeyError, match="N"):
        lamp.settings.get_for_user("N", 1)


def test_user_settings_are_read_and_written_by_user(lamp, database):
    """Each user has own values."""
    ada, bob = add_user(database, "ada"), add_user(database, "bob")
    lamp.settings.set_for_user("HUE", ada, "blue")

    assert lamp.settings.get_for_user("HUE", ada) == "blue"
    assert lamp.settings.get_for_user("HUE", bob) == "red"


def test_an_event_is_prefixed_with_the_plugin(bench, lamp):
    """A plugin can send events in its own name only."""
    lamp.emit("lit", {"bulbs": (1, 2)}, user_id=3)
    assert bench.events.drain(5)

    (event,) = lamp.heard
    assert (event.name, event.data, event.user_id) == ("lamp.lit", {"bulbs": [1, 2]}, 3)


@pytest.mark.parametrize(
    ("name", "data", "error"),
    [("", {}, ValueError), ("x", {"a": object()}, TypeError)],
    ids=["no name", "no JSON"],
)
def test_a_wrong_event_is_the_plugins_mistake(lamp, name, data, error):
    """The plugin gets the error where it made it."""
    with pytest.raises(error):
        lamp.emit(name, data)


def test_a_notification_is_in_the_plugins_category(bench, lamp):
    """It is for the accounts that are named."""
    lamp.services.notify([3, 4], "Broken", "Replace it.", link="/lamp/")

    told = {"category": "lamp", "name": "Broken", "message": "Replace it.", "link": "/lamp/"}
    assert bench.told == [([3, 4], told)]


@pytest.mark.parametrize(
    ("to", "name", "error"),
    [
        pytest.param("staff", "", ValueError, id="no name"),
        pytest.param("everybody", "x", ValueError, id="unknown audience"),
        pytest.param(None, "x", TypeError, id="nobody"),
        pytest.param([1, "2"], "x", TypeError, id="id as text"),
        pytest.param([True], "x", TypeError, id="truth as id"),
        pytest.param("staff", 5, TypeError, id="number as name"),
    ],
)
def test_a_wrong_notification_is_the_plugins_mistake(bench, lamp, to, name, error):
    """Whatever the database would make of it."""
    with pytest.raises(error, match="notification"):
        lamp.services.notify(to, name)

    assert bench.told == []


def test_settings_and_events_are_part_of_the_open_transaction(bench, lamp):
    """What is written within a session is kept with it, and is seen within it."""
    with lamp.session() as session:
        session.connection().execute(text("CREATE TABLE lamp_x (id INTEGER)"))
        lamp.settings.set("N", 8)
        lamp.emit("lit")
        assert lamp.settings.get("N") == 8

    assert lamp.settings.get("N") == 8
    assert bench.events.drain(5)
    assert [event.name for event in lamp.heard] == ["lamp.lit"]


def test_settings_and_events_are_undone_with_the_transaction(bench, lamp):
    """An error in the block takes all of it back."""
    with pytest.raises(ZeroDivisionError), lamp.session():  # noqa: PT012 - it fails after the writing
        lamp.settings.set("N", 8)
        lamp.emit("lit")
        raise ZeroDivisionError

    assert lamp.settings.get("N") == 1
    assert bench.events.drain(5)
    assert lamp.heard == []


def test_a_session_within_a_session_is_a_savepoint(lamp):
    """The inner block can fail alone, and does not wait for the outer one."""
    with lamp.session():
        lamp.settings.set("N", 2)
        with pytest.raises(ZeroDivisionError), lamp.session():  # noqa: PT012 - it fails after the writing
            lamp.settings.set("N", 3)
            raise ZeroDivisionError

    assert lamp.settings.get("N") == 2


class Forgetful(Plugin):
    """Leaves its sessions open."""

    def __init__(self) -> None:
        self.left: list[Any] = []

    def write(self) -> Iterator[None]:
        with self.session() as session:
            session.connection().execute(
                text("INSERT INTO plugin_setting (plugin_key, key, value) VALUES ('forgetful', 'A', 'b')")
            )
            yield

    @hookimpl
    def perform_action(self, action: str, data: Json, user: User) -> ActionResult:
        del data, user
        self.left.append(self.write())
        next(self.left[-1])
        return ActionResult(result=action)

    @hookimpl
    async def locate_item(self, item_id: int, user: User) -> LocateResult:
        del item_id, user
        self.left.append(self.write())
        next(self.left[-1])
        return LocateResult(message="left")


@pytest.mark.parametrize("hook", ["perform_action", "locate_item"])
def test_a_session_that_is_left_open_is_rolled_back(bench, database, caplog, hook):
    """When the plugin has come back, nobody waits for its lock, and the log names it."""
    bench.load({"forgetful": Forgetful()}, services_for=bench.services_for)
    arguments: dict[str, object] = {"action": "x", "data": None} if hook == "perform_action" else {"item_id": 1}
    arguments["user"] = User(id=1, username="ann")

    for _ in range(2):
        assert len(bench.calls.ask_all(bench.current.hooks[hook], **arguments)) == 1
        with database.write() as session:
            count = session.execute(text("SELECT count(*) FROM plugin_setting")).scalar()

    assert count == 0
    assert "Plugin forgetful left a database session open" in caplog.text
    for generator in bench.current.plugins["forgetful"].object.left:
        generator.close()
    stop_plugin_loop()


def test_a_session_that_a_handler_finds_left_open_is_rolled_back_at_its_end(bench, database):
    """At the edge of the HTTP interface too."""
    bench.load({"forgetful": Forgetful()}, services_for=bench.services_for)
    asked = bench.current.hooks["perform_action"]

    async def handle() -> None:
        await run_bounded(lambda: bench.calls.ask_first(asked, action="x", data=None, user=User(id=1, username="ann")))

    asyncio.run(handle())

    with database.write() as session:
        assert session.execute(text("SELECT count(*) FROM plugin_setting")).scalar() == 0
    for generator in bench.current.plugins["forgetful"].object.left:
        generator.close()
