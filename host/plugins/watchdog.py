"""The watchdog: ends calls of plugin code that outlast their deadline, without a thread hand-off per call.

A call runs inline, in the thread that asks, as the innermost call of a :class:`Scope`; that costs an object and two
readings of the clock. A daemon thread looks at the scopes now and then. It *claims* a call that is overdue and injects
:class:`HookDeadline` into its thread. A thread that waits in C code (``time.sleep``, a socket) sees no exception until
it comes back; it is given up through its scope. Hence plugin code runs inline only below somebody who can do without
the thread: the edge of the HTTP interface around a handler, or whoever waits for a call that runs apart.

Why an injected exception cannot leak into the host. The two sides agree without a lock, which an injected exception
could leave locked for ever:

- The watchdog sets ``target`` to the thread, *then* looks whether the call is done; if not, it claims the call and
  injects; *then* it takes ``target`` back.
- The caller sets ``call.done``, *then* looks at ``target`` and ``call.claimed``. If neither speaks of it, the watchdog
  will see ``done`` before it does anything. Otherwise it waits until ``target`` is another one and revokes whatever is
  still pending: no exception of this call can arrive later.

CPython delivers such exceptions at calls, at the start of functions and at backward jumps, never between two
assignments. After ``done`` at most two more can arrive: one was pending, one was in flight. Hence the nested ``try``
in :meth:`Watchdog.run`; a loop could be left by its backward jump.
"""

from __future__ import annotations

import ctypes
import logging
import os
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextvars import ContextVar, Token
from threading import get_ident
from time import monotonic
from types import FrameType
from typing import Any, Self

from host.plugins.failures import BETWEEN
from host.plugins.watched import NOTHING, Call, HookDeadline, Overdue, ScopeAbandoned, Watched

GRACE = 0.25
"""Seconds after its deadline that a call gets to come back before its thread is given up."""

_AGAIN = 0.1  # a plugin may have caught the exception
_TICK = 0.05
_SHORTEST_TICK = 0.002
_AWAKE_FOR = 1.0
# An exception inside of these may leave a lock locked or a transaction in pieces: better wait for another moment.
_DELICATE = frozenset(
    {"_frozen_importlib", "asyncio", "concurrent", "contextlib", "host", "importlib", "logging", "queue"}
    | {"sqlalchemy", "threading", "weakref"}
)

_log = logging.getLogger(__name__)
_set_async_exception = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_ulong, ctypes.c_void_p)(
    ("PyThreadState_SetAsyncExc", ctypes.pythonapi)
)


class Scope:
    """A stretch of work in one thread that can be given up as a whole.

    Enter it in the thread that does the work; it holds for this thread only, whatever is done with its context.

    Args:
        notify: called once, in the watchdog's thread, with the call that does not come back.
        reports: whether whoever is notified also writes the error report.

    """

    def __init__(self, notify: Callable[[Call], None], *, reports: bool = False) -> None:
        self._notify = notify
        self._token: Token[Scope | None] | None = None
        self.reports = reports
        self.dead = False
        """Given up: no plugin is asked any more on its behalf, and its handler unwinds at the next question."""
        self.ident = 0
        self.innermost: Call | None = None
        self.outermost = Call(NOTHING, self, None, 0.0)
        """Used for one call that is not nested after the other, which saves making an object for each."""

    def __enter__(self) -> Self:
        """Make this the scope of the current context and thread, and have it watched."""
        self.ident = get_ident()
        outer = _current.get()
        if outer is not None and outer.ident == self.ident:
            self.innermost = outer.innermost
        self._token = _current.set(self)
        WATCHDOG.watch(self)
        return self

    def __exit__(self, *_error: object) -> None:
        """Go back to the scope around this one."""
        WATCHDOG.scopes.discard(self)
        if self._token is not None:
            _current.reset(self._token)

    def abandon(self, call: Call) -> None:
        """Give the work up, because of this call."""
        self.dead = True
        self._notify(call)


_current: ContextVar[Scope | None] = ContextVar("plugyard_scope", default=None)
current_scope = _current.get
"""Return the scope of the current context, which may be one of another thread."""


class Watchdog:
    """Runs calls inline and watches over them; one per process, see :data:`WATCHDOG`."""

    def __init__(self) -> None:
        self.scopes: set[Scope] = set()
        self.target = 0
        """The thread at whose calls the watchdog is just looking."""
        self._asleep = True
        self._tick = _TICK
        self._alarm = threading.Event()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def watch(self, scope: Scope) -> None:
        """Look at the calls of this scope from now on."""
        self.scopes.add(scope)
        if self._asleep:
            self._wake()

    def hasten(self, deadline: float) -> None:
        """Look often enough for deadlines this short."""
        self._tick = min(self._tick, max(_SHORTEST_TICK, deadline / 4))

    def run(self, subject: Watched, function: Callable[[Any], Any], argument: object, scope: Scope) -> Any:
        """Call ``function(argument)`` in the thread of the scope, under the deadline of the subject.

        Raises:
            Overdue: the call took too long.
            HookDeadline: a call around this one took too long, or the scope was given up; let it pass.
            BaseException: whatever the function raised.

        """
        parent = scope.innermost
        started = monotonic()
        if parent is None:
            call = scope.outermost
            call.subject = subject
            call.expires = started + subject.deadline
            call.done = False  # last: from here on the watchdog believes the rest
        else:
            # The inner call, which is to blame, runs out of time before the outer one does.
            expires = min(started + subject.deadline, parent.expires - parent.subject.deadline / 20)
            call = Call(subject, scope, parent, expires)
        value = error = None
        scope.innermost = call
        try:
            value = function(argument)
            call.done = True
            if not call.claimed and self.target != scope.ident:
                scope.innermost = parent
                seconds = monotonic() - started
                statistics = subject.statistics
                statistics.calls += 1
                statistics.seconds += seconds
                if seconds > statistics.slowest:  # noqa: PLR1730 - max() costs a call
                    statistics.slowest = seconds
                return value
        except BaseException as caught:  # noqa: BLE001 - whatever it is, it is the plugin's
            call.done = True
            error = caught
        try:
            self._calm(call)
        except HookDeadline:
            try:
                self._calm(call)
            except HookDeadline:
                self._calm(call)
        scope.innermost = parent
        if parent is None:
            scope.outermost = Call(NOTHING, scope, None, 0.0)
        return _conclude(call, value, error, monotonic() - started)

    def check(self) -> None:
        """Go no further when a call around this point is out of time; its exception may have been revoked.

        Raises:
            HookDeadline: so it is.

        """
        scope = _current.get()
        if scope is not None and scope.ident == get_ident() and _is_claimed(scope.innermost):
            raise HookDeadline

    def _calm(self, call: Call) -> None:
        while self.target == call.scope.ident:
            time.sleep(0.0001)
        if call.claimed:
            _set_async_exception(call.scope.ident, None)

    def _wake(self) -> None:
        with self._lock:
            if self._thread is None:
                if hasattr(os, "register_at_fork"):
                    os.register_at_fork(after_in_child=self._forget)
                self._start()
        self._alarm.set()

    def _start(self) -> None:
        self._thread = threading.Thread(target=self._watch, name="plugyard-watchdog", daemon=True)
        self._thread.start()

    def _forget(self) -> None:
        # Threads do not survive a fork.
        self.__init__()  # type: ignore[misc]

    def _watch(self) -> None:
        self._asleep = False
        idle_since = monotonic()
        while True:
            now = monotonic()
            if self.scopes:
                idle_since = now
                try:
                    self._sweep(now)
                except Exception:  # noqa: BLE001 - without it nothing is bounded any more
                    _log.exception("the watchdog stumbled; it goes on")
            elif now - idle_since > _AWAKE_FOR:
                self._asleep = True
                if not self.scopes:
                    self._alarm.wait()
                self._alarm.clear()
                self._asleep = False
                idle_since = monotonic()
            time.sleep(self._tick)

    def _sweep(self, now: float) -> None:
        try:
            scopes = list(self.scopes)
        except RuntimeError:  # changed while it was copied; the next look will do
            return
        for scope in scopes:
            innermost = scope.innermost
            if innermost is not None and (scope.dead or any(now >= call.expires for call in _chain(innermost))):
                self._end(scope, now)

    def _end(self, scope: Scope, now: float) -> None:
        given_up: Call | None = None
        self.target = scope.ident
        try:
            calls = [call for call in _chain(scope.innermost) if not call.done]
            late = [call for call in calls if now >= call.expires]
            if not late and not (calls and scope.dead):  # what was overdue a moment ago has ended meanwhile
                return
            frame = sys._current_frames().get(scope.ident)  # noqa: SLF001 - documented for exactly this purpose
            culprit = (late or calls)[0]
            hopeless = now >= culprit.expires + GRACE
            if hopeless and not scope.dead:
                given_up = culprit
                culprit.subject.stuck.add(culprit)
                scope.dead = True
            for call in [*late, culprit]:
                if not call.claimed:
                    call.injected = 0.0
                    call.claimed = True
            if now - culprit.injected >= _AGAIN and (hopeless or not _is_delicate(frame)):
                culprit.injected = now
                _set_async_exception(scope.ident, id(HookDeadline))
        finally:
            self.target = 0
        if given_up is not None:
            _give_up(given_up, frame)


WATCHDOG = Watchdog()
"""Watches over all calls in this process."""


def interrupt(ident: int) -> None:
    """Raise :class:`HookDeadline` in a thread that runs nothing but plugin code."""
    _set_async_exception(ident, id(HookDeadline))


def _conclude(call: Call, value: object, error: BaseException | None, seconds: float) -> object:
    statistics = call.subject.statistics
    statistics.add(seconds)
    call.subject.stuck.discard(call)
    if call.scope.dead:
        raise ScopeAbandoned from error
    if call.claimed:
        statistics.failures += 1
        raise Overdue(seconds, blocked_by=_around(call) if seconds < call.subject.deadline else "") from error
    if error is None:
        return value
    if not (isinstance(error, HookDeadline) and _is_claimed(call.parent)):
        statistics.failures += 1
    raise error


def _give_up(call: Call, frame: FrameType | None) -> None:
    try:
        call.stack = _plugin_stack(frame)
        call.subject.on_stuck(call)
    finally:
        call.scope.abandon(call)


def _around(call: Call) -> str:
    return f"plugin.{call.parent.subject.plugin}.{call.parent.subject.hook}" if call.parent is not None else ""


def _plugin_stack(frame: FrameType | None) -> str:
    frames: list[tuple[FrameType, int]] = []
    while frame is not None and frame.f_globals.get("__name__") not in BETWEEN:
        frames.append((frame, frame.f_lineno))
        frame = frame.f_back
    return "".join(traceback.StackSummary.extract(reversed(frames)).format())


def _chain(call: Call | None) -> Iterator[Call]:
    while call is not None:
        yield call
        call = call.parent


def _is_claimed(call: Call | None) -> bool:
    return any(outer.claimed and not outer.done for outer in _chain(call))


def _is_delicate(frame: FrameType | None) -> bool:
    if frame is None:
        return False
    return str(frame.f_globals.get("__name__", "")).partition(".")[0] in _DELICATE
