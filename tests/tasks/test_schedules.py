"""Schedules: at each due time one task, however many workers look."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from host.tasks.jobs import Job, Work
from host.tasks.schedules import Schedule, Schedules
from host.tasks.timing import Timing
from tests.tasks.conftest import START


def _every(minutes: int, run: Any = lambda: None, *, repeats: int = -1, name: str = "plugin.lamp.blink") -> Schedule:
    return Schedule(
        name=name, func="lamp.blink", work=Work(run=run), timing=Timing(kind="I", minutes=minutes), repeats=repeats
    )


def test_each_due_time_runs_once_for_all_workers(bench):
    """Two workers that look at the same time make one task; the next due time keeps to the beat."""
    ran = []
    bench.schedules.append(_every(5, lambda: ran.append(bench.moment)))
    other = bench.another()
    for _ in range(3):
        for tasks in (bench.tasks, other, bench.tasks):
            tasks.run_due_schedules()
        bench.tasks.drain(5)
        bench.later(minutes=5)

    assert ran == [START, START + timedelta(minutes=5), START + timedelta(minutes=10)]
    schedule = bench.schedule("plugin.lamp.blink")
    assert schedule["next_run"] == START + timedelta(minutes=15)
    assert (schedule["success"], schedule["last_run"]) == (True, ran[-1])
    assert schedule["task"] == bench.rows()[-1]["task_id"]


def test_times_that_passed_while_nobody_was_there_run_once(bench):
    """After a day without workers there is one run, not one for each time that was missed."""
    bench.schedules.append(_every(5))
    bench.tasks.run_due_schedules()
    bench.tasks.drain(5)
    bench.later(days=1, minutes=2)

    bench.tasks.run_due_schedules()

    assert len(bench.rows()) == 2
    assert bench.schedule("plugin.lamp.blink")["next_run"] == START + timedelta(days=1, minutes=5)


def test_a_run_that_goes_on_or_still_waits_is_not_overtaken(bench):
    """While the last run has not ended, a due time is left out."""
    bench.schedules.append(_every(5))
    bench.tasks.run_due_schedules()
    (row,) = bench.rows()
    bench.later(minutes=5)
    bench.tasks.run_due_schedules()
    assert len(bench.rows()) == 1

    claimed = bench.tasks.log.claim(row["task_id"], "me")
    bench.later(minutes=5)
    bench.tasks.run_due_schedules()
    assert len(bench.rows()) == 1

    bench.tasks.log.succeeded(claimed, "")
    bench.later(minutes=5)
    bench.tasks.run_due_schedules()
    assert len(bench.rows()) == 2


def test_a_failed_run_that_waits_for_another_try_gives_way_to_the_next(bench):
    """The next due time comes instead of the retry, and the failed run is reported."""

    def fail() -> None:
        raise ValueError("no bulb")

    bench.schedules.append(_every(2, fail))
    bench.tasks.run_due_schedules()
    bench.tasks.drain(5)
    assert bench.schedule("plugin.lamp.blink")["success"] is False
    bench.later(minutes=2)

    bench.tasks.run_due_schedules()

    assert [row["status"] for row in bench.rows()] == ["failed", "waiting"]
    assert bench.tasks.drain(5)


def test_repeats_are_counted_down(bench):
    """After its last run a schedule stays, without another time."""
    bench.schedules.append(_every(1, repeats=2))
    for _ in range(4):
        bench.tasks.run_due_schedules()
        bench.tasks.drain(5)
        bench.later(minutes=1)

    schedule = bench.schedule("plugin.lamp.blink")
    assert (len(bench.rows()), schedule["repeats"], schedule["next_run"]) == (2, 0, None)


def test_schedules_come_change_and_go_with_their_plugin(bench):
    """What is declared no more vanishes with what waits of it, what changed starts anew; who is stale does nothing."""
    bench.schedules[:] = [_every(5), _every(5, name="plugin.lamp.other")]
    bench.tasks.run_due_schedules()
    first = bench.schedule("plugin.lamp.blink")
    bench.schedules[:] = [_every(7)]
    bench.up_to_date = False
    bench.tasks.run_due_schedules()
    assert bench.schedule("plugin.lamp.other") is not None

    bench.up_to_date = True
    bench.tasks.run_due_schedules()

    assert bench.schedule("plugin.lamp.other") is None
    changed = bench.schedule("plugin.lamp.blink")
    assert changed["id"] == first["id"]
    assert changed["definition"] != first["definition"]
    assert [row["func"] for row in bench.rows()] == ["plugin.lamp.blink"]


def test_jobs_of_the_host_start_soon_and_follow_their_setting(bench):
    """A job runs a minute after the start, then as often as its setting says, and not at all when that is 0."""
    minutes = [30]
    ran = []
    bench.jobs.append(Job(name="news.refresh", run=lambda: ran.append(1), minutes=lambda: minutes[0]))
    bench.tasks.run_due_schedules()
    assert bench.schedule("news.refresh")["next_run"] == START + timedelta(minutes=1)
    bench.later(minutes=1)
    bench.tasks.run_due_schedules()
    bench.tasks.drain(5)
    assert ran == [1]
    assert bench.schedule("news.refresh")["next_run"] == START + timedelta(minutes=31)

    minutes[0] = 1440
    bench.tasks.run_due_schedules()
    assert bench.schedule("news.refresh")["schedule_type"] == "D"
    assert bench.schedule("news.refresh")["next_run"] == START + timedelta(days=1, minutes=1)
    minutes[0] = 0
    bench.tasks.run_due_schedules()
    assert bench.schedule("news.refresh") is None


@pytest.mark.parametrize("kind", ["O", "C"])
def test_kinds_that_are_not_a_beat(bench, kind):
    """What is due once is due once; a cron expression has times of its own."""
    timing = Timing(kind=kind, cron="*/10 * * * *")
    bench.schedules.append(Schedule(name="plugin.a.b", func="b", work=Work(run=lambda: None), timing=timing))

    bench.tasks.run_due_schedules()

    next_run = bench.schedule("plugin.a.b")["next_run"]
    assert next_run == (None if kind == "O" else START + timedelta(minutes=10))
    assert len(bench.rows()) == (kind == "O")


def test_a_process_in_which_a_plugin_fails_leaves_its_schedules_to_others(bench):
    """Else it would take away what another one makes, which would begin anew, and run, each time."""
    bench.work["work"] = lambda: None
    bench.schedules = [_every(5)]
    bench.tasks.run_due_schedules()
    stored = bench.schedule("plugin.lamp.blink")
    others = Schedules(bench.database, bench.tasks.log, is_unsure=lambda name: name.startswith("plugin.lamp."))

    others.settle({})

    assert others.start_due({}) == []
    assert bench.schedule("plugin.lamp.blink") == stored
    Schedules(bench.database, bench.tasks.log).settle({})
    assert bench.schedule("plugin.lamp.blink") is None
