"""The table of the log: what is written, read and removed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import JSON, BigInteger, ColumnElement, DateTime
from sqlalchemy.exc import IntegrityError
from sqlmodel import Field, Session, col, delete, func, select

from builtin_plugins.audit_log.redaction import redacted
from host import Event, table_base

if TYPE_CHECKING:
    # A type checker cannot follow a base class that is made by a call.
    from sqlmodel import SQLModel as Base
else:
    Base = table_base()


class Entry(Base, table=True):
    """One event, as it was recorded."""

    __tablename__ = "audit_log_entry"

    id: int | None = Field(default=None, primary_key=True)
    event_id: int = Field(sa_type=BigInteger, unique=True)
    name: str = Field(max_length=250, index=True)
    user_id: int | None = Field(default=None, index=True)
    # UTC without a zone: the one form that every database gives back as it was stored.
    time: datetime = Field(sa_type=DateTime, index=True)
    data: dict[str, Any] = Field(default_factory=dict, sa_type=JSON)


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """Which entries are wanted; ``None`` means any."""

    name: str | None = None
    """A shell pattern (``plugin.*``), in any case."""
    user_id: int | None = None
    since: datetime | None = None
    until: datetime | None = None

    def conditions(self) -> list[ColumnElement[bool]]:
        """Return the conditions on :class:`Entry`."""
        found: list[ColumnElement[bool]] = []
        if self.name is not None:
            found.append(col(Entry.name).ilike(_like(self.name), escape="\\"))
        if self.user_id is not None:
            found.append(col(Entry.user_id) == self.user_id)
        if self.since is not None:
            found.append(col(Entry.time) >= _stored(self.since))
        if self.until is not None:
            found.append(col(Entry.time) < _stored(self.until))
        return found


def record(session: Session, event: Event) -> bool:
    """Write an event down, without secrets; tell whether it was new.

    An event that arrives twice is written once.
    """
    if session.exec(select(Entry.id).where(Entry.event_id == event.id)).first() is not None:
        return False
    entry = Entry(
        event_id=event.id,
        name=event.name[:250],
        user_id=event.user_id,
        time=_stored(event.time),
        data=redacted(event.data),
    )
    try:
        with session.begin_nested():
            session.add(entry)
    except IntegrityError:  # another process was quicker
        return False
    return True


def count(session: Session, wanted: Filter) -> int:
    """Count the entries."""
    return session.exec(select(func.count()).select_from(Entry).where(*wanted.conditions())).one()


def page(session: Session, wanted: Filter, *, limit: int, offset: int) -> list[dict[str, Any]]:
    """Return some entries, newest first."""
    newest_first = (col(Entry.time).desc(), col(Entry.id).desc())
    statement = select(Entry).where(*wanted.conditions()).order_by(*newest_first).limit(limit).offset(offset)
    return [_shown(entry) for entry in session.exec(statement)]


def recorded_before(session: Session, wanted: Filter, *, last: int | None, limit: int) -> list[dict[str, Any]]:
    """Return some entries, the one recorded last first; with ``last``, only those recorded before it."""
    statement = select(Entry).where(*wanted.conditions()).order_by(col(Entry.id).desc()).limit(limit)
    if last is not None:
        statement = statement.where(col(Entry.id) < last)
    return [_shown(entry) for entry in session.exec(statement)]


def remove_before(session: Session, moment: datetime) -> int:
    """Remove the entries of events before a moment; return how many there were."""
    return session.exec(delete(Entry).where(col(Entry.time) < _stored(moment))).rowcount


def _shown(entry: Entry) -> dict[str, Any]:
    return {
        "pk": entry.id,
        "event": entry.event_id,
        "name": entry.name,
        "user": entry.user_id,
        "time": entry.time.isoformat(timespec="seconds") + "Z",
        "data": entry.data,
    }


def _stored(moment: datetime) -> datetime:
    return moment.astimezone(UTC).replace(tzinfo=None)


def _like(pattern: str) -> str:
    literal = pattern.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return literal.replace("*", "%").replace("?", "_")
