"""The tables of background tasks: the log of tasks, the schedules, and the workers that are alive."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from sqlalchemy import BigInteger, Column, Index, Text
from sqlmodel import Field

from host.storage.tables import HostTable, UtcDateTime

QUEUE = "plugyard"
"""Name of the queue, which clients see as its cluster."""
NAME_LENGTH = 255
WORKER_LENGTH = 200


class TaskStatus(StrEnum):
    """What has become of a task."""

    WAITING = "waiting"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"


class BackgroundTask(HostTable, table=True):
    """One task: what is to be done, who does it, what came of it. The queue carries only its identifier."""

    __tablename__ = "background_task"
    __table_args__ = (
        # What is in the queue already may be a lot, and what is not is asked for all the time.
        Index("ix_background_task_status_pushed_lock", "status", "pushed", "lock"),
        Index("ix_background_task_is_open_id", "is_open", "id"),
        Index("ix_background_task_has_failed_task_id", "has_failed", "task_id"),
        Index("ix_background_task_has_failed_func", "has_failed", "func"),
        Index("ix_background_task_has_failed_started", "has_failed", "started"),
        Index("ix_background_task_has_failed_stopped", "has_failed", "stopped"),
        # Ids are never given twice, also when the table was empty in between: clients delete by them.
        {"sqlite_autoincrement": True},
    )

    id: int | None = Field(default=None, primary_key=True)
    task_id: str = Field(max_length=32, unique=True)
    name: str = Field(max_length=100)
    """For people: random words."""
    func: str = Field(max_length=NAME_LENGTH)
    """Which work it is."""
    args: str = Field(default="()", sa_column=Column(Text, nullable=False))
    kwargs: str = Field(default="{}", sa_column=Column(Text, nullable=False))
    """What people see of ``data``."""
    data: str = Field(default="{}", sa_column=Column(Text, nullable=False))
    """Keyword arguments as JSON text, which may hold NUL where a JSON column may not."""
    status: str = Field(default=TaskStatus.WAITING.value, max_length=20)
    is_open: bool = True
    """Whether it waits or runs, and nobody has deleted it meanwhile."""
    lock: datetime | None = Field(default=None, sa_column=Column(UtcDateTime, nullable=True))
    """Until when nobody takes it: while it waits, when it is due; while it runs, when its worker counts as lost."""
    pushed: datetime | None = Field(default=None, sa_column=Column(UtcDateTime, nullable=True))
    """When its identifier went into the queue."""
    worker: str | None = Field(default=None, max_length=WORKER_LENGTH, index=True)
    attempts: int = 0
    created: datetime = Field(sa_column=Column(UtcDateTime, nullable=False))
    started: datetime | None = Field(default=None, sa_column=Column(UtcDateTime, nullable=True))
    stopped: datetime | None = Field(default=None, sa_column=Column(UtcDateTime, nullable=True, index=True))
    has_failed: bool = False
    """Whether its last run failed."""
    result: str | None = Field(default=None, sa_column=Column(Text, nullable=True))
    """What came of its last run: the value, or message and traceback."""
    progress: int = Field(default=0, sa_column=Column(BigInteger, nullable=False))
    total: int = Field(default=0, sa_column=Column(BigInteger, nullable=False))


class TaskSchedule(HostTable, table=True):
    """Work that is done again and again, and its latest run."""

    __tablename__ = "task_schedule"

    id: int | None = Field(default=None, primary_key=True)
    name: str = Field(max_length=NAME_LENGTH, unique=True)
    func: str = Field(max_length=NAME_LENGTH, index=True)
    definition: str = Field(max_length=300)
    """By which a changed schedule is known."""
    schedule_type: str = Field(max_length=2)
    repeats: int = -1
    next_run: datetime | None = Field(default=None, sa_column=Column(UtcDateTime, nullable=True, index=True))
    last_run: datetime | None = Field(default=None, sa_column=Column(UtcDateTime, nullable=True, index=True))
    success: bool | None = None
    task: str | None = Field(default=None, max_length=32, index=True)


class TaskWorker(HostTable, table=True):
    """A process that runs tasks, and when it was last seen."""

    __tablename__ = "task_worker"

    name: str = Field(max_length=WORKER_LENGTH, primary_key=True)
    place: str = Field(max_length=200)
    """The machine and its set of process ids; two processes of one place can look after each other."""
    pid: int
    threads: int
    started: datetime = Field(sa_column=Column(UtcDateTime, nullable=False))
    last_seen: datetime = Field(sa_column=Column(UtcDateTime, nullable=False))


TASK = HostTable.metadata.tables["background_task"]
SCHEDULE = HostTable.metadata.tables["task_schedule"]
WORKER = HostTable.metadata.tables["task_worker"]
