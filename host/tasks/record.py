"""What people see of background tasks, and what they may delete."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, and_, delete, func, select, update
from sqlalchemy.orm import Session

from host.errors import NotFoundError
from host.storage.engine import Database
from host.storage.listing import Choice, Listing
from host.storage.rows import Rows
from host.tasks.listing import FAILED, PENDING
from host.tasks.log import TaskLog
from host.tasks.table import SCHEDULE, TASK, TaskStatus
from host.tasks.workers import Workers

_TASK_ID = re.compile(r"[0-9a-f]{32}")
_AT_ONCE = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """How busy the workers are."""

    is_running: bool
    pending_tasks: int
    scheduled_tasks: int
    failed_tasks: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskState:
    """How far one task is."""

    status: TaskStatus
    attempts: int
    progress: int
    total: int

    @property
    def is_complete(self) -> bool:
        """Whether it will not run any more."""
        return self.status in {TaskStatus.SUCCEEDED, TaskStatus.FAILED}


class TaskRecords:
    """Background tasks as records.

    Args:
        database: where they are.
        log: the log of tasks.
        workers: tells who is alive.

    """

    def __init__(self, database: Database, log: TaskLog, workers: Workers) -> None:
        self._database = database
        self._rows = Rows(database)
        self._log = log
        self._workers = workers

    def overview(self) -> Overview:
        """Count what waits, what failed and what is done again and again."""
        with self._database.read() as connection:
            pending, failed, scheduled = (
                connection.execute(select(func.count()).select_from(table).where(*conditions)).scalar_one()
                for table, conditions in (
                    (TASK, [TASK.c.is_open.is_(True)]),
                    (TASK, [TASK.c.has_failed.is_(True)]),
                    (SCHEDULE, []),
                )
            )
        return Overview(
            is_running=self._workers.count()[0] > 0,
            pending_tasks=pending,
            scheduled_tasks=scheduled,
            failed_tasks=failed,
        )

    def pending(self) -> int:
        """Count what waits or runs."""
        with self._database.read() as connection:
            count = select(func.count()).select_from(TASK).where(TASK.c.is_open.is_(True))
            return connection.execute(count).scalar_one()

    def state(self, task_id: str) -> TaskState:
        """Return how far a task is.

        Raises:
            NotFoundError: there is none with this identifier, or it was deleted or forgotten.

        """
        row: Any = None
        if _TASK_ID.fullmatch(task_id):
            columns = (TASK.c.status, TASK.c.attempts, TASK.c.progress, TASK.c.total)
            with self._database.read() as connection:
                row = connection.execute(select(*columns).where(TASK.c.task_id == task_id)).first()
        if row is None:
            msg = f"There is no background task '{task_id[:100]}', or it is no longer kept."
            raise NotFoundError(msg)
        return TaskState(status=TaskStatus(row.status), attempts=row.attempts, progress=row.progress, total=row.total)

    def delete_pending(self, choice: Choice) -> int:
        """Take tasks back, also out of the queue, and return how many.

        One that runs goes on to its end and is not run again. One whose last run failed stays with the failed ones.
        """
        waiting = TASK.c.status == TaskStatus.WAITING.value
        ended = {"status": TaskStatus.FAILED.value, "is_open": False, "lock": None}

        def take_back(session: Session, these: ColumnElement[bool]) -> None:
            connection = session.connection()
            connection.execute(update(TASK).where(these, waiting, TASK.c.has_failed.is_(True)).values(ended))
            connection.execute(delete(TASK).where(these, waiting))
            connection.execute(
                update(TASK).where(these, TASK.c.status == TaskStatus.RUNNING.value).values(is_open=False)
            )

        return self._delete(PENDING, choice, take_back)

    def delete_failed(self, choice: Choice) -> int:
        """Forget failures, and return how many; what will be tried again stays pending."""
        ended = TASK.c.status == TaskStatus.FAILED.value

        def forget(session: Session, these: ColumnElement[bool]) -> None:
            connection = session.connection()
            connection.execute(delete(TASK).where(these, ended))
            connection.execute(
                update(TASK).where(these, TASK.c.has_failed.is_(True)).values(has_failed=False, result=None)
            )

        return self._delete(FAILED, choice, forget)

    def _delete(self, listing: Listing, choice: Choice, delete_these: Any) -> int:
        keys = self._rows.keys(listing, choice)
        with self._database.write() as session:
            for start in range(0, len(keys), _AT_ONCE):
                part = keys[start : start + _AT_ONCE]
                # None of them may go from waiting to running, or back, between two of the statements.
                held = select(TASK.c.id).where(listing.key.in_(part)).order_by(TASK.c.id).with_for_update()
                session.connection().execute(held)
                delete_these(session, and_(listing.key.in_(part), *listing.condition(choice.user)))
        return len(keys)
