"""Generations: which packages were installed when, and which of those sets is in force."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Text, delete, func, insert, select, update
from sqlalchemy.engine import RowMapping
from sqlalchemy.orm import Session
from sqlmodel import Field, col

from host.errors import NotFoundError
from host.packages.lockfile import Lock
from host.storage.engine import Database
from host.storage.tables import HostTable, JsonColumn, UtcDateTime, now

OnSwitch = Callable[[Session, int], None]
"""Called within the transaction that puts a generation into force, with its number."""


class GenerationRecord(HostTable, table=True):
    """One generation; its rows are never changed."""

    __tablename__ = "package_generation"

    number: int = Field(primary_key=True, sa_column_kwargs={"autoincrement": False})
    created: datetime = Field(sa_type=UtcDateTime)
    created_by: int | None = None
    action: str = Field(max_length=500)
    requirements: str = Field(sa_type=Text)
    """Text of the whole plugins file."""
    lock: str = Field(sa_type=Text)
    """A PEP 751 ``pylock.toml``."""
    folders: list[str] = Field(sa_type=JsonColumn)
    """Names of folders in the store, in the order of ``sys.path``."""
    previous: int | None = None


class PackageState(HostTable, table=True):
    """Which generation is in force; the only row has the id 1."""

    __tablename__ = "package_state"

    id: int = Field(default=1, primary_key=True, sa_column_kwargs={"autoincrement": False})
    current: int = 0
    requirements_written: bool = True
    """The plugins file says what the generation says; False while that is still to be written."""
    based_on: str = Field(default="", max_length=64)
    """Hash of the plugins file that is to be replaced; empty when there was none."""


@dataclass(frozen=True, slots=True)
class CurrentGeneration:
    """The generation in force; number 0 when nothing was ever installed."""

    number: int
    folders: tuple[Path, ...]
    """To be added to ``sys.path``, after the host's own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Generation:
    """A set of packages that were installed together."""

    number: int
    created: datetime
    created_by: int | None
    action: str
    requirements: str
    lock: Lock
    previous: int | None
    is_current: bool

    def as_json(self) -> dict[str, Any]:
        """Return the generation for an answer; the full lock is asked for by itself."""
        return {
            "number": self.number,
            "created": self.created,
            "created_by": self.created_by,
            "action": self.action,
            "requirements": self.requirements,
            "packages": [{"name": package.name, "version": package.version} for package in self.lock],
            "previous": self.previous,
            "current": self.is_current,
        }


@dataclass(frozen=True, slots=True)
class PendingWrite:
    """The plugins file has to be written."""

    text: str
    based_on: str


class Generations:
    """The generations in the database.

    Args:
        database: where they are kept.
        store: folder of the package store.
        on_switch: called within each transaction that changes the generation in force.
        keep: how many generations are kept, beside the one in force.

    """

    def __init__(self, database: Database, store: Path, *, on_switch: OnSwitch, keep: int = 10) -> None:
        self._database = database
        self._store = store.absolute()
        self._on_switch = on_switch
        self._keep = keep

    def current(self) -> CurrentGeneration:
        """Return the generation in force."""
        with self._database.read() as connection:
            row = connection.execute(
                select(col(GenerationRecord.number), col(GenerationRecord.folders)).join(
                    PackageState, col(PackageState.current) == col(GenerationRecord.number)
                )
            ).first()
        if row is None:
            return CurrentGeneration(0, ())
        return CurrentGeneration(row.number, tuple(self._store / name for name in row.folders))

    def in_force(self) -> Generation | None:
        """Return the generation in force with its lock, None when nothing was ever installed."""
        number = self.current().number
        return self.get(number) if number else None

    def get(self, number: int) -> Generation:
        """Return one generation.

        Raises:
            NotFoundError: there is none of this number, or it is no longer kept.

        """
        with self._database.read() as connection:
            row = connection.execute(_all_columns().where(col(GenerationRecord.number) == number)).mappings().first()
        if row is None:
            raise NotFoundError(f"There is no generation {number}; see the list of generations.")
        return _generation(row)

    def all(self) -> list[Generation]:
        """Return every kept generation, the newest first."""
        with self._database.read() as connection:
            rows = connection.execute(_all_columns().order_by(col(GenerationRecord.number).desc())).mappings().all()
        return [_generation(row) for row in rows]

    def add(
        self, session: Session, *, lock: Lock, requirements: str, action: str, created_by: int | None, based_on: str
    ) -> int:
        """Make a new generation and put it into force, within a transaction; return its number."""
        number = (session.execute(select(func.max(GenerationRecord.number))).scalar() or 0) + 1
        previous = session.execute(select(col(PackageState.current))).scalar()
        session.execute(
            insert(GenerationRecord).values(
                number=number,
                created=now(),
                created_by=created_by,
                action=action[:500],
                requirements=requirements,
                lock=lock.to_toml(),
                folders=[package.folder for package in lock],
                previous=previous or None,
            )
        )
        self.switch(session, number, based_on=based_on)
        return number

    def switch(self, session: Session, number: int, *, based_on: str) -> None:
        """Put a generation into force, within a transaction."""
        values = {"current": number, "requirements_written": False, "based_on": based_on}
        if session.execute(select(col(PackageState.id))).first() is None:
            session.execute(insert(PackageState).values(id=1, **values))
        else:
            session.execute(update(PackageState).values(**values))
        self._on_switch(session, number)

    def pending_write(self) -> PendingWrite | None:
        """Return what the plugins file is to say, if that was not written yet."""
        with self._database.read() as connection:
            row = connection.execute(
                select(col(GenerationRecord.requirements), col(PackageState.based_on))
                .join(PackageState, col(PackageState.current) == col(GenerationRecord.number))
                .where(col(PackageState.requirements_written).is_(False))
            ).first()
        return None if row is None else PendingWrite(row.requirements, row.based_on)

    def written(self) -> None:
        """Note that the plugins file was written."""
        with self._database.write() as session:
            session.execute(update(PackageState).values(requirements_written=True))

    def forget_old(self) -> None:
        """Forget all but the newest generations and the one in force."""
        with self._database.write() as session:
            newest = (
                select(col(GenerationRecord.number)).order_by(col(GenerationRecord.number).desc()).limit(self._keep)
            )
            kept = set(session.execute(newest).scalars()) | set(
                session.execute(select(col(PackageState.current))).scalars()
            )
            session.execute(delete(GenerationRecord).where(col(GenerationRecord.number).not_in(kept)))


def _all_columns() -> Any:
    table = GenerationRecord
    return select(
        col(table.number), col(table.created), col(table.created_by), col(table.action), col(table.requirements),
        col(table.lock), col(table.previous), col(PackageState.current),
    ).join(PackageState, isouter=True, onclause=col(PackageState.id) == 1)  # fmt: skip


def _generation(row: RowMapping) -> Generation:
    return Generation(
        number=row["number"],
        created=row["created"],
        created_by=row["created_by"],
        action=row["action"],
        requirements=row["requirements"],
        lock=Lock.from_toml(row["lock"]),
        previous=row["previous"],
        is_current=row["current"] == row["number"],
    )
