"""What plugins do again and again."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from host import ScheduledTask, hookimpl, report_progress
from host.plugins.calls import PluginFailedError
from host.plugins.declarations import DeclarationError, checked
from host.plugins.manifest import Failure
from host.plugins.schedules import PluginSchedules
from tests.plugins.bench import Bench


class Lamp:
    """Blinks as it was told."""

    def __init__(self, **options: Any) -> None:
        self.options = options
        self.blinked = 0

    @hookimpl
    def scheduled_tasks(self) -> Sequence[ScheduledTask]:
        given: dict[str, Any] = {"name": "blink", "function": self.blink, "minutes": 5, **self.options}
        return [ScheduledTask(**given)]

    def blink(self) -> int:
        self.blinked += 1
        return self.blinked


@pytest.fixture
def bench() -> Bench:
    return Bench()


def test_schedules_of_active_plugins_run_their_functions(bench):
    """Each task is named after its plugin, and running it calls the plugin's function."""
    lamp = Lamp(repeats=3, attempts=2, repeatable=True)
    bench.load({"lamp": lamp})

    (schedule,) = PluginSchedules(bench, bench.calls)()

    assert (schedule.name, schedule.func) == ("plugin.lamp.blink", f"{__name__}.Lamp.blink")
    assert (schedule.repeats, schedule.work.attempts, schedule.work.is_repeatable) == (3, 2, True)
    assert (str(schedule.timing), schedule.at_once) == ("I 5", True)
    assert schedule.work.run() == 1
    assert lamp.blinked == 1


def test_schedules_follow_the_registry_and_the_setting(bench):
    """They end with the plugin's activation, and while the setting is off."""
    enabled = [True]
    schedules = PluginSchedules(bench, bench.calls, enabled=lambda: enabled[0])
    bench.load({"lamp": Lamp()})
    assert len(schedules()) == 1
    assert schedules() is schedules()

    enabled[0] = False
    assert schedules() == ()
    enabled[0] = True
    bench.load({})

    assert list(schedules()) == []


@pytest.mark.parametrize(("failures", "unsure"), [((), False), ((Failure("start", "lamp", "no bulb"),), True)])
def test_schedules_of_a_plugin_that_failed_here_are_in_doubt(bench, failures, unsure):
    """Another process may have loaded it; one that was deactivated is in no doubt."""
    enabled = [True]
    schedules = PluginSchedules(bench, bench.calls, enabled=lambda: enabled[0])
    registry = bench.load({"fan": Lamp()}, inactive=["lamp"])
    bench.current = replace(registry, failures=failures)

    assert schedules.is_unsure("plugin.lamp.blink") is unsure
    assert schedules.is_unsure("plugin.fan.blink") is False
    assert schedules.is_unsure("lamp.blink") is False
    enabled[0] = False
    assert schedules.is_unsure("plugin.lamp.blink") is False


def test_asynchronous_functions_and_slow_ones(bench):
    """A coroutine is awaited; the plugin itself says how long it may take, not the deadline of hooks."""

    async def glow() -> str:
        report_progress(1, 1)
        return "on"

    bench.load({"lamp": Lamp(function=glow)})
    (schedule,) = PluginSchedules(bench, bench.calls)()
    assert schedule.work.run() == "on"

    bench.load({"lamp": Lamp(function=lambda: time.sleep(0.6), timeout=0.2)})
    (schedule,) = PluginSchedules(bench, bench.calls)()
    with pytest.raises(PluginFailedError, match=r"0\.2"):
        schedule.work.run()
    assert bench.reported == ["plugin.lamp.schedule.blink"]


def test_a_function_that_fails_is_reported_and_fails_its_task(bench):
    """The error goes on to the task, which is then tried again."""

    def fail() -> None:
        raise OSError("no bulb")

    bench.load({"lamp": Lamp(function=fail)})
    (schedule,) = PluginSchedules(bench, bench.calls)()

    with pytest.raises(PluginFailedError, match="no bulb"):
        schedule.work.run()

    assert bench.reported == ["plugin.lamp.schedule.blink"]


@pytest.mark.parametrize(
    "wrong",
    [
        pytest.param({"name": "a b"}, id="a name with a blank"),
        pytest.param({"name": "x" * 101}, id="a long name"),
        pytest.param({"name": 5}, id="a name that is no text"),
        pytest.param({"function": "blink"}, id="no function"),
        pytest.param({"schedule": "X"}, id="an unknown kind"),
        pytest.param({"minutes": None}, id="no minutes"),
        pytest.param({"minutes": 0}, id="no time at all"),
        pytest.param({"minutes": 2**63}, id="for ever"),
        pytest.param({"minutes": True}, id="minutes that are no number"),
        pytest.param({"schedule": "C", "cron": "* * *"}, id="half an expression"),
        pytest.param({"schedule": "C", "cron": None}, id="no expression"),
        pytest.param({"schedule": "C", "cron": "0 0 30 2 *"}, id="a day that never comes"),
        pytest.param({"repeats": 0}, id="no run"),
        pytest.param({"repeats": -2}, id="fewer than none"),
        pytest.param({"attempts": 0}, id="no attempt"),
        pytest.param({"timeout": float("nan")}, id="a timeout that is no number"),
        pytest.param({"timeout": -1}, id="a timeout before the start"),
    ],
)
def test_what_could_never_run_is_refused(wrong):
    """A wrong schedule is refused where it is made, with its name and the reason."""
    given = {"name": "blink", "function": print, "minutes": 5, **wrong}

    with pytest.raises(ValueError, match=r"scheduled task|cron expression|no month has"):
        ScheduledTask(**given)


def test_names_are_unique_within_a_plugin():
    """Two tasks of one name would be one schedule."""
    task = ScheduledTask(name="blink", function=print, minutes=5)

    assert checked("scheduled_tasks", [task]) == (task,)
    with pytest.raises(DeclarationError, match="blink more than once"):
        checked("scheduled_tasks", [task, task])
