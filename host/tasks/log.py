"""The log of tasks: a task is its row here, and whatever the queue loses or doubles, the row decides.

A worker may run a task only after :meth:`TaskLog.claim`, which succeeds for one of all that try. It notes what came of
it under the same claim; one that was taken for lost meanwhile has nothing to say any more.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, and_, delete, func, insert, select, update
from sqlalchemy.orm import Session

from host.storage.engine import Database
from host.storage.tables import now
from host.tasks.names import new_name
from host.tasks.table import NAME_LENGTH, SCHEDULE, TASK, TaskStatus

_SHOWN = 4000
_RESULT = 100_000
_AT_ONCE = 200
_NEWLINE = "\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Claimed:
    """A task that this process runs now."""

    id: int
    task_id: str
    func: str
    data: Mapping[str, Any]
    attempts: int
    """Counts this run too."""
    worker: str


class TaskLog:
    """Keeps the rows of tasks.

    Args:
        database: where they are.
        lease: seconds after which a task is free again whose worker has not been heard of.
        scrub: takes what looks like a secret out of a text.
        clock: gives the time.

    """

    def __init__(
        self, database: Database, *, lease: float, scrub: Callable[[str], str], clock: Callable[[], datetime] = now
    ) -> None:
        self._database = database
        self._scrub = scrub
        self.lease = timedelta(seconds=lease)
        self.clock = clock

    def add(self, session: Session, func: str, data: Mapping[str, Any]) -> str:
        """Note a task that is due at once, as part of the session's transaction, and return its identifier.

        Raises:
            TypeError: the data hold something that JSON cannot say.
            ValueError: as above.

        """
        task_id, moment = uuid.uuid4().hex, self.clock()
        values = {
            "task_id": task_id,
            "name": new_name(),
            "func": func[:NAME_LENGTH],
            "args": "()",
            "kwargs": self._scrub(repr(dict(data)))[:_SHOWN],
            "data": json.dumps(dict(data), allow_nan=False),
            "status": TaskStatus.WAITING.value,
            "is_open": True,
            "lock": moment,
            "created": moment,
            "attempts": 0,
            "has_failed": False,
            "progress": 0,
            "total": 0,
        }
        session.connection().execute(insert(TASK).values(values))
        return task_id

    # -- into the queue -----------------------------------------------------------------------------------------

    def take_unpushed(self) -> list[str]:
        """Return tasks that are due and not in the queue yet, and note that they are; for one process each."""
        due = and_(TASK.c.status == TaskStatus.WAITING.value, TASK.c.lock <= self.clock(), TASK.c.pushed.is_(None))
        # In the order of the index: PostgreSQL might read the whole table, where it believes that most of it fits.
        some = select(TASK.c.id, TASK.c.task_id).where(due).order_by(TASK.c.pushed, TASK.c.lock, TASK.c.id)
        with self._database.read() as connection:
            if connection.execute(some.limit(1)).first() is None:
                return []
        some = some.limit(_AT_ONCE)
        with self._database.write() as session:
            rows = session.connection().execute(some.with_for_update(skip_locked=True)).all()
            if rows:
                these = TASK.c.id.in_([row.id for row in rows])
                session.connection().execute(update(TASK).where(these).values(pushed=self.clock()))
        return [row.task_id for row in rows]

    def unpush(self, task_ids: Sequence[str]) -> None:
        """Note that tasks did not reach the queue after all."""
        with self._database.write() as session:
            these = and_(TASK.c.task_id.in_(task_ids), TASK.c.status == TaskStatus.WAITING.value)
            session.connection().execute(update(TASK).where(these).values(pushed=None))

    def doubt_pushed(self, before: datetime, *, overtaken: timedelta | None = None) -> int:
        """Let tasks go into the queue again that went there before a moment and were never taken out to run.

        Args:
            before: the moment.
            overtaken: where the queue holds something, how much later one must have gone there that runs already.
                Else all that waits in a long queue would be sent again and again, and make it longer.

        """
        with self._database.read() as connection:
            if overtaken is not None:
                running = TASK.c.status == TaskStatus.RUNNING.value
                newest = connection.execute(select(func.max(TASK.c.pushed)).where(running)).scalar()
                if newest is None:
                    return 0
                before = min(before, newest - overtaken)
            lost = and_(TASK.c.status == TaskStatus.WAITING.value, TASK.c.lock <= self.clock(), TASK.c.pushed < before)
            if connection.execute(select(TASK.c.id).where(lost).limit(1)).first() is None:
                return 0
        with self._database.write() as session:
            return session.connection().execute(update(TASK).where(lost).values(pushed=None)).rowcount

    def first_due(self) -> str | None:
        """Return the task that is due longest."""
        due = and_(TASK.c.status == TaskStatus.WAITING.value, TASK.c.lock <= self.clock())
        with self._database.read() as connection:
            statement = select(TASK.c.task_id).where(due).order_by(TASK.c.lock, TASK.c.id).limit(1)
            return connection.execute(statement).scalar()

    # -- running ------------------------------------------------------------------------------------------------

    def claim(self, task_id: str, worker: str) -> Claimed | None:
        """Take a task to run it; ``None`` when it is not due, another has it, or it was deleted."""
        moment = self.clock()
        columns = (TASK.c.id, TASK.c.func, TASK.c.data, TASK.c.attempts)
        due = and_(TASK.c.task_id == task_id, TASK.c.status == TaskStatus.WAITING.value, TASK.c.lock <= moment)
        values: dict[str, Any] = {
            "status": TaskStatus.RUNNING.value,
            "worker": worker,
            "lock": moment + self.lease,
            "started": moment,
            "stopped": None,
            "attempts": TASK.c.attempts + 1,
        }
        with self._database.write() as session:
            row = session.connection().execute(update(TASK).where(due).values(values).returning(*columns)).first()
        if row is None:
            return None
        return Claimed(
            id=row.id,
            task_id=task_id,
            func=row.func,
            data=json.loads(row.data),
            attempts=row.attempts,
            worker=worker,
        )

    def succeeded(self, task: Claimed, result: str) -> bool:
        """Note that a run succeeded; ``False`` when the claim had been lost."""
        values = {"status": TaskStatus.SUCCEEDED.value, "has_failed": False, "result": self._text(result)}
        return self._end(task, values, success=True)

    def failed(self, task: Claimed, result: str) -> bool:
        """Note that a run failed and that there is no other; ``False`` when the claim had been lost."""
        values = {"status": TaskStatus.FAILED.value, "has_failed": True, "result": self._text(result)}
        return self._end(task, values, success=False)

    def postpone(self, task: Claimed, result: str, seconds: float) -> bool:
        """Note that a run failed and when the next one is due; ``False`` when the claim had been lost.

        A task that was deleted meanwhile is not run again.
        """
        moment = self.clock()
        values = {
            "status": TaskStatus.WAITING.value,
            "has_failed": True,
            "result": self._text(result),
            "lock": moment + timedelta(seconds=seconds),
            "pushed": None,
            "worker": None,
            "stopped": moment,
        }
        with self._database.write() as session:
            connection = session.connection()
            again = update(TASK).where(_is_mine(task), TASK.c.is_open.is_(True)).values(values)
            if connection.execute(again).rowcount:
                _note_schedule(session, task.task_id, success=False)
                return True
        return self.failed(task, result)

    def give_back(self, task: Claimed) -> None:
        """Let another worker run a task that this one cannot finish; the run does not count."""
        values = {
            "status": TaskStatus.WAITING.value,
            "lock": self.clock(),
            "pushed": None,
            "worker": None,
            "attempts": task.attempts - 1,
        }
        with self._database.write() as session:
            session.connection().execute(update(TASK).where(_is_mine(task)).values(values))

    def renew(self, tasks: Sequence[Claimed]) -> None:
        """Hold tasks that run for another lease."""
        if not tasks:
            return
        held = and_(TASK.c.id.in_([task.id for task in tasks]), TASK.c.worker == tasks[0].worker)
        with self._database.write() as session:
            session.connection().execute(update(TASK).where(held).values(lock=self.clock() + self.lease))

    def orphans(self, dead: Sequence[str], alive: Sequence[str] = ()) -> list[Claimed]:
        """Return tasks that nobody runs any more.

        Args:
            dead: workers that are lost.
            alive: workers that are known to live: they look after what they run, whatever the clock here says of it.

        """
        running = TASK.c.status == TaskStatus.RUNNING.value
        columns = (TASK.c.id, TASK.c.task_id, TASK.c.func, TASK.c.attempts, TASK.c.worker)
        lost = and_(TASK.c.lock <= self.clock(), TASK.c.worker.not_in(alive))
        if dead:
            lost |= TASK.c.worker.in_(dead)
        with self._database.read() as connection:
            rows = connection.execute(select(*columns).where(running, lost).limit(_AT_ONCE)).all()
        return [
            Claimed(id=row.id, task_id=row.task_id, func=row.func, data={}, attempts=row.attempts, worker=row.worker)
            for row in rows
        ]

    def note_progress(self, known: Mapping[str, tuple[int, int]]) -> None:
        """Note how far tasks are that run: identifier → done, of how many."""
        if not known:
            return
        with self._database.write() as session:
            for task_id, (progress, total) in known.items():
                mine = and_(TASK.c.task_id == task_id, TASK.c.status == TaskStatus.RUNNING.value)
                session.connection().execute(update(TASK).where(mine).values(progress=progress, total=total))

    def forget(self, before: datetime) -> int:
        """Delete tasks that ended before a moment, and return how many."""
        ended = TASK.c.status.in_([TaskStatus.SUCCEEDED.value, TaskStatus.FAILED.value])
        with self._database.write() as session:
            old = delete(TASK).where(ended, TASK.c.stopped < before)
            return session.connection().execute(old).rowcount

    # -- inside -------------------------------------------------------------------------------------------------

    def _end(self, task: Claimed, values: Mapping[str, Any], *, success: bool) -> bool:
        ended = {**values, "is_open": False, "lock": None, "worker": None, "stopped": self.clock()}
        with self._database.write() as session:
            if not session.connection().execute(update(TASK).where(_is_mine(task)).values(ended)).rowcount:
                return False
            _note_schedule(session, task.task_id, success=success)
            return True

    def _text(self, text: str) -> str:
        if len(text) > _RESULT:
            # The message begins it and the place ends it. The end begins with a whole line: where one is cut, the
            # name of a secret can be lost and its value remain.
            half = _RESULT // 2 - 10
            text = f"{text[:half]}\n[...]\n{text[-half:].partition(_NEWLINE)[2]}"
        return self._scrub(text)


def _is_mine(task: Claimed) -> ColumnElement[bool]:
    # The number of the run tells this claim from a later one of the same worker.
    return and_(
        TASK.c.id == task.id,
        TASK.c.status == TaskStatus.RUNNING.value,
        TASK.c.worker == task.worker,
        TASK.c.attempts == task.attempts,
    )


def _note_schedule(session: Session, task_id: str, *, success: bool) -> None:
    session.connection().execute(update(SCHEDULE).where(SCHEDULE.c.task == task_id).values(success=success))
