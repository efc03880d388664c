"""Schedules: what is done again and again becomes a task at each due time, once however many workers look."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, and_, delete, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from host.storage.engine import Database
from host.tasks.jobs import Job, Work
from host.tasks.log import TaskLog
from host.tasks.table import SCHEDULE, TASK, TaskStatus
from host.tasks.timing import Timing

_FIRST_JOB = timedelta(minutes=1)
_AT_ONCE = 100
_MINUTES_OF = {60: "H", 24 * 60: "D", 7 * 24 * 60: "W", 14 * 24 * 60: "BW"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """Work that is done again and again."""

    name: str
    func: str
    """What people see as the function."""
    work: Work
    timing: Timing
    repeats: int = -1
    at_once: bool = True
    """Whether the first run is at once, instead of soon after the start."""

    @property
    def definition(self) -> str:
        """By which a changed schedule is known."""
        return f"{self.timing}, {self.repeats}, {self.func}"[:300]


def of_jobs(jobs: Sequence[Job]) -> list[Schedule]:
    """Return the schedules of the host's own jobs."""
    found = []
    for job in jobs:
        minutes = job.minutes()
        if minutes < 1:
            continue
        timing = Timing(kind=_MINUTES_OF.get(minutes, "I"), minutes=minutes)
        found.append(Schedule(name=job.name, func=job.name, work=Work(run=job.run), timing=timing, at_once=False))
    return found


class Schedules:
    """Keeps the schedules.

    Args:
        database: where they are.
        log: gets the tasks.
        is_unsure: whether this process cannot tell, of a name, if there shall be such a schedule.

    """

    def __init__(
        self, database: Database, log: TaskLog, *, is_unsure: Callable[[str], bool] = lambda _name: False
    ) -> None:
        self._database = database
        self._log = log
        self._is_unsure = is_unsure

    def settle(self, wanted: Mapping[str, Schedule]) -> None:
        """Make the stored schedules those that are wanted, and drop what waits of the others."""
        with self._database.read() as connection:
            if not any(self._differences(connection, wanted)):
                return
        moment = self._log.clock()
        with self._database.write() as session:
            connection = session.connection()
            new, changed, gone = self._differences(connection, wanted)
            for row in gone:
                # The task before its schedule, as everywhere: two that want both must not wait for each other.
                waiting = and_(TASK.c.task_id == row.task, TASK.c.status == TaskStatus.WAITING.value)
                connection.execute(delete(TASK).where(waiting))
                connection.execute(delete(SCHEDULE).where(SCHEDULE.c.id == row.id))
            for row in changed:
                values = _values(wanted[row.name], moment, row.last_run)
                connection.execute(update(SCHEDULE).where(SCHEDULE.c.id == row.id).values(values))
            for schedule in new:
                _insert(connection, {"name": schedule.name, **_values(schedule, moment, None)})

    def start_due(self, wanted: Mapping[str, Schedule]) -> list[tuple[str, int, str]]:
        """Make tasks of what is due.

        Returns what was given up for it: runs that had failed and were to be tried again, as task, attempts, message.
        """
        due = SCHEDULE.c.next_run <= self._log.clock()
        columns = (SCHEDULE.c.id, SCHEDULE.c.name, SCHEDULE.c.next_run, SCHEDULE.c.repeats, SCHEDULE.c.task)
        with self._database.read() as connection:
            # Those that this process does not know must not stand before those that it does.
            mine = and_(due, SCHEDULE.c.name.in_(wanted))
            rows = connection.execute(select(*columns).where(mine).order_by(SCHEDULE.c.next_run).limit(_AT_ONCE)).all()
        given_up: list[tuple[str, int, str]] = []
        for row in rows:
            schedule = wanted.get(row.name)
            if schedule is not None:  # else this process does not know it, or not any more
                with self._database.write() as session:
                    given_up += self._start(session, row, schedule)
        return given_up

    def _start(self, session: Session, row: Any, schedule: Schedule) -> list[tuple[str, int, str]]:
        moment = self._log.clock()
        values: dict[str, Any] = {"next_run": schedule.timing.following(row.next_run, moment)}
        connection = session.connection()
        # The task before its schedule, as its worker does.
        connection.execute(select(TASK.c.id).where(TASK.c.task_id == row.task).with_for_update())
        still = and_(SCHEDULE.c.id == row.id, SCHEDULE.c.next_run == row.next_run)
        if not connection.execute(update(SCHEDULE).where(still).values(values)).rowcount:
            return []  # another worker was first
        superseded = _supersede(connection, row.task, moment)
        if superseded is None:
            return []  # the last run still goes on
        repeats = row.repeats - 1 if row.repeats > 0 else row.repeats
        if repeats == 0:
            values["next_run"] = None
        values |= {"task": self._log.add(session, row.name, {}), "last_run": moment, "success": None}
        connection.execute(update(SCHEDULE).where(SCHEDULE.c.id == row.id).values(**values, repeats=repeats))
        return superseded

    def _differences(
        self, connection: Connection, wanted: Mapping[str, Schedule]
    ) -> tuple[list[Schedule], list[Any], list[Any]]:
        columns = (SCHEDULE.c.id, SCHEDULE.c.name, SCHEDULE.c.definition, SCHEDULE.c.last_run, SCHEDULE.c.task)
        rows: list[Any] = list(connection.execute(select(*columns).order_by(SCHEDULE.c.id)))
        known = {row.name for row in rows}
        new = [schedule for name, schedule in wanted.items() if name not in known]
        gone = [row for row in rows if row.name not in wanted and not self._is_unsure(row.name)]
        changed = [row for row in rows if row.name in wanted and wanted[row.name].definition != row.definition]
        return new, changed, gone


def _supersede(connection: Connection, task_id: str | None, moment: datetime) -> list[tuple[str, int, str]] | None:
    """Give up the last run where it failed and waits for another try; ``None`` where it has not ended yet."""
    if task_id is None:
        return []
    columns = (TASK.c.id, TASK.c.func, TASK.c.status, TASK.c.attempts, TASK.c.result)
    last = connection.execute(select(*columns).where(TASK.c.task_id == task_id)).first()
    if last is None or last.status not in {TaskStatus.WAITING.value, TaskStatus.RUNNING.value}:
        return []
    if last.status == TaskStatus.RUNNING.value or last.attempts == 0:
        return None
    ended = {"status": TaskStatus.FAILED.value, "is_open": False, "lock": None, "stopped": moment}
    connection.execute(update(TASK).where(TASK.c.id == last.id).values(ended))
    return [(f"{last.func} ({task_id})", last.attempts, last.result or "")]


def _values(schedule: Schedule, moment: datetime, last_run: datetime | None) -> dict[str, Any]:
    if schedule.at_once:
        next_run = schedule.timing.first(moment)
    elif last_run is None:
        next_run = moment + _FIRST_JOB
    else:
        next_run = schedule.timing.following(last_run, moment)
    return {
        "func": schedule.func,
        "definition": schedule.definition,
        "schedule_type": schedule.timing.kind,
        "repeats": schedule.repeats,
        "next_run": next_run,
    }


def _insert(connection: Connection, values: Mapping[str, Any]) -> None:
    # Another process may have noted the same schedule a moment ago.
    maker: Callable[[Any], Any] = sqlite.insert if connection.dialect.name == "sqlite" else postgresql.insert
    connection.execute(maker(SCHEDULE).values(values).on_conflict_do_nothing(index_elements=["name"]))
