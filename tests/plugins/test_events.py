"""Events."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from sqlalchemy import func, select, text

from host import Event, hookimpl
from host.plugins.current import CurrentRegistry
from host.plugins.events import Events, Pace, wants
from host.plugins.outbox import EventOutbox, Outbox
from host.storage.engine import Database
from host.storage.tables import HostTable
from tests.plugins.bench import Bench

TABLE = HostTable.metadata.tables[str(EventOutbox.__tablename__)]
SLOW = Pace(poll=3600)


class Listening:
    """Keeps the events it gets."""

    def __init__(self, *patterns: str, error: Exception | None = None) -> None:
        self.patterns = patterns
        self.error = error
        self.heard: list[Event] = []
        self.something = threading.Event()

    @hookimpl
    def event_patterns(self) -> list[str]:
        return list(self.patterns)

    @hookimpl
    def on_event(self, event: Event) -> None:
        self.heard.append(event)
        self.something.set()
        if self.error is not None:
            raise self.error

    @property
    def names(self) -> list[str]:
        return [event.name for event in self.heard]


@pytest.fixture
def bench() -> Bench:
    return Bench()


@pytest.fixture
def events(database, bench) -> Events:
    return Events(database, bench, bench.calls)


@pytest.fixture
def running() -> Iterator[Callable[[Events], Events]]:
    started: list[Events] = []

    def start(events: Events) -> Events:
        events.start()
        started.append(events)
        return events

    yield start
    for one in started:
        one.stop()


def emit(database: Database, events: Events, *names: str, **data: Any) -> None:
    with database.write() as session:
        for name in names:
            events.emit(session, name, data, 7)


def waiting(database: Database) -> int:
    with database.read() as connection:
        return int(connection.execute(select(func.count()).select_from(TABLE)).scalar_one())


@pytest.mark.parametrize(
    ("patterns", "name", "wanted"),
    [
        (("*",), "a.b", True),
        (("plugin.*",), "plugin.activated", True),
        (("plugin.*",), "Plugin.activated", False),
        (("user.*", "*.moved"), "stock.item.moved", True),
        (("plugin",), "plugin.activated", False),
        ((), "a", False),
    ],
)
def test_patterns_fit_the_whole_name_with_case(patterns, name, wanted):
    """As shell patterns do."""
    assert wants(patterns, name) is wanted


def test_an_event_reaches_those_that_want_it(database, bench, events):
    """With its data, its account and its time; then it is gone."""
    wants_it, wants_other = Listening("lamp.*"), Listening("door.*")
    bench.load({"a": wants_it, "b": wants_other})
    emit(database, events, "lamp.lit", bulbs=[1, 2])

    assert events.drain(5)

    (event,) = wants_it.heard
    assert (event.name, event.data, event.user_id) == ("lamp.lit", {"bulbs": [1, 2]}, 7)
    assert event.time.tzinfo is not None
    assert wants_other.heard == []
    assert waiting(database) == 0


def test_events_arrive_in_the_order_of_their_ids(database, bench, events):
    """More of them than one batch holds."""
    plugin = Listening("*")
    bench.load({"a": plugin})
    names = [f"n{number}" for number in range(120)]
    emit(database, events, *names)

    assert events.drain(20)

    assert plugin.names == names
    ids = [event.id for event in plugin.heard]
    assert ids == sorted(set(ids))


def test_ids_are_not_given_twice(database, bench, events):
    """Also when no event is left in between."""
    plugin = Listening("*")
    bench.load({"a": plugin})
    for name in ("one", "two"):
        emit(database, events, name)
        assert events.drain(5)

    first, second = plugin.heard
    assert second.id > first.id


def test_nothing_is_stored_while_nobody_wants_it(database, bench, events):
    """Only a plugin that wants events makes work."""
    bench.load({"a": Listening("door.*"), "b": object()})
    emit(database, events, "lamp.lit")

    assert waiting(database) == 0


def test_a_process_without_plugins_stores_for_those_that_have_them(database, bench, events):
    """A command cannot know who wants the event; the service sorts it out."""
    plugin = Listening("lamp.*")
    command = Events(database, CurrentRegistry(), bench.calls)
    emit(database, command, "lamp.lit", "door.shut")
    bench.load({"a": plugin})

    assert events.drain(5)
    assert plugin.names == ["lamp.lit"]
    assert waiting(database) == 0


def test_an_event_is_undone_with_its_change(database, bench, events):
    """What was rolled back never happened."""
    plugin = Listening("*")
    bench.load({"a": plugin})
    with pytest.raises(ZeroDivisionError), database.write() as session:  # noqa: PT012 - it fails after the writing
        events.emit(session, "lamp.lit", {}, None)
        raise ZeroDivisionError

    assert events.drain(5)
    assert plugin.heard == []


def test_a_failing_plugin_is_reported_and_not_sent_the_event_again(database, bench, events):
    """Other plugins still get it."""
    broken, other = Listening("*", error=ValueError("no")), Listening("*")
    bench.load({"a": broken, "b": other})
    emit(database, events, "one", "two")

    assert events.drain(5)

    assert broken.names == other.names == ["one", "two"]
    assert bench.reported == ["plugin.a.on_event"] * 2


class Echo:
    """Answers each event with two more."""

    def __init__(self, database: Database, events: Events) -> None:
        self.database = database
        self.events = events
        self.heard = 0

    @hookimpl
    def on_event(self) -> None:
        self.heard += 1
        emit(self.database, self.events, "echo.one", "echo.two")


def test_events_that_cause_events_come_to_an_end(database, bench, events):
    """After eight in a row no further event is sent, and the plugin is told why."""
    echo = Echo(database, events)
    bench.load({"echo": echo})
    emit(database, events, "shout")

    assert events.drain(60)
    assert echo.heard == 2**9 - 1
    assert set(bench.reported) == {"plugin.echo.on_event"}


def test_the_dispatcher_wakes_as_the_change_is_kept(database, bench, running):
    """It does not wait for its next look, which is an hour away here."""
    plugin = Listening("*")
    bench.load({"a": plugin})
    events = running(Events(database, bench, bench.calls, pace=SLOW))

    emit(database, events, "lamp.lit")

    assert plugin.something.wait(10)


def test_the_dispatcher_finds_what_others_stored(database, bench, running):
    """Another process stored the event; this one looks now and then."""
    plugin = Listening("*")
    bench.load({"a": plugin})
    running(Events(database, bench, bench.calls, pace=Pace(poll=0.01)))

    emit(database, Events(database, bench, bench.calls), "lamp.lit")

    assert plugin.something.wait(10)


def test_the_dispatcher_starts_when_a_plugin_wants_events(database, bench, running):
    """It rests while nobody does, and notices that plugins have changed."""
    bench.load({"a": object()})
    events = running(Events(database, bench, bench.calls, pace=Pace(poll=0.01)))
    emit(database, events, "unheard")
    plugin = Listening("*")
    bench.load({"a": plugin})

    emit(database, events, "heard")

    assert plugin.something.wait(10)
    assert plugin.names == ["heard"]


def test_two_processes_deliver_each_event_once(database, bench):
    """Several dispatchers share the work, and no event is delivered twice."""
    plugin = Listening("*")
    bench.load({"a": plugin})
    dispatchers = [Events(database, bench, bench.calls, pace=Pace(poll=0.01)) for _ in range(3)]
    for dispatcher in dispatchers:
        dispatcher.start()
    names = [f"n{number}" for number in range(100)]
    for name in names:
        emit(database, dispatchers[0], name)

    assert dispatchers[0].drain(30)
    for dispatcher in dispatchers:
        dispatcher.stop()

    assert plugin.names == names


def test_a_claim_keeps_others_away_until_its_process_is_given_up(database, bench):
    """A process that died between claiming and delivering holds its events only for a while."""
    plugin = Listening("*")
    bench.load({"a": plugin})
    patient = Events(database, bench, bench.calls)
    emit(database, patient, "one", "two")
    assert [one.event.name for one in Outbox(database, lease=60).claim()] == ["one", "two"]

    assert not patient.drain(0.1)
    assert plugin.heard == []

    impatient = Events(database, bench, bench.calls, pace=Pace(lease=0))
    assert impatient.drain(5)
    assert plugin.names == ["one", "two"]


def test_a_claim_that_was_taken_over_is_lost(database):
    """Whoever was too slow notices when it renews, and cannot delete what is another's."""
    slow, quick = Outbox(database, lease=60), Outbox(database, lease=0)
    with database.write() as session:
        slow.store(session, "one", {}, None)
    event = slow.claim()[0].event
    quick.claim()

    assert not slow.renew()
    slow.done(event)
    assert waiting(database) == 1
    assert quick.renew()
    quick.done(event)
    assert waiting(database) == 0


def test_what_was_given_back_is_free_at_once(database):
    """A process that stops leaves its events to the others."""
    one, other = Outbox(database, lease=60), Outbox(database, lease=60)
    with database.write() as session:
        one.store(session, "one", {}, None)
    one.claim()
    assert other.claim() == []

    one.give_back()

    assert len(other.claim()) == 1


def test_the_dispatcher_survives_a_broken_database(database, bench, running, caplog):
    """The table is missing for a while; afterwards events arrive again."""
    plugin = Listening("*")
    bench.load({"a": plugin})
    events = Events(database, bench, bench.calls, pace=Pace(poll=0.01))
    TABLE.drop(database.engine)
    failed = threading.Event()
    events._catch_up = failed.set
    running(events)
    assert failed.wait(10)
    while not caplog.records:
        failed.clear()
        assert failed.wait(10)
    TABLE.create(database.engine)

    emit(database, events, "lamp.lit")

    assert plugin.something.wait(10)


def test_events_can_be_switched_off(database, bench):
    """Nothing is stored, and nothing that was stored is delivered."""
    plugin = Listening("*")
    bench.load({"a": plugin})
    emit(database, Events(database, bench, bench.calls), "before")
    off = Events(database, bench, bench.calls, enabled=lambda: False)
    emit(database, off, "after")

    assert off.drain(5)
    assert plugin.heard == []
    assert waiting(database) == 0


def test_stopping_leaves_the_rest_for_later(database, bench):
    """The event at hand is finished; the others wait in the table, free for anybody."""
    release = threading.Event()

    class Slow(Listening):
        @hookimpl
        def on_event(self, event: Event) -> None:
            super().on_event(event)
            release.wait(10)

    plugin = Slow("*")
    bench.load({"a": plugin})
    events = Events(database, bench, bench.calls, pace=SLOW)
    emit(database, events, "one", "two")
    events.start()
    assert plugin.something.wait(10)
    threading.Timer(0.05, release.set).start()
    events.stop()

    assert plugin.names == ["one"]
    with database.read() as connection:
        assert connection.execute(text("SELECT name, claimed_by FROM event_outbox")).all() == [("two", None)]
