"""The keeper: the thread that keeps tasks moving between the log and the queue, and schedules on time.

Each process of the host has one. Where the process also runs tasks, it is a worker: the keeper gives its signs of
life, finds what lost workers have left behind, and makes tasks of the schedules that are due.
"""

from __future__ import annotations

import fcntl
import logging
import os
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy.exc import SQLAlchemyError

from host.tasks.running import Runner
from host.tasks.schedules import Schedule, Schedules
from host.tasks.workers import Workers

if TYPE_CHECKING:
    # huey takes a fifth of a second to load; the thread loads it, so that no start waits for it.
    from host.tasks.broker import Broker
    from host.tasks.consumer import TaskConsumer

_LOG = logging.getLogger("plugyard.tasks")
_COMPLAINT_SECONDS = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How the keeper keeps time, in seconds."""

    look: float = 1.0
    """Between two looks of a worker for what is due."""
    beat: float = 5.0
    """Between two signs of life, and between two looks of a process that is no worker."""
    lease: float = 30.0
    """After which a worker that says nothing counts as lost, and what it ran is free."""
    lost: float = 5.0
    """After which a message counts as lost that an empty queue does not hold."""
    doubted: float = 600.0
    """The same for a queue that is never empty."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What the keeper works with."""

    runner: Runner
    workers: Workers
    schedules: Schedules
    wanted: Callable[[], Mapping[str, Schedule] | None]
    """The schedules that there shall be; ``None`` while this process is behind and cannot know."""
    open_broker: Callable[[Callable[[str], object]], Broker]
    """Opens the queue."""


class Keeper:
    """The thread, and the threads that run tasks.

    Args:
        parts: what it works with.
        pace: how it keeps time.
        threads: how many tasks this process runs at once; 0 for none.
        exclusive: a file that only one of the processes that name it may hold: who does is the worker among them.

    """

    def __init__(self, parts: Parts, *, pace: Pace, threads: int, exclusive: Path | None = None) -> None:
        self._parts = parts
        self._pace = pace
        self._threads = threads
        self._exclusive = exclusive
        self._held: int | None = None
        self._becoming = threading.Lock()
        self._closing = False
        self._wake = threading.Event()
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self._broker: Broker | None = None
        self._consumer: TaskConsumer | None = None
        self._due: dict[str, float] = {}

    def start(self) -> None:
        """Begin."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._keep, name="plugyard-tasks", daemon=True)
            self._thread.start()

    def wake(self) -> None:
        """Look at once: there is something new."""
        self._wake.set()

    def stop(self, seconds: float) -> None:
        """Take nothing more, wait some seconds for what runs, and give back what has not ended by then."""
        thread, self._thread = self._thread, None
        if thread is None:
            return
        # From here on it becomes no worker; if it is one, it gives signs of life until its tasks have ended.
        with self._becoming:
            self._closing = True
        if self._consumer is not None and not self._consumer.finish(seconds):
            _LOG.warning("Tasks that did not end within %g s are given back.", seconds)
        self._stopping.set()
        self._wake.set()
        thread.join()
        try:
            if self._consumer is not None:
                self._parts.runner.give_back()
                self._parts.workers.leave()
        except SQLAlchemyError as error:
            _LOG.warning("Other workers find out later that this one has ended: %s", error)
        if self._broker is not None:
            self._broker.close()
        if self._held is not None:
            os.close(self._held)

    def _keep(self) -> None:
        pause = 0.0
        while not self._stopping.is_set():
            self._wake.wait(pause)
            self._wake.clear()
            pause = self._pace.look if self._threads else self._pace.beat
            # Each on its own: tasks go on also where schedules cannot be read, and signs of life where the queue fails.
            for look in (self._look_after_schedules, self._look_after_queue, self._look_after_tasks):
                if self._stopping.is_set():
                    return
                try:
                    look()
                except Exception as error:  # noqa: BLE001 - whatever it was, tasks must go on
                    pause = self._pace.beat
                    self._complain(error)

    def _complain(self, error: Exception) -> None:
        if not self._is_time(type(error).__name__, _COMPLAINT_SECONDS):
            return
        if isinstance(error, SQLAlchemyError | OSError):
            _LOG.warning("Background tasks wait: %s: %s", type(error).__name__, " ".join(str(error).split()))
        else:
            _LOG.error("Background tasks wait.", exc_info=error)

    def _look_after_queue(self) -> None:
        if self._broker is None:
            try:
                self._broker = self._parts.open_broker(self._parts.runner.run)
            except Exception as error:
                # Without its text, which may hold the address and with it a password.
                msg = f"the queue cannot be opened: {type(error).__name__}; check PLUGYARD_QUEUE_URL"
                raise OSError(msg) from error
        self._push(self._broker)

    def _become_worker(self, broker: Broker) -> None:
        from host.tasks.consumer import TaskConsumer  # noqa: PLC0415 - loads huey, see above

        with self._becoming:
            if self._closing:
                return
            self._parts.workers.beat(self._threads)
            consumer = TaskConsumer(broker, self._threads)
            consumer.start()
            self._consumer = consumer

    def _look_after_tasks(self) -> None:
        parts = self._parts
        if self._broker is None:
            return
        if self._consumer is None and self._threads and self._may_work():
            self._become_worker(self._broker)
        if self._consumer is None:
            return
        if self._is_time("beat", self._pace.beat):
            parts.workers.beat(self._threads)
            parts.runner.log.renew(parts.runner.running)
            self._find_lost(self._broker)
        parts.runner.note_progress()

    def _look_after_schedules(self) -> None:
        parts = self._parts
        wanted = parts.wanted()
        if wanted is None:
            return
        parts.schedules.settle(wanted)
        if self._consumer is None:
            return
        for task, attempts, message in parts.schedules.start_due(wanted):
            parts.runner.report(task, attempts, message)

    def _find_lost(self, broker: Broker) -> None:
        parts, log = self._parts, self._parts.runner.log
        alive, dead = parts.workers.survey()
        # What it has itself and does not run, as its claim or its end could not be noted, is for this worker to find.
        orphans = log.orphans(dead, [name for name in alive if name != parts.workers.name])
        for task in orphans:
            parts.runner.lost(task)
        if dead and not orphans:
            parts.workers.bury(dead)
        try:
            is_empty = broker.storage.queue_size() == 0
        except Exception as error:  # noqa: BLE001 - each storage has errors of its own
            broker.complain(error)
            return
        moment, pace = log.clock(), self._pace
        if is_empty:
            log.doubt_pushed(moment - timedelta(seconds=pace.lost))
        else:
            # Processes that fill the queue at the same time overtake each other a little.
            log.doubt_pushed(moment - timedelta(seconds=pace.doubted), overtaken=timedelta(seconds=pace.lease))

    def _push(self, broker: Broker) -> None:
        log = self._parts.runner.log
        task_ids = log.take_unpushed()
        if not task_ids:
            return
        try:
            broker.push(task_ids)
        except Exception as error:  # noqa: BLE001 - each storage has errors of its own
            broker.complain(error)
            log.unpush(task_ids)
            return
        # There may be more; signs of life come in between.
        self._wake.set()
        if self._consumer is not None:
            self._consumer.wake()

    def _may_work(self) -> bool:
        if self._exclusive is None or self._held is not None:
            return True
        descriptor = os.open(self._exclusive, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return False
        self._held = descriptor
        return True

    def _is_time(self, what: str, seconds: float) -> bool:
        moment = time.monotonic()
        if moment < self._due.get(what, 0.0):
            return False
        self._due[what] = moment + seconds
        return True
