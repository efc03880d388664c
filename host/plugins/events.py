"""Events: stored with the change that caused them, delivered to plugins soon after it was committed."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from fnmatch import fnmatchcase

from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from host.contract.events import Event
from host.contract.values import Json
from host.errors import RefusedError
from host.plugins.calls import Calls
from host.plugins.current import Registries
from host.plugins.outbox import Outbox
from host.plugins.registry import Registry
from host.storage.endings import at_end
from host.storage.engine import Database

_LOG = logging.getLogger("plugyard.events")
_LONGEST_PAUSE = 30.0
_DRAIN_PAUSE = 0.02


# How many events led to the one that is being delivered here, itself included.
_DEPTH: ContextVar[int] = ContextVar("plugyard_event_depth", default=0)
_DEEPEST = 8


class EventChainError(RefusedError):
    """Plugins answer events with events without end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How the dispatcher keeps time, in seconds."""

    poll: float = 1.0
    """Between two looks for events that other processes stored."""
    lease: float = 60.0
    """After which the claims of a process that says nothing are taken over; longer than any hook's deadline."""


def wants(patterns: Sequence[str], name: str) -> bool:
    """Tell whether one of the shell patterns fits the name of an event, with case."""
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def _always() -> bool:
    return True


def _nothing() -> None:
    return None


class Events:
    """Stores events and delivers them.

    One process delivers at a time, so that plugins get events in the order of their ids; which one it is, shows at
    each batch. An event is deleted once every plugin that wants it has been called, whether or not a call failed.

    Args:
        database: where events wait.
        registries: gives the registry in force.
        calls: calls the hook and reports what fails.
        enabled: whether plugins get events at all.
        catch_up: brings this process to the newest registry; called before each look for events.
        pace: how often to look, and how long a claim holds.

    """

    def __init__(
        self,
        database: Database,
        registries: Registries,
        calls: Calls,
        *,
        enabled: Callable[[], bool] = _always,
        catch_up: Callable[[], object] = _nothing,
        pace: Pace | None = None,
    ) -> None:
        self._registries = registries
        self._calls = calls
        self._enabled = enabled
        self._catch_up = catch_up
        self._pace = pace or Pace()
        self._outbox = Outbox(database, self._pace.lease)
        self._wake = threading.Event()
        self._stopping = threading.Event()
        self._delivering = threading.Lock()
        self._thread: threading.Thread | None = None
        self._settled: Registry | None = None
        self._renewed = 0.0

    def emit(self, session: Session, name: str, data: Mapping[str, Json], user_id: int | None = None) -> None:
        """Store an event as part of the session's transaction; it is delivered once that is committed.

        Nothing is stored while no plugin wants the event.

        Raises:
            TypeError: the data hold something that JSON cannot say.
            EventChainError: events keep causing events.

        """
        registry = self._registries.current
        # A process that has loaded no registry, as a command may be, cannot know who wants the event.
        if registry.generation and not self._wanted(registry, name):
            return
        depth = _DEPTH.get()
        if depth > _DEEPEST:
            raise EventChainError(
                f"The event '{name}' is not sent: {_DEEPEST} events led to it, each sent while the one before was "
                "delivered. Let on_event ignore the events that it causes."
            )
        self._outbox.store(session, name, data, user_id, depth=depth)
        at_end(session, self._wake.set)

    def start(self) -> None:
        """Start to deliver, in a thread of its own."""
        if self._thread is None:
            self._stopping.clear()
            self._thread = threading.Thread(target=self._run, name="events", daemon=True)
            self._thread.start()

    def stop(self, timeout: float = 5.0) -> None:
        """Stop to deliver: the event at hand is finished, if ``timeout`` seconds suffice, and the others wait."""
        thread, self._thread = self._thread, None
        if thread is not None:
            self._stopping.set()
            self._wake.set()
            thread.join(timeout)

    def drain(self, timeout: float) -> bool:
        """Deliver until no event waits; return whether that was reached within ``timeout`` seconds."""
        end = time.monotonic() + timeout
        while self._outbox.waiting():
            left = end - time.monotonic()
            if left <= 0:
                return False
            if self._delivering.acquire(timeout=left):
                try:
                    self._deliver_all(lambda: time.monotonic() >= end)
                finally:
                    self._delivering.release()
            if self._outbox.waiting():
                # Another process holds what is left.
                time.sleep(_DRAIN_PAUSE)
        return True

    def _run(self) -> None:
        pause = self._pace.poll
        while not self._stopping.is_set():
            self._wake.wait(pause)
            self._wake.clear()
            try:
                self._catch_up()
                if self._has_work():
                    with self._delivering:
                        self._deliver_all(self._stopping.is_set)
                pause = self._pace.poll
            except SQLAlchemyError as error:
                pause = min(pause * 2, _LONGEST_PAUSE)
                _LOG.warning("events cannot be delivered now, next try in %.0f s: %s", pause, error)
            except Exception:  # noqa: BLE001 - a job; logged, and tried again
                pause = min(pause * 2, _LONGEST_PAUSE)
                _LOG.exception("delivering events failed, next try in %.0f s", pause)

    def _has_work(self) -> bool:
        registry = self._registries.current
        if self._settled is registry:
            return False
        if self._outbox.waiting():
            return True
        if not any(plugin.event_patterns for plugin in registry.plugins.values()):
            # Nobody wants events and none is left: there is nothing to look for until plugins change.
            self._settled = registry
        return False

    def _deliver_all(self, stopping: Callable[[], bool]) -> None:
        while not stopping():
            batch = self._outbox.claim()
            if not batch:
                return
            self._renewed = time.monotonic()
            for waiting in batch:
                if stopping():
                    self._outbox.give_back()
                    return
                mark = _DEPTH.set(waiting.depth + 1)
                try:
                    if not self._deliver(waiting.event):
                        break
                finally:
                    _DEPTH.reset(mark)

    def _deliver(self, event: Event) -> bool:
        registry = self._registries.current
        try:
            for implementation in registry.hooks.get("on_event", ()):
                plugin = registry.plugins.get(implementation.plugin)
                if plugin is None or not self._enabled() or not wants(plugin.event_patterns, event.name):
                    continue
                if not self._holds_claims():
                    return False
                self._calls.ask_all((implementation,), event=event)
        finally:
            self._outbox.done(event)
        return True

    def _holds_claims(self) -> bool:
        if time.monotonic() - self._renewed < self._pace.lease / 4:
            return True
        self._renewed = time.monotonic()
        return self._outbox.renew()

    def _wanted(self, registry: Registry, name: str) -> bool:
        is_wanted = any(wants(plugin.event_patterns, name) for plugin in registry.plugins.values())
        return is_wanted and self._enabled()
