"""The outbox: events that are stored and wait for their delivery."""

from __future__ import annotations

import os
import secrets
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Column, Connection, delete, exists, insert, select, text, update
from sqlalchemy.orm import Session
from sqlmodel import Field

from host.contract.events import Event
from host.contract.values import Json
from host.plugins.plain import plain
from host.storage.engine import Database
from host.storage.tables import HostTable, JsonColumn, UtcDateTime, now

_NAME_LENGTH = 255
_BATCH = 50
_POSTGRES_LOCK = 0x706C7579  # any number that nothing else locks


class EventOutbox(HostTable, table=True):
    """An event that is still to be delivered."""

    __tablename__ = "event_outbox"
    # Ids are never given twice, also when the table was empty in between: plugins compare them.
    __table_args__ = {"sqlite_autoincrement": True}  # noqa: RUF012 - SQLAlchemy reads it from the class

    id: int | None = Field(default=None, primary_key=True)
    name: str = Field(max_length=_NAME_LENGTH)
    data: dict[str, Any] = Field(sa_column=Column(JsonColumn, nullable=False))
    user_id: int | None = None
    created: datetime = Field(sa_column=Column(UtcDateTime, nullable=False))
    depth: int = 0
    claimed_by: str | None = Field(default=None, max_length=200)
    claimed_at: datetime | None = Field(default=None, sa_column=Column(UtcDateTime, nullable=True))


_TABLE = HostTable.metadata.tables["event_outbox"]


@dataclass(frozen=True, slots=True)
class Waiting:
    """An event on its way."""

    event: Event
    depth: int
    """How many events led to it, each sent while the one before was delivered."""


class Outbox:
    """Stores events, and gives them to one process at a time.

    Args:
        database: where events wait.
        lease: seconds after which the claims of a process that renews them no more are free again.

    """

    def __init__(self, database: Database, lease: float) -> None:
        self._database = database
        self._lease = lease
        self._me = f"{socket.gethostname()[:100]}:{os.getpid()}:{secrets.token_hex(4)}"

    def store(
        self, session: Session, name: str, data: Mapping[str, Json], user_id: int | None, *, depth: int = 0
    ) -> None:
        """Store an event as part of the session's transaction.

        Raises:
            TypeError: the data hold something that JSON cannot say.

        """
        values = {
            "name": name[:_NAME_LENGTH],
            "data": plain(dict(data)),
            "user_id": user_id,
            "created": now(),
            "depth": depth,
        }
        session.connection().execute(insert(_TABLE).values(values))

    def waiting(self) -> bool:
        """Tell whether any event waits, claimed or not."""
        with self._database.read() as connection:
            return bool(connection.execute(select(exists(select(_TABLE.c.id)))).scalar())

    def claim(self) -> list[Waiting]:
        """Take the next events, in the order of their ids; none while another process holds some.

        Events that this process holds already are among them.
        """
        columns = _TABLE.c
        alive = now() - timedelta(seconds=self._lease)
        theirs = columns.claimed_by.is_not(None) & (columns.claimed_by != self._me) & (columns.claimed_at >= alive)
        next_ones = select(_TABLE).order_by(columns.id).limit(_BATCH).with_for_update(skip_locked=True)
        with self._database.write() as session:
            connection = session.connection()
            _one_at_a_time(connection)
            if connection.execute(select(exists(select(columns.id).where(theirs)))).scalar():
                return []
            rows = connection.execute(next_ones).mappings().all()
            if rows:
                mine = columns.id.in_([row["id"] for row in rows])
                connection.execute(update(_TABLE).where(mine).values(claimed_by=self._me, claimed_at=now()))
        return [Waiting(_event(row), row["depth"]) for row in rows]

    def renew(self) -> bool:
        """Hold the claims for another lease; ``False`` when another process took them over."""
        return self._change(claimed_at=now()) > 0

    def give_back(self) -> None:
        """Give up all claims."""
        self._change(claimed_by=None, claimed_at=None)

    def done(self, event: Event) -> None:
        """Delete an event of this process."""
        with self._database.write() as session:
            mine = (_TABLE.c.id == event.id) & (_TABLE.c.claimed_by == self._me)
            session.connection().execute(delete(_TABLE).where(mine))

    def _change(self, **values: Any) -> int:
        with self._database.write() as session:
            mine = update(_TABLE).where(_TABLE.c.claimed_by == self._me).values(values)
            return session.connection().execute(mine).rowcount


def _one_at_a_time(connection: Connection) -> None:
    # SQLite lets one transaction write at a time anyway.
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:number)"), {"number": _POSTGRES_LOCK})


def _event(row: Mapping[Any, Any]) -> Event:
    return Event(id=row["id"], name=row["name"], data=row["data"], user_id=row["user_id"], time=row["created"])
