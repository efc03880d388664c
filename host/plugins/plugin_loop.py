"""The event loop of plugins: their ``async def`` hooks and routes run here, never on the host's own loop.

One loop in a daemon thread serves all plugins. A coroutine that blocks it (``time.sleep`` in ``async def``) is found
because the loop stops answering; a fresh loop then takes its place for everything that comes later, and the blocked
one ends when its last task has.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, wait
from contextvars import copy_context
from time import monotonic
from typing import Any

from host.plugins.bounded import Exited
from host.plugins.transactions import end_left_open, innermost
from host.plugins.watchdog import GRACE, interrupt
from host.plugins.watched import Overdue

_log = logging.getLogger(__name__)


class Submission:
    """A coroutine on its way through a plugin loop.

    ``future`` may be awaited elsewhere (``asyncio.wrap_future``). It never holds anything worse than an ``Exception``
    or a cancellation; what was really raised is ``error``.
    """

    def __init__(self, loop: PluginLoop, coroutine: Coroutine[Any, Any, Any], name: str) -> None:
        self.loop = loop
        self.coroutine = coroutine
        self.name = name
        self.future: Future[Any] = Future()
        self.task: asyncio.Task[None] | None = None
        self.error: BaseException | None = None
        self.cancelled = False
        self._reclaimed = False

    def wait(self, seconds: float) -> bool:
        """Wait until it has ended; return whether it has."""
        return bool(wait((self.future,), timeout=max(0.0, seconds)).done)

    def reclaim(self) -> bool:
        """Take the coroutine back; return False when it has begun to run."""
        self._reclaimed = True
        return self.future.cancel()

    def cancel(self) -> None:
        """Cancel the coroutine, begun or not, from any thread."""
        self.cancelled = True
        if not self.future.cancel():
            self.loop.soon(self._cancel_task)

    def start(self) -> None:
        """Begin, in the loop's thread."""
        if self.future.set_running_or_notify_cancel():
            self.task = self.loop.adopt(self._run(), self.name)
        elif not self._reclaimed:
            self.coroutine.close()

    def _cancel_task(self) -> None:
        if self.task is not None:
            self.task.cancel()

    async def _run(self) -> None:
        before = innermost()
        try:
            try:
                value = await self.coroutine
            finally:
                end_left_open(before)
        except BaseException as error:
            self.error = error
            if isinstance(error, (Exception, asyncio.CancelledError)):
                self.future.set_exception(error)
            else:  # SystemExit and the like would end whatever loop awaits the future
                failure = RuntimeError(f"{self.name} raised {type(error).__name__}")
                failure.__cause__ = error
                self.future.set_exception(failure)
            if isinstance(error, asyncio.CancelledError):
                raise
        else:
            self.future.set_result(value)


class _LoopThread(threading.Thread):
    pass


def in_plugin_loop() -> bool:
    """Return whether this code runs in the thread of a plugin loop, which must not wait for it."""
    return isinstance(threading.current_thread(), _LoopThread)


class PluginLoop:
    """An event loop in a daemon thread. Get one from :func:`plugin_loop`."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._asked: float | None = None
        self._retired = False
        self._closed = threading.Event()
        self._thread = _LoopThread(target=self._serve, name="plugyard-plugin-loop", daemon=True)
        self._thread.start()

    @property
    def is_alive(self) -> bool:
        """Whether the loop still runs; it does not survive a fork."""
        return self._thread.is_alive()

    @property
    def busy_with(self) -> str:
        """Name of the task that runs at this moment; empty when none does."""
        task = asyncio.current_task(self._loop) if not self._loop.is_closed() else None
        return task.get_name() if task is not None else ""

    def soon(self, function: Callable[[], object]) -> bool:
        """Call a function in the loop's thread as soon as the loop is free; return False when it has ended."""
        try:
            self._loop.call_soon_threadsafe(function, context=copy_context())
        except RuntimeError:
            return False
        return True

    def adopt(self, coroutine: Coroutine[Any, Any, None], name: str) -> asyncio.Task[None]:
        """Make a task, in the loop's thread, that a retired loop waits for."""
        task = self._loop.create_task(coroutine, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._leave)
        return task

    def answers(self, seconds: float) -> bool:
        """Return whether the loop answers within this time."""
        answered = threading.Event()
        return self.soon(answered.set) and answered.wait(seconds)

    def is_blocked(self) -> bool:
        """Return whether the loop owes an answer for too long; ask for the next one."""
        now = monotonic()
        if self._asked is None:
            self._asked = now
            self.soon(self._beat)
            return False
        return now - self._asked > GRACE

    def retire(self) -> None:
        """End the loop as soon as its last task has ended."""
        self._retired = True
        self.soon(self._stop_when_idle)

    def cancel_all(self) -> None:
        """Cancel every task, in the loop's thread."""
        for task in list(self._tasks):
            task.cancel()

    def interrupt(self, task: asyncio.Task[None] | None) -> None:
        """Break into a task that blocks the loop, if it still does."""
        ident = self._thread.ident
        if ident is not None and task is not None and asyncio.current_task(self._loop) is task:
            interrupt(ident)

    def join(self, seconds: float) -> bool:
        """Wait until the loop has ended; return whether it has."""
        return self._closed.wait(seconds)

    def _beat(self) -> None:
        self._asked = None

    def _leave(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # told to the one who submitted it
        self._stop_when_idle()

    def _stop_when_idle(self) -> None:
        if self._retired and not self._tasks:
            self._loop.stop()

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        while not (self._retired and not self._tasks):
            try:
                self._loop.run_forever()
            except BaseException:  # noqa: BLE001 - raised by a callback of a plugin; its tasks go on
                _log.exception("the event loop of plugins was left by an exception; it goes on")
        try:
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        finally:
            self._loop.close()
            self._closed.set()


class _Holder:
    def __init__(self) -> None:
        self.loop: PluginLoop | None = None
        self.lock = threading.Lock()


_current = _Holder()


def plugin_loop() -> PluginLoop:
    """Return the event loop of plugins; started on first use, and another one when it is blocked."""
    with _current.lock:
        loop = _current.loop
        if loop is not None and not loop.is_alive:
            _current.loop = None
        elif loop is not None and not in_plugin_loop() and loop.is_blocked():
            _replace(loop)
        if _current.loop is None:
            _current.loop = PluginLoop()
        return _current.loop


def submit(coroutine: Coroutine[Any, Any, Any], *, name: str) -> Submission:
    """Run a coroutine of a plugin on the plugin loop, in the context of the caller.

    ``name`` says whose it is, as ``plugin.<key>.<what>``; it is blamed under that name when it blocks the loop.
    """
    while True:
        loop = plugin_loop()
        submission = Submission(loop, coroutine, name)
        if loop.soon(submission.start):
            return submission


def replace_plugin_loop(blocked: PluginLoop) -> None:
    """Use another loop from now on, unless that has happened already."""
    with _current.lock:
        if _current.loop is blocked:
            _replace(blocked)


def stop_plugin_loop(seconds: float = 1.0) -> None:
    """End the loop, when the host stops; tasks that run get this long to end and are cancelled then."""
    with _current.lock:
        loop, _current.loop = _current.loop, None
    if loop is not None:
        loop.retire()
        if not loop.join(seconds):
            loop.soon(loop.cancel_all)


def _replace(blocked: PluginLoop) -> None:
    blocker = blocked.busy_with or "a callback"
    _log.warning("the event loop of plugins is blocked by %s; another one takes over", blocker)
    blocked.retire()
    _current.loop = None


def run_on_plugin_loop(
    coroutine: Coroutine[Any, Any, Any], *, deadline: float, name: str, on_stuck: Callable[[Submission], None]
) -> Any:
    """Run a coroutine on the plugin loop and wait for it in this thread.

    It comes back soon after the deadline at the latest: thrice the grace is used to cancel, find out and interrupt.

    ``on_stuck`` is called when the coroutine can neither be cancelled nor interrupted.

    Raises:
        Overdue: the coroutine took too long; ``blocked_by`` names another one that blocked the loop meanwhile.
        Exited: the coroutine raised ``SystemExit`` or the like, or cancelled itself.
        Exception: whatever the coroutine raised.

    """
    expires = monotonic() + deadline
    submission = submit(coroutine, name=name)
    while not submission.wait(min(GRACE, deadline / 2)) and submission.reclaim():
        # The loop did not even begin with it, so another task blocks the loop.
        blocked_by = submission.loop.busy_with
        replace_plugin_loop(submission.loop)
        if monotonic() >= expires:
            coroutine.close()
            raise Overdue(deadline, blocked_by=blocked_by or "the event loop of plugins")
        submission = submit(coroutine, name=name)
    if not submission.wait(expires - monotonic()):
        _end(submission, deadline, on_stuck)
    if isinstance(submission.error, Exception):
        raise submission.error
    if submission.error is not None:
        raise Exited(submission.error)
    return submission.future.result()


def _end(submission: Submission, deadline: float, on_stuck: Callable[[Submission], None]) -> None:
    submission.cancel()
    if submission.wait(GRACE):
        raise Overdue(deadline) from submission.error
    loop = submission.loop
    blocked_by = ""
    if not loop.answers(GRACE):
        blocked_by = loop.busy_with
        replace_plugin_loop(loop)
        if blocked_by == submission.name:
            loop.interrupt(submission.task)
            blocked_by = ""
        if submission.wait(GRACE):
            raise Overdue(deadline, blocked_by=blocked_by) from submission.error
    if not blocked_by:
        on_stuck(submission)
    raise Overdue(deadline, blocked_by=blocked_by)
