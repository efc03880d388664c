"""What was done to the packages, by whom, how far it is, and what pip printed."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

from sqlalchemy import Text, delete, insert, select, update
from sqlmodel import Field, col

from host.errors import NotFoundError
from host.packages.masking import mask
from host.packages.node import is_gone
from host.storage.engine import Database
from host.storage.tables import HostTable, JsonColumn, UtcDateTime, now

_KEPT = 200
_LONGEST_LOG = 500_000
_FLUSH_SECONDS = 0.5
_FLUSH_LINES = 200
_LONGEST_WAIT = timedelta(hours=1)


class OperationRecord(HostTable, table=True):
    """One change of the installed packages, or the attempt."""

    __tablename__ = "package_operation"

    id: str = Field(primary_key=True, max_length=36)
    kind: str = Field(max_length=20)
    status: str = Field(max_length=20, index=True)
    stage: str = Field(default="", max_length=50)
    progress: int = 0
    request: dict[str, Any] = Field(default_factory=dict, sa_type=JsonColumn)
    result: dict[str, Any] | None = Field(default=None, sa_type=JsonColumn)
    error: str = Field(default="", sa_type=Text)
    log: str = Field(default="", sa_type=Text)
    created: datetime = Field(sa_type=UtcDateTime, index=True)
    started: datetime | None = Field(default=None, sa_type=UtcDateTime)
    finished: datetime | None = Field(default=None, sa_type=UtcDateTime)
    user_id: int | None = None
    generation: int | None = None
    owner: str = Field(max_length=200)


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One change of the installed packages, or the attempt."""

    id: str
    kind: str
    """``install``, ``uninstall``, ``sync`` or ``restore``."""
    status: str
    """``waiting`` for another operation, ``running``, ``succeeded`` or ``failed``."""
    stage: str
    progress: int
    """0 to 100."""
    request: Mapping[str, Any]
    result: Mapping[str, Any] | None
    error: str
    log: str
    created: datetime
    started: datetime | None
    finished: datetime | None
    user_id: int | None
    generation: int | None

    def as_json(self) -> dict[str, Any]:
        """Return the operation for an answer."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an operation is; ``line`` is what pip has just printed, or empty."""

    stage: str
    percent: int
    line: str = ""


OnProgress = Callable[[Progress], None]


def new_operation_id() -> str:
    """Return an id for an operation that is about to start."""
    return str(uuid4())


class Operations:
    """The operations in the database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def begin(
        self, kind: str, request: Mapping[str, Any], *, owner: str, user_id: int | None, on_progress: OnProgress | None,
        operation_id: str | None = None,
    ) -> Recorder:  # fmt: skip
        """Record that an operation waits for its turn."""
        identifier = operation_id or new_operation_id()
        with self._database.write() as session:
            session.execute(
                insert(OperationRecord).values(
                    id=identifier,
                    kind=kind,
                    status="waiting",
                    stage="waiting",
                    progress=0,
                    request=dict(request),
                    error="",
                    log="",
                    created=now(),
                    user_id=user_id,
                    owner=owner,
                )
            )
        return Recorder(self._database, identifier, on_progress)

    def get(self, operation_id: str) -> Operation:
        """Return one operation.

        Raises:
            NotFoundError: there is none of this id, or it is no longer kept.

        """
        with self._database.read() as connection:
            query = _columns().where(col(OperationRecord.id) == operation_id)
            row = connection.execute(query).mappings().first()
        if row is None:
            raise NotFoundError(f"There is no package operation '{operation_id}'.")
        return Operation(**row)

    def latest(self, limit: int = 50) -> list[Operation]:
        """Return the latest operations, the newest first."""
        with self._database.read() as connection:
            query = _columns().order_by(col(OperationRecord.created).desc()).limit(limit)
            return [Operation(**row) for row in connection.execute(query).mappings().all()]

    def fail_abandoned(self, owner: str | None) -> int:
        """Mark operations failed whose process is gone; return how many.

        ``owner`` holds the lock, so whatever else claims to be running is not; None leaves running ones alone.
        """
        open_rows = select(col(OperationRecord.id), col(OperationRecord.owner), col(OperationRecord.status)).where(
            col(OperationRecord.status).in_(("waiting", "running"))
        )
        with self._database.write() as session:
            late = now() - _LONGEST_WAIT
            forgotten = set(
                session.execute(select(col(OperationRecord.id)).where(col(OperationRecord.created) < late)).scalars()
            )
            dead = [
                row.id
                for row in session.execute(open_rows)
                if row.owner != owner
                and (
                    is_gone(row.owner)
                    or (row.status == "running" and owner is not None)
                    or (row.status == "waiting" and row.id in forgotten)
                )
            ]
            session.execute(
                update(OperationRecord)
                .where(col(OperationRecord.id).in_(dead))
                .values(
                    status="failed", finished=now(), error="The process that did this ended before it was finished."
                )
            )
        return len(dead)

    def forget_old(self) -> None:
        """Forget all but the latest operations."""
        with self._database.write() as session:
            newest = select(col(OperationRecord.id)).order_by(col(OperationRecord.created).desc()).limit(_KEPT)
            kept = list(session.execute(newest).scalars())
            session.execute(
                delete(OperationRecord).where(
                    col(OperationRecord.id).not_in(kept), col(OperationRecord.status).in_(("succeeded", "failed"))
                )
            )


class Recorder:
    """Writes down how an operation goes on, and tells whoever follows it."""

    def __init__(self, database: Database, operation_id: str, on_progress: OnProgress | None) -> None:
        self.id = operation_id
        self._database = database
        self._on_progress = on_progress
        self._stage, self._percent = "waiting", 0
        self._waiting: list[str] = []
        self._lines: list[str] = []
        self._written = 0
        self._flushed = time.monotonic()

    @property
    def output(self) -> str:
        """Everything that pip printed."""
        return "\n".join(self._lines)

    def started(self) -> None:
        """Note that the operation has its turn."""
        self._update(status="running", started=now())

    def stage(self, name: str, percent: int) -> None:
        """Enter a stage."""
        self._stage, self._percent = name, percent
        self.flush()
        self._update(stage=name, progress=percent)
        self._tell("")

    def line(self, text: str) -> None:
        """Add a line to the log."""
        text = mask(text.replace("\x00", ""))
        self._lines.append(text)
        self._waiting.append(text)
        if len(self._waiting) >= _FLUSH_LINES or time.monotonic() - self._flushed > _FLUSH_SECONDS:
            self.flush()
        self._tell(text)

    def flush(self) -> None:
        """Write the waiting lines of the log."""
        self._flushed = time.monotonic()
        chunk = "".join(f"{line}\n" for line in self._waiting)
        self._waiting.clear()
        if not chunk or self._written > _LONGEST_LOG:
            return
        self._written += len(chunk)
        if self._written > _LONGEST_LOG:
            chunk = "(the rest of the log was left out)\n"
        self._update(log=col(OperationRecord.log) + chunk)

    def succeeded(self, result: Mapping[str, Any], generation: int) -> None:
        """Note the end, and the generation that is in force now."""
        self._stage, self._percent = "done", 100
        self.flush()
        self._update(
            status="succeeded", stage="done", progress=100, result=dict(result), generation=generation, finished=now()
        )
        self._tell("")

    def failed(self, error: str) -> None:
        """Note why the operation ended."""
        self.flush()
        self._update(status="failed", error=mask(error), finished=now())

    def _tell(self, line: str) -> None:
        if self._on_progress:
            self._on_progress(Progress(self._stage, self._percent, line))

    def _update(self, **values: Any) -> None:
        with self._database.write() as session:
            session.execute(update(OperationRecord).where(col(OperationRecord.id) == self.id).values(**values))


def _columns() -> Any:
    table = OperationRecord
    return select(
        col(table.id), col(table.kind), col(table.status), col(table.stage), col(table.progress), col(table.request),
        col(table.result), col(table.error), col(table.log), col(table.created), col(table.started),
        col(table.finished), col(table.user_id), col(table.generation),
    )  # fmt: skip
