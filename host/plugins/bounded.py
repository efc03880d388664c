"""Run work in threads that can be given up: plugin code apart from the thread that asks, handlers of the HTTP edge."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextvars import copy_context
from queue import SimpleQueue
from typing import Any, TypeVar

import anyio
import anyio.to_thread

from host.plugins.failures import PluginStuckError
from host.plugins.transactions import end_left_open, innermost
from host.plugins.watchdog import WATCHDOG, Scope
from host.plugins.watched import Call, HookDeadline, Overdue, Watched
from host.plugins.workers import WORKERS

T = TypeVar("T")

_MOST_REPLAYS = 5


class Exited(Exception):  # noqa: N818 - never leaves this package
    """Code that ran apart raised what is no ``Exception``; as it is, it would end the thread that asked."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(error)
        self.error = error


def run_apart(subject: Watched, function: Callable[[Any], T], argument: object = None) -> T:
    """Call ``function(argument)`` in another thread and wait for it, at most until the subject's deadline and grace.

    Raises:
        Overdue: the call took too long.
        Exited: the function raised ``SystemExit`` or the like.
        Exception: whatever the function raised.

    """
    # The first entry counts: the outcome, or that the thread was given up.
    outcomes: SimpleQueue[Callable[[], T]] = SimpleQueue()

    def give_up(call: Call) -> None:
        outcomes.put(_raiser(Overdue(subject.deadline, stack=call.stack)))

    def job() -> None:
        before = innermost()
        try:
            try:
                with Scope(give_up, reports=True) as scope:
                    value = WATCHDOG.run(subject, function, argument, scope)
            finally:
                end_left_open(before)
        except Exception as error:  # noqa: BLE001 - handed to the one who waits
            outcomes.put(_raiser(error))
        except BaseException as error:  # noqa: BLE001 - as above
            outcomes.put(_raiser(Exited(error)))
        else:
            outcomes.put(lambda: value)

    context = copy_context()
    WORKERS.submit(lambda: context.run(job))
    return outcomes.get()()


async def run_bounded(
    handler: Callable[[], T], *, replay: bool = False, limiter: anyio.CapacityLimiter | None = None
) -> T:
    """Run a synchronous handler in a worker thread, and do without the thread when a plugin holds it.

    Meant for the HTTP edge. The context of the caller is the handler's too. The number of threads is limited as anyio
    limits its own; a thread that was given up counts no more. Such a handler can do nothing unnoticed: as soon as its
    thread comes back, :class:`ScopeAbandoned` unwinds it, and transactions that are open are rolled back. Ask plugins
    outside of transactions all the same: until then the transaction keeps its locks.

    Args:
        handler: what to run.
        replay: run the handler again when it was given up; the stuck plugin is then left out. Only for handlers that
            have changed nothing before they ask plugins.
        limiter: limits the number of threads; by default the one that anyio uses for its own.

    Raises:
        PluginStuckError: the handler was given up.
        Exception: whatever the handler raised.

    """
    replays = _MOST_REPLAYS if replay else 0
    while True:
        try:
            return await _run_once(handler, limiter or anyio.to_thread.current_default_thread_limiter())
        except _GivenUp as given_up:
            if replays == 0:
                raise PluginStuckError(given_up.plugin, given_up.hook) from None
            replays -= 1


class _GivenUp(Exception):  # noqa: N818 - a signal between the two functions
    def __init__(self, plugin: str, hook: str) -> None:
        super().__init__(plugin, hook)
        self.plugin = plugin
        self.hook = hook


async def _run_once(handler: Callable[[], T], limiter: anyio.CapacityLimiter) -> T:
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def settle(value: T | None, error: BaseException | None) -> None:
        try:
            loop.call_soon_threadsafe(_settle, future, value, error)
        except RuntimeError:  # the loop was closed meanwhile: nobody waits any more
            return

    def job() -> None:
        scope = Scope(lambda call: settle(None, _GivenUp(call.subject.plugin, call.subject.hook)))
        before = innermost()
        try:
            try:
                with scope:
                    value = handler()
            finally:
                end_left_open(before)
        except BaseException as error:  # noqa: BLE001 - handed to the one who waits
            if not (scope.dead and isinstance(error, HookDeadline)):
                settle(None, error)
        else:
            settle(value, None)

    async with limiter:
        context = copy_context()
        WORKERS.submit(lambda: context.run(job))
        with anyio.CancelScope(shield=True):  # a client that went away leaves no handler running unlimited
            await future
    return future.result()


def _settle(future: asyncio.Future[T], value: T | None, error: BaseException | None) -> None:
    if future.done():  # given up, or cancelled
        return
    if error is None:
        future.set_result(value)  # type: ignore[arg-type]
    elif isinstance(error, Exception) and not isinstance(error, StopIteration):
        future.set_exception(error)
    else:  # SystemExit and the like would end the event loop, and asyncio refuses StopIteration
        failure = RuntimeError(f"the handler raised {type(error).__name__}")
        failure.__cause__ = error
        future.set_exception(failure)


def _raiser(error: BaseException) -> Callable[[], Any]:
    def throw() -> Any:
        raise error

    return throw
