"""Data outputs: files that were made for somebody, as exports are, and how far their making has come."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, time, timedelta
from enum import StrEnum
from functools import partial
from typing import Any, Final

from sqlalchemy import BigInteger, Column, ColumnElement, Connection, Date, Index, case, delete, insert, select, update
from sqlalchemy.orm import Session
from sqlmodel import Field

from host.accounts.account import USERS
from host.contract.values import User
from host.errors import NotFoundError, RefusedError
from host.records.scrubbing import scrub_within
from host.storage.endings import after_commit
from host.storage.engine import Database
from host.storage.files import FileStore, check_path
from host.storage.listing import Choice, Listing, by_reference
from host.storage.rows import Rows
from host.storage.tables import HostTable, JsonColumn, now

_LOG = logging.getLogger("plugyard.data_outputs")

FOLDER: Final = "data_output/"
"""Where the files are in the file store."""
NAME_LENGTH: Final = 100
_PATH_LENGTH: Final = 500
_MESSAGE_LENGTH: Final = 2000
_LARGEST: Final = 2**63 - 1
_KEYS_AT_ONCE: Final = 500
_SHOWN: Final = ("total", "progress", "complete", "output_type", "template_name", "plugin", "output", "errors")


class OutputType(StrEnum):
    """What a data output is."""

    LABEL = "label"
    REPORT = "report"
    EXPORT = "export"


class DataOutput(HostTable, table=True):
    """A data output; its file is there once it is complete."""

    __tablename__ = "data_output"
    __table_args__ = (
        Index("ix_data_output_user_id_id", "user_id", "id"),
        Index("ix_data_output_created_id", "created", "id"),
        Index("ix_data_output_plugin_id", "plugin", "id"),
        Index("ix_data_output_output_type_id", "output_type", "id"),
        # Ids are never given twice: a task may be on its way to fill an output that was deleted.
        {"sqlite_autoincrement": True},
    )

    id: int | None = Field(default=None, primary_key=True)
    created: date = Field(sa_column=Column(Date, nullable=False))
    user_id: int | None = Field(default=None, foreign_key="account_user.id", ondelete="SET NULL")
    total: int = Field(default=0, sa_column=Column(BigInteger, nullable=False))
    progress: int = Field(default=0, sa_column=Column(BigInteger, nullable=False))
    complete: bool = False
    output_type: str | None = Field(default=None, max_length=NAME_LENGTH)
    template_name: str | None = Field(default=None, max_length=NAME_LENGTH)
    plugin: str | None = Field(default=None, max_length=NAME_LENGTH)
    output: str | None = Field(default=None, max_length=_PATH_LENGTH, unique=True)
    """Path in the file store."""
    errors: dict[str, Any] | None = Field(default=None, sa_column=Column(JsonColumn, nullable=True))


OUTPUTS: Final = HostTable.metadata.tables["data_output"]


def _view(user: User | None) -> ColumnElement[bool] | None:
    if user is not None and (user.is_staff or user.is_superuser):
        return None
    return OUTPUTS.c.user_id == (user.id if user else None)


DATA_OUTPUTS: Final = Listing(
    table=OUTPUTS,
    key=OUTPUTS.c.id,
    source=OUTPUTS.outerjoin(USERS, OUTPUTS.c.user_id == USERS.c.id),
    view=_view,
    members={
        "pk": OUTPUTS.c.id,
        "created": OUTPUTS.c.created,
        "user": OUTPUTS.c.user_id,
        "user_detail.pk": USERS.c.id,
        **{f"user_detail.{name}": USERS.c[name] for name in ("username", "first_name", "last_name", "email")},
        **{name: OUTPUTS.c[name] for name in _SHOWN},
    },
    filters={"user": by_reference(OUTPUTS.c.user_id, USERS.c.id, "Whose outputs.")},
    ordering={
        "pk": OUTPUTS.c.id,
        "user": OUTPUTS.c.user_id,
        **{name: OUTPUTS.c[name] for name in ("plugin", "output_type", "created")},
    },
    default_order=("-pk",),
)
"""The caller's data outputs; for the staff everybody's."""


class DataOutputs:
    """Keeps data outputs and their files.

    Whoever makes an output begins it, tells of its progress, and completes it or says that it failed. An output that
    was deleted meanwhile stays deleted: the maker is told so by ``False`` and can stop.

    Args:
        database: where the records are.
        files: where the files are.
        days: how long they are kept; asked each time.

    """

    def __init__(self, database: Database, files: FileStore, *, days: Callable[[], int] = lambda: 5) -> None:
        self._database = database
        self._rows = Rows(database)
        self._files = files
        self._days = days

    def begin(
        self,
        user: User | None,
        output_type: OutputType,
        *,
        plugin: str | None = None,
        template_name: str | None = None,
        total: int = 0,
        session: Session | None = None,
    ) -> int:
        """Make the record of an output that is going to be made, and return its key.

        Args:
            user: for whom.
            output_type: what it is.
            plugin: key of the plugin that makes it; cut to 100 characters, as the name.
            template_name: what it is made of.
            total: how many steps there will be, if that is known.
            session: makes it a part of the caller's transaction.

        """
        row = {
            "created": _today(),
            "user_id": None if user is None else user.id,
            "output_type": OutputType(output_type).value,
            "plugin": None if plugin is None else plugin[:NAME_LENGTH],
            "template_name": None if template_name is None else template_name[:NAME_LENGTH],
            "total": _step(total),
            "progress": 0,
            "complete": False,
        }
        statement = insert(OUTPUTS).values(row).returning(OUTPUTS.c.id)
        if session is not None:
            return int(session.connection().execute(statement).scalar_one())
        with self._database.write() as own:
            return int(own.connection().execute(statement).scalar_one())

    def progress(self, key: int, done: int, total: int | None = None) -> bool:
        """Tell how many steps are done; fewer than before change nothing. Return whether anybody still waits for it."""
        done = _step(done)
        values: dict[str, Any] = {"progress": case((OUTPUTS.c.progress < done, done), else_=OUTPUTS.c.progress)}
        if total is not None:
            values["total"] = _step(total)
        return self._change(key, values)

    def complete(self, key: int, path: str) -> bool:
        """Give an output its file, and return whether anybody still waited for it; the file is deleted if nobody did.

        Args:
            key: of the output.
            path: of the file in the store, below ``data_output/``; the output owns it from now on.

        Raises:
            RefusedError: no output can have its file there.

        """
        check_path(path)
        if not path.startswith(FOLDER) or len(path) > _PATH_LENGTH:
            raise RefusedError(f"The file of a data output is below {FOLDER}; '{path[:200]}' is not.")
        most = case((OUTPUTS.c.total < OUTPUTS.c.progress, OUTPUTS.c.progress), else_=OUTPUTS.c.total)
        if self._change(key, {"output": path, "complete": True, "total": most, "progress": most}):
            return True
        owner = self._owner_of(path)
        if owner is None:
            self._files.delete(path)
        # A task that was repeated completes its output again.
        return owner == key

    def fail(self, key: int, message: str) -> bool:
        """Say why an output cannot be made, to those who wait for it; return whether anybody did."""
        return self._change(key, {"errors": {"error": scrub_within(message, _MESSAGE_LENGTH)}})

    def delete(self, key: int, *, by: User) -> None:
        """Delete an output with its file.

        Raises:
            NotFoundError: there is none that the caller may see.

        """
        if not self.delete_many(Choice(user=by, keys=[key])):
            raise NotFoundError(f"Not found. There is no data output with pk '{key}'.")

    def delete_many(self, choice: Choice) -> int:
        """Delete the outputs that are meant, of those that the caller may see, with their files; return how many."""
        keys = self._rows.keys(DATA_OUTPUTS, choice)
        with self._database.write() as session:
            return self._delete(session, keys)

    def expire(self) -> int:
        """Delete what is older than it is kept, and files that nobody knows of; return how many outputs went."""
        last = _today() - timedelta(days=max(self._days(), 1))
        with self._database.write() as session:
            keys = session.connection().execute(select(OUTPUTS.c.id).where(OUTPUTS.c.created < last)).scalars().all()
            deleted = self._delete(session, keys)
        self._sweep(datetime.combine(last, time(), UTC))
        return deleted

    def may_read(self, user: User, path: str) -> bool:
        """Tell whether somebody may read the file at a path of the store: whose output it is, and the staff."""
        statement = select(OUTPUTS.c.user_id).where(OUTPUTS.c.output == path)
        with self._database.read() as connection:
            found = connection.execute(statement).first()
        return found is not None and (user.is_staff or user.is_superuser or found.user_id == user.id)

    def _owner_of(self, path: str) -> int | None:
        with self._database.read() as connection:
            return connection.execute(select(OUTPUTS.c.id).where(OUTPUTS.c.output == path)).scalar()

    def _change(self, key: int, values: Mapping[str, Any]) -> bool:
        waits = (OUTPUTS.c.id == key, OUTPUTS.c.complete.is_(False), OUTPUTS.c.errors.is_(None))
        with self._database.write() as session:
            return session.connection().execute(update(OUTPUTS).where(*waits).values(values)).rowcount > 0

    def _delete(self, session: Session, keys: Any) -> int:
        connection: Connection = session.connection()
        deleted = 0
        for start in range(0, len(keys), _KEYS_AT_ONCE):
            part = OUTPUTS.c.id.in_(keys[start : start + _KEYS_AT_ONCE])
            # What another caller deletes at the same moment is theirs to count.
            for path in connection.execute(delete(OUTPUTS).where(part).returning(OUTPUTS.c.output)).scalars():
                deleted += 1
                if path is not None:
                    after_commit(session, partial(self._files.delete, path))
        return deleted

    def _sweep(self, before: datetime) -> None:
        # A process that was killed between writing a file and completing its output leaves one behind.
        for info in self._files.walk(FOLDER):
            if info.modified < before and self._owner_of(info.path) is None:
                _LOG.info("%s belongs to no data output and is deleted", info.path)
                self._files.delete(info.path)


def _today() -> date:
    # As the interface shows days: those of the server's time zone.
    return now().astimezone().date()


def _step(number: int) -> int:
    return min(max(number, 0), _LARGEST)
