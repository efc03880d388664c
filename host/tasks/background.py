"""Background tasks: put off, run by workers, done again and again."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from host.contract.values import Json
from host.storage.endings import at_end
from host.storage.engine import Database
from host.storage.tables import now
from host.tasks.jobs import Job, Work, daily
from host.tasks.keeper import Keeper, Pace, Parts
from host.tasks.log import TaskLog
from host.tasks.record import TaskRecords
from host.tasks.running import Report, Runner, as_work
from host.tasks.schedules import Schedule, Schedules, of_jobs
from host.tasks.workers import Workers

if TYPE_CHECKING:
    from host.tasks.broker import Broker

_DRAIN_PAUSE = 0.02
_KNOWN_SECONDS = 1.0
_NOBODY = {"worker_running": False, "worker_count": 0, "worker_pending_tasks": 0}


def _nothing() -> Mapping[str, Work]:
    return {}


def _none() -> Sequence[Any]:
    return ()


def _month() -> int:
    return 30


def _never(_name: str) -> bool:
    return False


def _up_to_date() -> bool:
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskSources:
    """Where tasks come from, and what they need."""

    work: Callable[[], Mapping[str, Work | Callable[..., Any]]] = field(default=_nothing)
    """Name of a task → how it is done; asked once."""
    jobs: Callable[[], Sequence[Job]] = field(default=_none)
    """What the host does again and again; asked once."""
    plugin_schedules: Callable[[], Sequence[Schedule]] = field(default=_none)
    """What plugins do again and again; asked all the time."""
    is_unsure: Callable[[str], bool] = field(default=_never)
    """Whether this process cannot tell, of a name, if there shall be such a schedule: others then decide."""
    is_up_to_date: Callable[[], bool] = field(default=_up_to_date)
    """Whether this process knows the plugins as they are now."""
    prepare: Callable[[], object] = field(default=_none)
    """Called before each task: brings this process to the newest registry."""
    catch_up: Callable[[], object] = field(default=_none)
    """Called for a task that nobody knows here: brings this process to the newest registry for certain."""
    keep_days: Callable[[], int] = field(default=_month)
    """How long tasks are kept that have ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskOptions:
    """How tasks are run."""

    queue_url: str
    home: Path
    """For the file that says which of several web processes runs tasks."""
    threads: int = 2
    """How many tasks one process runs at once."""
    stop_seconds: float = 10.0
    """How long a process that ends waits for its tasks."""
    pace: Pace = field(default_factory=Pace)


class BackgroundTasks:
    """All that the host does outside of requests.

    Args:
        database: keeps the log of tasks.
        options: how they are run.
        sources: where they come from.
        report: keeps error reports.
        scrub: takes what looks like a secret out of a text.
        clock: gives the time.

    """

    def __init__(
        self,
        database: Database,
        options: TaskOptions,
        *,
        sources: TaskSources,
        report: Report,
        scrub: Callable[[str], str],
        clock: Callable[[], datetime] = now,
    ) -> None:
        self._options = options
        self._sources = sources
        lease = options.pace.lease
        self.log = TaskLog(database, lease=lease, scrub=scrub, clock=clock)
        self._workers = Workers(database, silence=lease, clock=clock)
        self._schedules = Schedules(database, self.log, is_unsure=sources.is_unsure)
        self.records = TaskRecords(database, self.log, self._workers)
        self._runner = Runner(self.log, self._workers.name, self._find, report, sources.prepare, sources.catch_up)
        self._keeper: Keeper | None = None
        self._known: tuple[float, Mapping[str, Any]] = (0.0, _NOBODY)

    @property
    def worker(self) -> str:
        """Name of this process among the workers."""
        return self._workers.name

    def start(self, *, run: bool, one_of_many: bool = False) -> None:
        """Begin to bring tasks into the queue, and to run them.

        Args:
            run: whether to run them here, instead of leaving that to other processes.
            one_of_many: run them only while no other process does so that was started with the same home folder.

        """
        parts = Parts(
            runner=self._runner,
            workers=self._workers,
            schedules=self._schedules,
            wanted=self._wanted,
            open_broker=self._open_broker,
        )
        exclusive = self._options.home / "tasks.lock" if one_of_many else None
        threads = self._options.threads if run else 0
        self._keeper = Keeper(parts, pace=self._options.pace, threads=threads, exclusive=exclusive)
        self._keeper.start()

    def stop(self) -> None:
        """Finish what runs, within the time that the options give; other workers get the rest."""
        keeper, self._keeper = self._keeper, None
        if keeper is not None:
            keeper.stop(self._options.stop_seconds)

    def enqueue(self, session: Session, name: str, data: Mapping[str, Json]) -> str:
        """Put a task off until the session's transaction is committed; see :class:`host.tasks.jobs.Enqueue`.

        Raises:
            LookupError: no task has this name.
            TypeError: the data hold something that JSON cannot say.

        """
        if name not in self._work:
            msg = f"there is no task '{name}': add it to host.upkeep.tasks"
            raise LookupError(msg)
        task_id = self.log.add(session, name, data)
        if self._keeper is not None:
            at_end(session, self._keeper.wake)
        return task_id

    def drain(self, timeout: float) -> bool:
        """Run here and now what is due; return whether nothing was left within ``timeout`` seconds."""
        end = time.monotonic() + timeout
        while task_id := self.log.first_due():
            if time.monotonic() >= end:
                return False
            if not self._runner.run(task_id):
                time.sleep(_DRAIN_PAUSE)
        return True

    def run_due_schedules(self) -> None:
        """Make tasks of the schedules that are due, here and now."""
        wanted = self._wanted()
        if wanted is not None:
            self._schedules.settle(wanted)
            self._schedules.start_due(wanted)

    def in_short(self) -> Mapping[str, Any]:
        """Return how busy the workers are, as the server information shows it to anybody; a second old at most."""
        seen, known = self._known
        if time.monotonic() - seen >= _KNOWN_SECONDS:
            try:
                known = self._counted()
            except SQLAlchemyError:
                known = _NOBODY
            self._known = (time.monotonic(), known)
        return known

    def _counted(self) -> Mapping[str, Any]:
        processes, threads = self._workers.count()
        pending = self.records.pending()
        return {"worker_running": processes > 0, "worker_count": threads, "worker_pending_tasks": pending}

    @cached_property
    def _work(self) -> Mapping[str, Work | Callable[..., Any]]:
        return self._sources.work()

    @cached_property
    def _jobs(self) -> Sequence[Job]:
        return (*self._sources.jobs(), Job(name="tasks.forget", run=self._forget, minutes=daily))

    def _forget(self) -> int:
        return self.log.forget(self.log.clock() - timedelta(days=self._sources.keep_days()))

    def _find(self, name: str) -> Work | None:
        found = as_work(self._work, name)
        if found is not None:
            return found
        for job in self._jobs:
            if job.name == name:
                return Work(run=job.run)
        return next((one.work for one in self._sources.plugin_schedules() if one.name == name), None)

    def _wanted(self) -> Mapping[str, Schedule] | None:
        if not self._sources.is_up_to_date():
            return None
        return {one.name: one for one in (*of_jobs(self._jobs), *self._sources.plugin_schedules())}

    def _open_broker(self, run: Callable[[str], object]) -> Broker:
        from host.tasks.broker import Broker, storage_of  # noqa: PLC0415 - loads huey; see host.tasks.keeper

        return Broker(run, storage_of(self._options.queue_url))
