"""Background tasks over a real database, with a clock that stands still, and without threads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from host.storage.engine import Database
from host.tasks.background import BackgroundTasks, TaskOptions, TaskSources
from host.tasks.jobs import Job, Work
from host.tasks.schedules import Schedule
from host.tasks.table import SCHEDULE, TASK

START = datetime(2030, 1, 31, 12, 0, tzinfo=UTC)


class TaskBench:
    """Background tasks, what they did, and what was reported."""

    def __init__(self, database: Database, home: Path) -> None:
        self.database = database
        self.home = home
        self.moment = START
        self.work: dict[str, Work | Callable[..., Any]] = {}
        self.jobs: list[Job] = []
        self.schedules: list[Schedule] = []
        self.reports: list[tuple[str, str, str]] = []
        self.up_to_date = True
        self.tasks = self.another()

    def another(self) -> BackgroundTasks:
        """Return the tasks as another process sees them."""
        return BackgroundTasks(
            self.database,
            TaskOptions(queue_url=f"sqlite:///{self.home / 'queue.db'}", home=self.home),
            sources=TaskSources(
                work=lambda: self.work,
                jobs=lambda: self.jobs,
                plugin_schedules=lambda: self.schedules,
                is_up_to_date=lambda: self.up_to_date,
                keep_days=lambda: 30,
            ),
            report=lambda *report: self.reports.append(report),
            scrub=lambda text: text.replace("hunter2", "***"),
            clock=lambda: self.moment,
        )

    def add(self, name: str, /, **data: Any) -> str:
        """Enqueue a task in a transaction of its own."""
        with self.database.write() as session:
            return self.tasks.enqueue(session, name, data)

    def later(self, **passed: float) -> None:
        """Let time pass."""
        self.moment += timedelta(**passed)

    def row(self, task_id: str) -> Mapping[str, Any]:
        """Return the stored task."""
        with self.database.read() as connection:
            return dict(connection.execute(select(TASK).where(TASK.c.task_id == task_id)).mappings().one())

    def rows(self) -> Sequence[Mapping[str, Any]]:
        """Return all stored tasks but the one that tidies up, the oldest first."""
        others = select(TASK).where(TASK.c.func != "tasks.forget").order_by(TASK.c.id)
        with self.database.read() as connection:
            return [dict(row) for row in connection.execute(others).mappings()]

    def schedule(self, name: str) -> Mapping[str, Any] | None:
        """Return a stored schedule."""
        with self.database.read() as connection:
            row = connection.execute(select(SCHEDULE).where(SCHEDULE.c.name == name)).mappings().first()
            return None if row is None else dict(row)


@pytest.fixture
def bench(database, tmp_path) -> TaskBench:
    return TaskBench(database, tmp_path)
