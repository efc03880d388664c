"""Calls are ended at their deadline, and the exception that does it never reaches the host."""

# ruff: noqa: S311 - chance only decides how long things take
from __future__ import annotations

import contextlib
import os
import random
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from host.plugins import watchdog
from host.plugins.watchdog import WATCHDOG, Scope, current_scope
from host.plugins.watched import Call, HookDeadline, Overdue, ScopeAbandoned, Watched
from tests.plugins.asking import until

# Where garbage is collected in that moment, it is a callback of Hypothesis that the exception ends.
pytestmark = pytest.mark.filterwarnings(
    "ignore:Exception ignored in. <function gc_cumulative_time:pytest.PytestUnraisableExceptionWarning"
)

THREADS = 4
ROUNDS = 250
SHORT = 0.004


def spend(seconds: float) -> None:
    """Run Python code, of many small calls, for about this time."""
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        str(random.random())


def swallow(seconds: float) -> None:
    """Run for about this time whatever is raised."""
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        with contextlib.suppress(HookDeadline):
            spend(seconds / 10)


def _plugin_work(scope: Scope) -> Callable[[Any], object]:
    inner = Watched("inner", "hook", SHORT)

    def nested(_argument: object) -> object:
        for _ in range(3):
            with contextlib.suppress(Overdue):
                WATCHDOG.run(inner, lambda _nothing: spend(random.uniform(0, 2 * SHORT)), None, scope)
        return None

    choices: list[Callable[[Any], object]] = [
        lambda _argument: spend(random.uniform(0.8 * SHORT, 1.3 * SHORT)),
        lambda _argument: swallow(random.uniform(0.8 * SHORT, 1.3 * SHORT)),
        lambda _argument: time.sleep(random.uniform(0.8 * SHORT, 1.3 * SHORT)),
        nested,
        lambda _argument: 1 // 0,
    ]
    return random.choice(choices)


def _host(outcomes: Counter[str], leaks: list[BaseException]) -> None:
    subject = Watched("plugin", "hook", SHORT)
    try:
        with Scope(lambda _call: None) as scope:
            for _ in range(ROUNDS):
                try:
                    WATCHDOG.run(subject, _plugin_work(scope), None, scope)
                except Overdue as overdue:
                    outcomes["overdue" if overdue.seconds >= SHORT else "ended too early"] += 1
                except ZeroDivisionError:
                    outcomes["failed"] += 1
                except ScopeAbandoned:  # the machine was busy for longer than the grace
                    outcomes["abandoned"] += 1
                    scope.dead = False
                else:
                    outcomes["answered"] += 1
                if scope.innermost is not None:
                    outcomes["still registered"] += 1
                spend(0.0002)  # the host's own work, in which nothing may arrive
            spend(3 * SHORT)
    except BaseException as error:  # noqa: BLE001 - what the test looks for
        leaks.append(error)


def _hesitate(_frame: object) -> bool:
    time.sleep(random.uniform(0, SHORT / 2))
    return False


@pytest.mark.parametrize("hesitates", [False, True], ids=["at once", "between claim and exception"])
def test_the_exception_never_reaches_the_host(monkeypatch, hesitates):
    """Thousands of calls that end about when their time is up: each one is answered, failed or overdue, and no more.

    A watchdog that hesitates before it raises lets many calls end while their exception is on its way.
    """
    if hesitates:
        monkeypatch.setattr(watchdog, "_is_delicate", _hesitate)
    WATCHDOG.hasten(SHORT)
    counts: list[Counter[str]] = [Counter() for _ in range(THREADS)]
    leaks: list[BaseException] = []
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)  # threads take turns as often as they can
    try:
        threads = [threading.Thread(target=_host, args=(count, leaks)) for count in counts]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)

    assert leaks == []
    outcomes = sum(counts, Counter())
    assert outcomes["still registered"] == outcomes["ended too early"] == 0
    assert sum(outcomes.values()) == THREADS * ROUNDS
    assert min(outcomes["overdue"], outcomes["answered"], outcomes["failed"]) > THREADS


def test_a_dead_scope_unwinds_its_thread():
    """A call that was given up raises when it comes back, through handlers that catch any Exception."""
    given_up: list[Call] = []
    subject = Watched("lamp", "hook", 0.01)

    with Scope(given_up.append) as scope:
        release = threading.Event()

        def come_back() -> None:
            until(lambda: given_up)
            release.set()

        threading.Thread(target=come_back).start()
        with pytest.raises(ScopeAbandoned):
            WATCHDOG.run(subject, lambda _nothing: release.wait(), None, scope)

    assert scope.dead
    assert [call.subject for call in given_up] == [subject]
    assert "in <lambda>" in given_up[0].stack
    assert not subject.stuck


def test_an_inner_call_that_hangs_is_the_one_to_blame():
    """Of two nested calls the inner one, whose deadline comes first, is overdue, and the outer one goes on."""
    outer, inner = Watched("outer", "hook", 1.5), Watched("inner", "hook", 0.5)
    seen: list[str] = []

    def ask(scope: Scope) -> str:
        try:
            WATCHDOG.run(inner, lambda _nothing: spend(30), None, scope)
        except Overdue as overdue:
            seen.append(overdue.blocked_by)
        return "outer goes on"

    with Scope(lambda _call: None) as scope:
        assert WATCHDOG.run(outer, ask, scope, scope) == "outer goes on"

    assert seen == [""]


def test_a_plugin_that_raises_the_signal_itself_has_simply_failed():
    """Nothing is pending and nobody is overdue: the exception is the plugin's own."""

    def pretend(_nothing: object) -> None:
        raise HookDeadline

    with Scope(lambda _call: None) as scope:
        with pytest.raises(HookDeadline):
            WATCHDOG.run(Watched("lamp", "hook", 5), pretend, None, scope)
        WATCHDOG.check()


def test_scopes_end_with_their_block():
    """Nothing stays watched, and the scope around holds again."""
    before = len(WATCHDOG.scopes)
    with Scope(lambda _call: None) as outer:
        with Scope(lambda _call: None) as inner:
            assert current_scope() is inner
        assert current_scope() is outer

    assert current_scope() is None
    assert len(WATCHDOG.scopes) == before


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_calls_are_bounded_after_a_fork():
    """The watchdog's thread does not survive a fork; the child starts its own."""
    with Scope(lambda _call: None) as scope:
        WATCHDOG.run(Watched("lamp", "hook", 5), lambda _nothing: None, None, scope)
    child = os.fork()
    if child == 0:
        status = 1
        try:
            with Scope(lambda _call: None) as scope:
                WATCHDOG.run(Watched("lamp", "hook", 0.05), lambda _nothing: spend(10), None, scope)
        except Overdue:
            status = 0
        finally:
            os._exit(status)

    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
