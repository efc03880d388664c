"""Signs of life: who counts as lost, whatever the clocks say."""

from __future__ import annotations

from datetime import timedelta

import pytest

from host.storage.engine import Database
from host.storage.tables import METADATA, now
from host.tasks.log import TaskLog
from host.tasks.workers import Workers


class Machine:
    """A machine with a clock of its own and one worker; ``seconds`` passes the same on all."""

    def __init__(self, database: Database, name: str, seconds: list[float]) -> None:
        self.ahead = timedelta()
        begun = now()
        self.workers = Workers(
            database,
            silence=30,
            clock=lambda: begun + timedelta(seconds=seconds[0]) + self.ahead,
            timer=lambda: seconds[0],
        )
        self.workers.place = name


@pytest.fixture
def seconds() -> list[float]:
    return [0.0]


@pytest.fixture
def machines(sqlite_url, seconds):
    database = Database(sqlite_url)
    METADATA.create_all(database.engine)
    yield [Machine(database, name, seconds) for name in ("here", "there")]
    database.close()


def _pass(machines: list[Machine], seconds: list[float], *, silent: bool) -> tuple[list[str], list[str]]:
    here, there = machines
    found: tuple[list[str], list[str]] = ([], [])
    for _ in range(8):
        seconds[0] += 5
        here.workers.beat(2)
        if not silent:
            there.workers.beat(2)
        found = here.workers.survey()
    return found


@pytest.mark.parametrize("ahead", [timedelta(hours=1), timedelta(hours=-1), timedelta()], ids=str)
def test_a_worker_is_lost_when_it_says_nothing_whatever_the_time_is(machines, seconds, ahead):
    """Clocks that differ or jump make nobody lost; silence does, after a while."""
    here, there = machines
    both = {here.workers.name, there.workers.name}
    assert set(_pass(machines, seconds, silent=False)[0]) == both
    here.ahead = ahead

    assert set(_pass(machines, seconds, silent=False)[0]) == both
    assert _pass(machines, seconds, silent=True)[1] == [there.workers.name]


def test_a_worker_that_was_held_up_itself_judges_nobody(machines, seconds):
    """Whatever stopped it may have stopped the others as well."""
    _pass(machines, seconds, silent=False)
    seconds[0] += 3600

    here, there = machines
    here.workers.beat(2)

    assert here.workers.survey()[1] == []
    assert _pass(machines, seconds, silent=True)[1] == [there.workers.name]


def test_a_task_is_not_taken_from_a_worker_that_lives(bench):
    """Its lease counts only where nobody gives signs of life under its worker's name."""
    bench.work["work"] = lambda: None
    log: TaskLog = bench.tasks.log
    assert log.claim(bench.add("work"), "ahead") is not None
    bench.later(hours=1)

    assert log.orphans([], ["ahead"]) == []
    assert [task.worker for task in log.orphans([], ["other"])] == ["ahead"]
    assert [task.worker for task in log.orphans(["ahead"], [])] == ["ahead"]
