"""How processes agree: the registry's generation, and what each process has reached of it."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from socket import gethostname
from typing import Any

from sqlalchemy import Column, ColumnElement, UniqueConstraint, delete, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session
from sqlmodel import Field, col

from host.errors import UnavailableError
from host.storage.engine import Database
from host.storage.tables import HostTable, JsonColumn, UtcDateTime, now

_LOG = logging.getLogger("plugyard.plugins.convergence")

CHANNEL = "plugyard_registry"
COMMAND = "command"
"""What a process is for that runs one command and ends."""

_LOST_AFTER = timedelta(seconds=60)


class RegistryState(HostTable, table=True):
    """The generation that every process shall reach; a single row."""

    __tablename__ = "registry_state"

    id: int = Field(default=1, primary_key=True)
    generation: int = 0
    package_generation: int = 0
    forced_generation: int = 0
    """The last generation that asked for a rebuild even where nothing seems to have changed."""
    full_generation: int = 0
    """The last generation that asked for modules to be imported afresh."""


class HostProcess(HostTable, table=True):
    """A running process of the host, and the generation it has reached."""

    __tablename__ = "host_process"
    __table_args__ = (UniqueConstraint("node", "pid"),)

    id: int | None = Field(default=None, primary_key=True)
    node: str = Field(max_length=255)
    pid: int
    kind: str = Field(max_length=50)
    generation: int = 0
    package_generation: int = 0
    restart_required: list[str] = Field(default_factory=list, sa_column=Column(JsonColumn, nullable=False))
    """What this process can only take up when it is started again."""
    last_seen: datetime = Field(sa_type=UtcDateTime)


@dataclass(frozen=True, slots=True)
class State:
    """What the single row of ``registry_state`` says."""

    generation: int = 0
    package_generation: int = 0
    forced_generation: int = 0
    full_generation: int = 0


class Convergence:
    """One process's view of the common generation.

    Args:
        database: the host's database.
        file: touched after each change, so that processes on this machine notice at once.
        kind: what this process is for, as ``web`` or ``worker``.
        node: the machine's name; ``None`` takes the one it has in the network.

    """

    def __init__(self, *, database: Database, file: Path, kind: str, node: str | None = None) -> None:
        self.database = database
        self.kind = kind
        self.node = (node or gethostname())[:255]
        self.pid = os.getpid()
        self._file = str(file)
        self._seen = 0
        self._reached = (0, 0)
        self._restart_required: tuple[str, ...] = ()

    def open(self) -> None:
        """Make sure that the file and the row exist, and sign this process in.

        Raises:
            UnavailableError: the file cannot be written.

        """
        path = Path(self._file)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
        except OSError as error:
            msg = f"{path} cannot be used: {error.strerror}. Check the folder's owner and free space."
            raise UnavailableError(msg) from error
        with self.database.write() as session:
            _ensure_row(session)
        self.heartbeat()

    def state(self) -> State:
        """Read the generation that every process shall reach."""
        with self.database.read() as connection:
            row = connection.execute(_STATE).one_or_none()
        return State(*row) if row is not None else State()

    def lock(self, session: Session) -> State:
        """Hold off every other change of the registry until the session's transaction has ended."""
        statement = _STATE.with_for_update()
        row = session.execute(statement).one_or_none()
        if row is None:
            _ensure_row(session)
            row = session.execute(statement).one()
        return State(*row)

    def bump(
        self, session: Session, *, package_generation: int | None = None, force: bool = False, full: bool = False
    ) -> int:
        """Begin a new generation as part of the session's transaction; call :meth:`announce` after the commit."""
        before = self.lock(session)
        generation = before.generation + 1
        values = {"generation": generation}
        if package_generation is not None and package_generation != before.package_generation:
            values["package_generation"] = package_generation
        if force:
            values["forced_generation"] = generation
        if full:
            values["full_generation"] = generation
        session.execute(update(RegistryState).where(_is_the_row()).values(**values))
        return generation

    def announce(self) -> None:
        """Tell the processes of this machine and, where the database can, of all others to look at the generation."""
        try:
            self._touch()
        except OSError as error:
            # The change is in force already; those who follow the database find it a little later.
            _LOG.warning("%s cannot be written: %s. Other processes notice changes later.", self._file, error.strerror)
        if not self.database.is_sqlite:
            with self.database.write() as session:
                session.connection().exec_driver_sql(f"NOTIFY {CHANNEL}")

    def _touch(self) -> None:
        moment = time.time_ns()
        try:
            os.utime(self._file, ns=(moment, moment))
        except FileNotFoundError:
            Path(self._file).touch()

    def mark(self) -> int:
        """Return the file's present time; hand it to :meth:`settle` when what it stands for has been done."""
        try:
            return os.stat(self._file).st_mtime_ns  # noqa: PTH116  # at each request
        except OSError:
            return -1

    def settle(self, mark: int) -> None:
        """Take it that everything announced up to this mark has been done."""
        self._seen = mark

    def is_stale(self) -> bool:
        """Tell whether something was announced that this process has not looked at; cheap enough for each request."""
        try:
            return os.stat(self._file).st_mtime_ns != self._seen  # noqa: PTH116  # at each request
        except OSError:
            return self._seen != -1

    def acknowledge(self, generation: int, package_generation: int, restart_required: Sequence[str] = ()) -> None:
        """Say that this process has reached a generation."""
        self._reached = (generation, package_generation)
        self._restart_required = tuple(restart_required)
        self.heartbeat()

    def heartbeat(self) -> None:
        """Say that this process is alive, and forget those that are not."""
        generation, package_generation = self._reached
        values = {
            "kind": self.kind,
            "generation": generation,
            "package_generation": package_generation,
            "restart_required": list(self._restart_required),
            "last_seen": now(),
        }
        with self.database.write() as session:
            _upsert(session, HostProcess, {"node": self.node, "pid": self.pid, **values}, ("node", "pid"), values)
            _forget_dead(session, self.node)

    def leave(self) -> None:
        """Sign this process out."""
        with self.database.write() as session:
            ours = (col(HostProcess.node) == self.node, col(HostProcess.pid) == self.pid)
            session.execute(delete(HostProcess).where(*ours))

    def processes(self) -> list[dict[str, Any]]:
        """List the processes that run, with the generation each has reached."""
        columns = HostProcess.__table__.c  # type: ignore[attr-defined]  # SQLModel does not declare it
        query = select(*(column for column in columns if column.name != "id")).order_by(columns.node, columns.pid)
        with self.database.read() as connection:
            rows = [dict(row) for row in connection.execute(query).mappings()]
        return [row for row in rows if not _is_dead(row["node"], row["pid"], row["last_seen"], self.node)]


_STATE = select(
    col(RegistryState.generation),
    col(RegistryState.package_generation),
    col(RegistryState.forced_generation),
    col(RegistryState.full_generation),
).where(col(RegistryState.id) == 1)


def _is_the_row() -> ColumnElement[bool]:
    return col(RegistryState.id) == 1


def _ensure_row(session: Session) -> None:
    row = RegistryState().model_dump()
    _upsert(session, RegistryState, row, ("id",), None)


def _upsert(
    session: Session, table: type[HostTable], values: dict[str, Any], unique: Sequence[str], on_conflict: Any
) -> None:
    maker = sqlite.insert if session.connection().dialect.name == "sqlite" else postgresql.insert
    statement = maker(table).values(**values)
    if on_conflict is None:
        session.execute(statement.on_conflict_do_nothing(index_elements=unique))
    else:
        session.execute(statement.on_conflict_do_update(index_elements=unique, set_=on_conflict))


def _forget_dead(session: Session, node: str) -> None:
    columns = (col(HostProcess.id), col(HostProcess.node), col(HostProcess.pid), col(HostProcess.last_seen))
    dead = [row[0] for row in session.execute(select(*columns)) if _is_dead(row[1], row[2], row[3], node)]
    if dead:
        session.execute(delete(HostProcess).where(col(HostProcess.id).in_(dead)))


def _is_dead(node: str, pid: int, last_seen: datetime, here: str) -> bool:
    if now() - last_seen > _LOST_AFTER:
        return True
    if node != here:
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False
