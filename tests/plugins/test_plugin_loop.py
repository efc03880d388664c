"""Coroutines of plugins run on a loop of their own, which no single one can take away from the others."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from contextvars import ContextVar

import pytest

from host.plugins.plugin_loop import in_plugin_loop, plugin_loop, stop_plugin_loop, submit
from tests.plugins.asking import Asking, acting_async, until


@pytest.fixture(autouse=True)
def _fresh_loop():
    yield
    stop_plugin_loop(0.01)


async def answer() -> str:
    """Answer at once."""
    return "good"


async def hang() -> None:
    """Wait for ever, as a coroutine should."""
    await asyncio.Event().wait()


async def leave() -> None:
    """Try to end the process."""
    raise SystemExit(3)


async def give_up() -> None:
    """Cancel oneself."""
    raise asyncio.CancelledError


@pytest.mark.parametrize(
    ("misdeed", "message"),
    [
        pytest.param(hang, "did not answer within 0.15 s", id="a hang"),
        pytest.param(leave, "SystemExit: 3", id="SystemExit"),
        pytest.param(give_up, "asyncio.exceptions.CancelledError", id="a cancellation"),
    ],
)
def test_a_failing_coroutine_harms_no_other_one(misdeed, message):
    """The others answer, and the same loop serves on."""
    asking = Asking({"bad": acting_async(misdeed), "good": acting_async(answer)})
    loop = plugin_loop()

    assert asking.act_all() == [("good", "good")]

    assert asking.reported == [("plugin.bad.perform_action", message)]
    assert plugin_loop() is loop


def test_a_late_coroutine_is_cancelled():
    """It can clean up, and is not busy afterwards."""
    cleaned: list[bool] = []

    async def tidy() -> None:
        try:
            await hang()
        finally:
            cleaned.append(True)

    asking = Asking({"tidy": acting_async(tidy)})

    assert asking.act() is None
    assert cleaned == [True]
    assert not asking.one().stuck


def test_a_coroutine_that_refuses_to_end_is_busy():
    """It is not called again until it has ended."""
    release = threading.Event()
    calls: list[int] = []

    async def refuse() -> str:
        calls.append(1)
        while not release.is_set():
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(0.01)
        return "ended"

    asking = Asking({"bad": acting_async(refuse)})

    assert asking.act() is None
    assert asking.act() is None
    assert len(calls) == 1
    assert asking.reported[1][1] == "is still busy with a call that was given up earlier"

    release.set()
    until(lambda: not asking.one().stuck)


def test_a_coroutine_that_blocks_the_loop_is_interrupted():
    """An endless Python loop in ``async def`` ends, and other plugins get another loop meanwhile."""

    async def spin() -> None:
        while True:
            pass

    asking = Asking({"bad": acting_async(spin), "good": acting_async(answer)})
    loop = plugin_loop()

    assert asking.act_all() == [("good", "good")]

    assert asking.reported == [("plugin.bad.perform_action", "did not answer within 0.15 s")]
    assert plugin_loop() is not loop
    assert loop.join(5)


def test_a_blocked_loop_is_replaced_for_others():
    """While one coroutine sleeps in C code, a coroutine that came later is served by another loop."""
    release = threading.Event()

    async def block() -> None:
        release.wait()

    blocked = submit(block(), name="plugin.bad.route")
    until(lambda: blocked.loop.busy_with == "plugin.bad.route")
    asking = Asking({"good": acting_async(answer)}, deadlines={"default": 5})

    assert asking.act_all() == [("good", "good")]
    assert plugin_loop() is not blocked.loop
    assert asking.reports == []

    release.set()
    assert blocked.wait(5)
    assert blocked.loop.join(5)


def test_who_waits_behind_a_blocking_coroutine_is_not_to_blame():
    """The report of a victim names the blocking plugin, and its own budget is spared."""
    release = threading.Event()
    running = threading.Event()

    async def victim() -> None:
        running.set()
        await hang()

    asking = Asking({"victim": acting_async(victim)}, deadlines={"default": 0.5})

    def block_when_it_runs() -> None:
        running.wait()
        loop = plugin_loop()

        async def block() -> None:
            release.wait()

        loop.soon(lambda: loop.adopt(block(), "plugin.bad.route"))

    threading.Thread(target=block_when_it_runs).start()
    assert asking.act() is None

    assert asking.reported == [
        ("plugin.victim.perform_action", "did not answer in time, because plugin.bad.route took it")
    ]
    assert asking.calls._complaints.budget.spent("victim") == 0
    release.set()


def test_submissions_carry_the_context_and_can_be_awaited_elsewhere():
    """Whoever submits may await the future on another loop; SystemExit arrives as a plain error."""
    variable: ContextVar[str] = ContextVar("variable")

    async def read() -> tuple[str, bool]:
        return variable.get(), in_plugin_loop()

    async def main() -> None:
        variable.set("mine")
        assert await asyncio.wrap_future(submit(read(), name="plugin.lamp.route").future) == ("mine", True)
        with pytest.raises(RuntimeError, match=r"plugin\.lamp\.route raised SystemExit"):
            await asyncio.wrap_future(submit(leave(), name="plugin.lamp.route").future)

    asyncio.run(main())
    assert not in_plugin_loop()


def test_a_submission_can_be_cancelled_before_and_after_it_began():
    """Its future is cancelled or fails with the cancellation, and no coroutine is left without an end."""
    begun = submit(hang(), name="plugin.lamp.route")
    until(lambda: begun.task is not None)
    begun.cancel()
    assert begun.wait(5)

    release = threading.Event()
    begun.loop.soon(release.wait)
    waiting = submit(hang(), name="plugin.lamp.route")
    waiting.cancel()
    release.set()
    assert waiting.wait(5)
    assert waiting.future.cancelled()


def test_the_loop_can_be_stopped_and_started_again():
    """A host that stops lets tasks end; the next use starts another loop."""
    loop = plugin_loop()
    submission = submit(asyncio.sleep(0.05, "slept"), name="plugin.lamp.route")
    stop_plugin_loop(5)

    assert submission.future.result(0) == "slept"
    assert not loop.soon(time.monotonic)
    assert submit(answer(), name="plugin.lamp.route").future.result(5) == "good"
