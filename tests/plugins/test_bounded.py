"""A request is answered even when a plugin holds its thread."""

from __future__ import annotations

import asyncio
import threading
import time
from contextvars import ContextVar

import anyio
import anyio.to_thread
import pytest

from host.plugins.bounded import Exited, run_apart, run_bounded
from host.plugins.calls import PluginStuckError
from host.plugins.watchdog import current_scope
from host.plugins.watched import Overdue, ScopeAbandoned, Watched
from tests.plugins.asking import Asking, acting, acting_async, until


class Plugins:
    """A plugin that holds its thread until it is released, and a good one."""

    def __init__(self) -> None:
        self.release = threading.Event()
        self.asked = 0
        self.asking = Asking({"stuck": acting(self._hang), "good": acting(lambda: "good")})

    def _hang(self) -> str:
        self.asked += 1
        while not self.release.is_set():
            time.sleep(0.7)  # longer than deadline and grace together, and deaf meanwhile
        return "late"


@pytest.fixture
def plugins():
    """Give the plugins; the stuck one comes back in the end."""
    plugins = Plugins()
    yield plugins
    plugins.release.set()
    until(lambda: not plugins.asking.table["perform_action"][0].stuck)


def test_a_handler_runs_in_the_context_of_its_caller():
    """Its result comes back, what it raises too, and it has a scope."""
    variable: ContextVar[int] = ContextVar("variable")

    def divide() -> float:
        assert current_scope() is not None
        return 1 / variable.get()

    async def ask(number: int) -> float:
        variable.set(number)
        return await run_bounded(divide)

    assert asyncio.run(ask(2)) == 0.5
    with pytest.raises(ZeroDivisionError):
        asyncio.run(ask(0))


@pytest.mark.parametrize("error", [SystemExit(1), StopIteration()], ids=repr)
def test_nothing_that_a_handler_raises_ends_the_event_loop(error):
    """SystemExit and StopIteration become an error of this request."""

    def handler() -> None:
        raise error

    with pytest.raises(RuntimeError, match="the handler raised") as caught:
        asyncio.run(run_bounded(handler))

    assert caught.value.__cause__ is error


def test_a_handler_that_is_stuck_is_given_up(plugins):
    """The caller is told which plugin is stuck in which hook, and the failure is reported."""
    with pytest.raises(PluginStuckError, match="Plugin 'stuck' is stuck in perform_action") as caught:
        asyncio.run(run_bounded(plugins.asking.act_all))

    assert (caught.value.plugin, caught.value.hook) == ("stuck", "perform_action")
    until(lambda: plugins.asking.reports)
    assert plugins.asking.reported == [
        ("plugin.stuck.perform_action", "did not answer within 0.15 s and holds the thread of a request")
    ]
    assert "in _hang" in plugins.asking.reports[0][2]


def test_a_replayed_handler_leaves_the_stuck_plugin_out(plugins):
    """The answer has what the other plugins say, and later requests do not wait at all."""

    async def twice() -> list[list[tuple[str, object]]]:
        return [await run_bounded(plugins.asking.act_all, replay=True) for _ in range(2)]

    assert asyncio.run(twice()) == [[("good", "good")]] * 2
    assert plugins.asked == 1


def test_a_handler_that_was_given_up_does_nothing_more(plugins):
    """When its thread comes back it unwinds, past every ``except Exception``, without a further step."""
    steps: list[str] = []
    ended = threading.Event()

    def handler() -> None:
        try:
            try:
                plugins.asking.act_all()
            except Exception:  # noqa: BLE001 - it must not stop the unwinding
                steps.append("caught")
            steps.append("went on")
        except ScopeAbandoned:
            steps.append("unwound")
            try:
                plugins.asking.act_all()
            except ScopeAbandoned:
                steps.append("asked in vain")
        finally:
            ended.set()

    with pytest.raises(PluginStuckError):
        asyncio.run(run_bounded(handler))
    plugins.release.set()
    assert ended.wait(10)

    assert steps == ["unwound", "asked in vain"]
    assert plugins.asked == 1


def test_a_thread_that_was_given_up_counts_no_more(plugins):
    """The next handler gets the only place at once."""

    async def ask() -> str:
        limiter = anyio.CapacityLimiter(1)
        with pytest.raises(PluginStuckError):
            await run_bounded(plugins.asking.act_all, limiter=limiter)
        return await run_bounded(lambda: "served", limiter=limiter)

    assert asyncio.run(ask()) == "served"


def test_slow_handlers_are_not_given_up():
    """Only calls of plugins are bounded; the host's own work may take its time."""
    asking = Asking({"good": acting(lambda: "good")})

    def handler() -> list[tuple[str, object]]:
        time.sleep(0.5)
        return asking.act_all()

    assert asyncio.run(run_bounded(handler)) == [("good", "good")]


def test_async_plugins_may_ask_within_a_request():
    """A coroutine on the plugins' loop that asks others runs them apart: the scope is its caller's."""
    inner = Asking({"sync": acting(lambda: "sync"), "async": acting_async(_answer)})

    async def ask() -> list[tuple[str, object]]:
        return inner.act_all()

    outer = Asking({"outer": acting_async(ask)}, deadlines={"default": 5})

    assert asyncio.run(run_bounded(outer.act_all)) == [("outer", [("sync", "sync"), ("async", "answer")])]


async def _answer() -> str:
    return "answer"


def test_apart_tells_exits_and_hangs_from_failures():
    """What ran apart comes back as it is, unless it would end the thread that waits."""

    def leave(_nothing: object) -> None:
        raise SystemExit(2)

    release = threading.Event()

    with pytest.raises(ZeroDivisionError):
        run_apart(Watched("lamp", "hook", 5), lambda number: 1 / number, 0)
    with pytest.raises(Exited) as caught:
        run_apart(Watched("lamp", "hook", 5), leave)
    assert isinstance(caught.value.error, SystemExit)
    with pytest.raises(Overdue) as overdue:
        run_apart(Watched("lamp", "hook", 0.05), lambda _nothing: release.wait())
    assert "release.wait" in overdue.value.stack
    release.set()
