"""The rows of sessions: edited, and deleted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from host.contract.values import User
from host.errors import InvalidInputError, NotAllowedError, NotFoundError
from host.importing.judging import Judge
from host.importing.keeping import Completion, Row, find_session, options_of, visible_session
from host.importing.listings import ROW_LIST
from host.importing.tables import ROWS, SESSIONS, ImportStatus
from host.importing.targets import Targets
from host.storage.engine import Database
from host.storage.listing import Choice
from host.storage.rows import Rows as AnyRows

_KEYS_AT_ONCE: Final = 500


class Rows:
    """Lets people put rows right before they become records.

    Args:
        database: where the rows are.
        targets: knows what they can become.
        completion: ends sessions.

    """

    def __init__(self, database: Database, targets: Targets, completion: Completion) -> None:
        self._database = database
        self._rows = AnyRows(database)
        self._targets = targets
        self._completion = completion

    def change(self, key: int, data: Mapping[str, Any], *, by: User) -> None:
        """Give a row other values, all of them at once, and judge it anew.

        Raises:
            NotFoundError: there is no such row that the caller may see.
            NotAllowedError: the caller may not import such records.
            InvalidInputError: the row has become a record already, or nothing can be imported any more.
            PluginFailedError: the target's plugin could not judge it.

        """
        with self._database.read() as connection:
            row = connection.execute(select(ROWS).where(ROWS.c.id == key)).mappings().first()
            session = None if row is None else find_session(connection, row["session_id"])
            if row is None or session is None:
                raise _unknown(key)
            try:
                visible_session(connection, session["id"], by)
            except NotFoundError:
                raise _unknown(key) from None
            options = options_of(connection, session)
        self._targets.demand(by, session["model_type"])
        if row["complete"]:
            raise _complete()
        (judged,) = Judge(self._targets.require(session["model_type"]), options).edited([data])
        values = {"data": judged.data, "errors": judged.errors or None, "valid": judged.is_valid}
        with self._database.write() as write:
            connection = write.connection()
            # While rows of the session are accepted this waits: what a record was made of is not changed any more.
            find_session(connection, session["id"], lock=True)
            is_complete = connection.execute(select(ROWS.c.complete).where(ROWS.c.id == key)).scalar()
            if is_complete is None:
                raise _unknown(key)
            if is_complete:
                raise _complete()
            connection.execute(update(ROWS).where(ROWS.c.id == key).values(values))

    def delete(self, key: int, *, by: User) -> None:
        """Delete a row; the session is complete when none is open any more.

        Raises:
            NotFoundError: there is no such row that the caller may see.
            NotAllowedError: the caller may not import such records.

        """
        keys = self._rows.keys(ROW_LIST, Choice(user=by, keys=[key]))
        if not keys or not self._delete(keys, by):
            raise _unknown(key)

    def delete_many(self, choice: Choice, *, by: User) -> int:
        """Delete the rows that are meant, of those that the caller may see, all or none; return how many.

        Raises:
            InvalidInputError: the caller may not import the records of all of them.

        """
        try:
            return self._delete(self._rows.keys(ROW_LIST, choice), by)
        except NotAllowedError as error:
            raise InvalidInputError.of(str(error)) from None

    def _delete(self, keys: list[int], by: User) -> int:
        sessions = self._sessions_of(keys)
        for model_type in {one["model_type"] for one in sessions}:
            # What no plugin imports any more, its owner may still put away.
            if self._targets.find(model_type) is not None:
                self._targets.demand(by, model_type)
        deleted = 0
        with self._database.write() as write:
            connection = write.connection()
            locked = [find_session(connection, one["id"], lock=True) for one in sessions]
            counts: dict[int, list[bool]] = {}
            for part in _parts(keys):
                gone = delete(ROWS).where(ROWS.c.id.in_(part)).returning(ROWS.c.session_id, ROWS.c.complete)
                for row in connection.execute(gone):
                    counts.setdefault(row.session_id, []).append(row.complete)
                    deleted += 1
            for session in locked:
                if session is not None and session["id"] in counts:
                    self._settle(write, session, counts[session["id"]])
        return deleted

    def _settle(self, write: Session, session: Row, deleted: list[bool]) -> None:
        values = {
            "row_count": SESSIONS.c.row_count - len(deleted),
            "completed_row_count": SESSIONS.c.completed_row_count - sum(deleted),
        }
        write.connection().execute(update(SESSIONS).where(SESSIONS.c.id == session["id"]).values(values))
        if session["status"] == ImportStatus.PROCESSING:
            self._completion.if_done(write, session)

    def _sessions_of(self, keys: list[int]) -> list[Row]:
        found: dict[int, Row] = {}
        with self._database.read() as connection:
            for part in _parts(keys):
                statement = (
                    select(SESSIONS.c.id, SESSIONS.c.model_type)
                    .join(ROWS, ROWS.c.session_id == SESSIONS.c.id)
                    .where(ROWS.c.id.in_(part))
                    .distinct()
                )
                found |= {row.id: {"id": row.id, "model_type": row.model_type} for row in connection.execute(statement)}
        # Always locked in the same order, so that nobody waits for somebody who waits.
        return [found[key] for key in sorted(found)]


def _parts(keys: list[int]) -> Iterable[list[int]]:
    return (keys[start : start + _KEYS_AT_ONCE] for start in range(0, len(keys), _KEYS_AT_ONCE))


def _complete() -> InvalidInputError:
    return InvalidInputError({"data": ["This row has become a record already; change the record itself."]})


def _unknown(key: int) -> NotFoundError:
    return NotFoundError(f"Not found. There is no import row with pk '{key}'.")
