"""The stored session: found for a caller, locked for a change, and completed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from sqlalchemy import Connection, delete, select, update
from sqlalchemy.orm import Session

from host.accounts.events import Emit
from host.contract.values import User
from host.errors import HostError, NotFoundError
from host.importing.judging import Options
from host.importing.listings import sees_all
from host.importing.tables import MAPS, ROWS, SESSIONS, ImportStatus
from host.plugins.failures import PluginFailedError
from host.records.notifications import Notifications, Target

CATEGORY: Final = "import"
"""Of the notifications."""
MODEL: Final = "dataimportsession"

Row = dict[str, Any]


def unknown_session(key: int) -> NotFoundError:
    """Return the error that says there is no such session, or none for the caller."""
    return NotFoundError(f"Not found. There is no import session with pk '{key}'.")


def reason_of(error: HostError) -> str:
    """Say why work came to nothing; what a plugin raises may hold more than the user of a session may know."""
    if isinstance(error, PluginFailedError):
        return f"Plugin '{error.plugin}' failed; an error report tells the administrator why."
    return str(error)


def find_session(connection: Connection, key: int, *, lock: bool = False) -> Row | None:
    """Return a session; with ``lock`` nobody else changes it or its rows until the transaction ends."""
    statement = select(SESSIONS).where(SESSIONS.c.id == key)
    row = connection.execute(statement.with_for_update() if lock else statement).mappings().first()
    return None if row is None else dict(row)


def visible_session(connection: Connection, key: int, user: User) -> Row:
    """Return a session that an account may see.

    Raises:
        NotFoundError: there is none.

    """
    row = find_session(connection, key)
    if row is None or not (sees_all(user) or row["user_id"] == user.id):
        raise unknown_session(key)
    return row


def columns_of(connection: Connection, key: int) -> dict[str, str]:
    """Return field → column of a session, ``""`` for none."""
    statement = select(MAPS.c.field, MAPS.c.column).where(MAPS.c.session_id == key).order_by(MAPS.c.id)
    return {row.field: row.column for row in connection.execute(statement)}


def options_of(connection: Connection, session: Mapping[str, Any]) -> Options:
    """Return how the rows of a session become records."""
    statement = select(MAPS.c.field, MAPS.c.column, MAPS.c.lookup_field).where(MAPS.c.session_id == session["id"])
    maps = connection.execute(statement).all()
    return Options(
        update=session["update_records"],
        columns={one.field: one.column for one in maps if one.column},
        lookups={one.field: one.lookup_field for one in maps if one.lookup_field},
        defaults=session["field_defaults"] or {},
        overrides=session["field_overrides"] or {},
        filters=session["field_filters"] or {},
    )


class Completion:
    """Ends sessions.

    Args:
        notifications: tells their users.
        emit: sends ``import.completed``.
        label: gives the name of a model type for people.

    """

    def __init__(self, notifications: Notifications, emit: Emit, label: Callable[[str], str]) -> None:
        self._notifications = notifications
        self._emit = emit
        self._label = label

    def if_done(self, session: Session, row: Mapping[str, Any]) -> bool:
        """Complete a locked session of which no row is open, and return whether it was."""
        connection, key = session.connection(), row["id"]
        is_open = (ROWS.c.session_id == key, ROWS.c.complete.is_(False))
        if connection.execute(select(ROWS.c.id).where(*is_open).limit(1)).first() is not None:
            return False
        present = find_session(connection, key)
        if present is None or present["status"] != ImportStatus.PROCESSING:
            return False
        connection.execute(delete(ROWS).where(ROWS.c.session_id == key))
        connection.execute(delete(MAPS).where(MAPS.c.session_id == key))
        counts = {name: present[name] for name in ("row_count", "completed_row_count")}
        values = {f"{name}_history": count for name, count in counts.items()} | dict.fromkeys(counts, 0)
        connection.execute(
            update(SESSIONS).where(SESSIONS.c.id == key).values(**values, status=ImportStatus.COMPLETE, error="")
        )
        done = counts["completed_row_count"]
        data = {"session": key, "model_type": present["model_type"], "records": done}
        self._emit(session, "import.completed", data, present["user_id"])
        self.tell(session, present, "is complete", f"{done} of {counts['row_count']} rows became records.")
        return True

    def tell(self, session: Session, row: Mapping[str, Any], what: str, message: str) -> None:
        """Tell the user of a session what came of it, as part of the transaction."""
        if row["user_id"] is not None:
            name = row["data_file"].rpartition("/")[2]
            self._notifications.send(
                session,
                [row["user_id"]],
                category=CATEGORY,
                name=f"Import of {name} {what}",
                message=f"{self._label(row['model_type'])}: {message}",
                target=Target(name=name, model=MODEL, id=row["id"]),
            )
