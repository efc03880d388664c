"""Import sessions: begun with a file, mapped, and deleted."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from functools import partial
from typing import Any, Final

from sqlalchemy import Connection, delete, insert, select, update
from sqlalchemy.orm import Session

from host.contract.values import User
from host.errors import BusyError, InvalidInputError, NotAllowedError
from host.importing.files import DataFile, DataFiles
from host.importing.keeping import Row, columns_of, find_session, unknown_session, visible_session
from host.importing.listings import SESSION_LIST
from host.importing.mapping import defaults_of, mapping_rows
from host.importing.tables import MAPS, ROWS, SESSIONS, ImportStatus
from host.importing.targets import Target, Targets, described
from host.storage.endings import after_commit, on_rollback
from host.storage.engine import Database
from host.storage.listing import Choice
from host.storage.rows import Rows
from host.storage.tables import now

_KEYS_AT_ONCE: Final = 500
_OPTIONS: Final = ("field_defaults", "field_overrides", "field_filters")
_REMAKES: Final = ("data_file", "model_type", "update_records")
"""Members on which the columns and their mapping depend."""


class Sessions:
    """Keeps import sessions.

    Args:
        database: where they are.
        files: keeps their files.
        targets: knows what rows can become.
        days: how long sessions are kept; asked each time.

    """

    def __init__(self, database: Database, files: DataFiles, targets: Targets, *, days: Callable[[], int]) -> None:
        self._database = database
        self._rows = Rows(database)
        self._files = files
        self._targets = targets
        self._days = days

    def create(self, values: Mapping[str, Any], *, by: User) -> int:
        """Begin a session with a file: read its columns, guess what they are, and return the session's id.

        Args:
            values: ``data_file`` (a :class:`DataFile`), ``model_type``, and the options as far as they are known.
            by: whose session it is.

        Raises:
            InvalidInputError: naming each member that breaks a rule.

        """
        target = self._targets.require(values["model_type"])
        file: DataFile = values["data_file"]
        found = self._files.examine(file)
        row = {
            "timestamp": now(),
            "user_id": by.id,
            "status": ImportStatus.MAPPING,
            "error": "",
            **dict.fromkeys(
                ("row_count", "completed_row_count", "row_count_history", "completed_row_count_history"), 0
            ),
            "run": 0,
            "read_until": -1,
            **{name: values.get(name) for name in _OPTIONS},
            **_made(target, values.get("update_records", False), values.get("field_defaults")),
            **found,
            "data_file": self._files.store(file),
        }
        with self._database.write() as session:
            on_rollback(session, partial(self._files.delete, row["data_file"]))
            connection = session.connection()
            key = int(connection.execute(insert(SESSIONS).values(row).returning(SESSIONS.c.id)).scalar_one())
            _map(connection, key, row, {})
        return key

    def change(self, key: int, values: Mapping[str, Any], *, by: User) -> None:
        """Change the options of a session; another file, model type or way to work begins anew with the mapping.

        Raises:
            NotFoundError: there is no such session that the caller may see.
            NotAllowedError: the caller may not import such records.
            InvalidInputError: naming each member that breaks a rule.
            BusyError: somebody else changes it at the same moment.

        """
        with self._database.read() as connection:
            present = visible_session(connection, key, by)
        self._targets.demand(by, present["model_type"])
        changes = {name: values[name] for name in _OPTIONS if name in values}
        if _begins_anew(present, values):
            changes |= self._anew(present, values, by)
        stored: str | None = None
        if "data_file" in values:
            stored = changes["data_file"] = self._files.store(values["data_file"])
        if not changes:
            return
        with self._database.write() as session:
            if stored is not None:
                on_rollback(session, partial(self._files.delete, stored))
            self._apply(session, present, changes)

    def delete(self, key: int, *, by: User) -> None:
        """Delete a session with its file and its rows; records that rows have become stay.

        Raises:
            NotFoundError: there is no such session that the caller may see.
            NotAllowedError: the caller may not import such records.

        """
        with self._database.read() as connection:
            present = visible_session(connection, key, by)
        self._demand_delete(by, [present["model_type"]])
        with self._database.write() as session:
            if not _delete(session, [key]):
                raise unknown_session(key)
            after_commit(session, partial(self._files.delete, present["data_file"]))

    def delete_many(self, choice: Choice, *, by: User) -> int:
        """Delete the sessions that are meant, of those that the caller may see, and return how many.

        Raises:
            InvalidInputError: the caller may not delete all of them.

        """
        keys = self._rows.keys(SESSION_LIST, choice)
        with self._database.read() as connection:
            types = _values_of(connection, SESSIONS.c.model_type, keys)
        try:
            self._demand_delete(by, types)
        except NotAllowedError as error:
            raise InvalidInputError.of(str(error)) from None
        return self._delete_all(keys)

    def expire(self) -> int:
        """Delete sessions that are older than they are kept, and files that belong to none; return how many went."""
        before = now() - timedelta(days=max(self._days(), 1))
        with self._database.read() as connection:
            keys = connection.execute(select(SESSIONS.c.id).where(SESSIONS.c.timestamp < before)).scalars().all()
        deleted = self._delete_all(keys)
        self._files.sweep(now() - timedelta(days=1))
        return deleted

    def add_mappings(self, members: Sequence[dict[str, Any]]) -> None:
        """Add to sessions, as they are answered, their column mappings."""
        found: dict[int, list[dict[str, Any]]] = {one["pk"]: [] for one in members}
        keys = list(found)
        with self._database.read() as connection:
            for start in range(0, len(keys), _KEYS_AT_ONCE):
                part = MAPS.c.session_id.in_(keys[start : start + _KEYS_AT_ONCE])
                for row in connection.execute(select(MAPS).where(part).order_by(MAPS.c.id)).mappings():
                    shown = {name: row[name] for name in ("column", "field", "label", "description", "lookup_field")}
                    found[row["session_id"]].append({"pk": row["id"], "session": row["session_id"], **shown})
        for one in members:
            order = list(one["available_fields"])
            one["column_mappings"] = sorted(found[one["pk"]], key=partial(_place, order))

    # -- inside ---------------------------------------------------------------------------------------------------

    def _anew(self, present: Row, values: Mapping[str, Any], by: User) -> dict[str, Any]:
        if present["status"] == ImportStatus.COMPLETE:
            raise InvalidInputError.of("This import is complete. Create another session to import more.")
        model_type = values.get("model_type", present["model_type"])
        target = self._targets.require(model_type)
        self._targets.demand(by, model_type)
        defaults = values.get("field_defaults", None if "model_type" in values else present["field_defaults"])
        update_records = values.get("update_records", present["update_records"])
        changes = {"status": ImportStatus.MAPPING, **_made(target, update_records, defaults)}
        if "data_file" in values:
            changes |= self._files.examine(values["data_file"])
        return changes

    def _apply(self, session: Session, present: Row, changes: dict[str, Any]) -> None:
        connection, key = session.connection(), present["id"]
        locked = find_session(connection, key, lock=True)
        if locked is None:
            raise unknown_session(key)
        if any(locked[name] != present[name] for name in (*_REMAKES, "run")):
            raise BusyError(f"Import session {key} was changed by somebody else at the same moment. Try again.")
        wanted = {**locked, **changes}
        if "status" in changes:
            connection.execute(delete(ROWS).where(ROWS.c.session_id == key))
            changes |= {
                "run": locked["run"] + 1,
                "row_count": 0,
                "completed_row_count": 0,
                "read_until": -1,
                "error": "",
            }
        connection.execute(update(SESSIONS).where(SESSIONS.c.id == key).values(changes))
        if wanted["status"] != ImportStatus.COMPLETE and ("status" in changes or "field_overrides" in changes):
            _map(connection, key, wanted, _kept(connection, locked, wanted))
        if wanted["data_file"] != locked["data_file"]:
            after_commit(session, partial(self._files.delete, locked["data_file"]))

    def _demand_delete(self, by: User, model_types: Sequence[str]) -> None:
        for name in sorted(set(model_types)):
            # What no plugin imports any more, its owner may still put away.
            if self._targets.find(name) is not None:
                self._targets.demand(by, name)

    def _delete_all(self, keys: Sequence[int]) -> int:
        deleted = 0
        with self._database.write() as session:
            for start in range(0, len(keys), _KEYS_AT_ONCE):
                for path in _delete(session, keys[start : start + _KEYS_AT_ONCE]):
                    deleted += 1
                    after_commit(session, partial(self._files.delete, path))
        return deleted


def _place(order: Sequence[str], mapping: Mapping[str, Any]) -> int:
    return order.index(mapping["field"]) if mapping["field"] in order else len(order)


def _begins_anew(present: Row, values: Mapping[str, Any]) -> bool:
    return "data_file" in values or any(
        name in values and values[name] != present[name] for name in ("model_type", "update_records")
    )


def _made(target: Target, update_records: bool, defaults: Mapping[str, Any] | None) -> dict[str, Any]:  # noqa: FBT001
    if update_records and not target.spec.can_update:
        raise InvalidInputError({"update_records": [f"Rows can only make new records of '{target.spec.model_type}'."]})
    own = {} if update_records else defaults_of(target)
    return {
        "model_type": target.spec.model_type,
        "update_records": update_records,
        "available_fields": described(target, update=update_records),
        "field_defaults": {**own, **(defaults or {})},
    }


def _map(connection: Connection, key: int, row: Mapping[str, Any], kept: Mapping[str, str]) -> None:
    """Guess the columns of all fields but those that are kept, of the columns that these leave."""
    available, overridden = row["available_fields"], row["field_overrides"] or {}
    kept = {name: column for name, column in kept.items() if name in available and name not in overridden}
    free = [column for column in row["columns"] if column not in kept.values()]
    missing = {name: info for name, info in available.items() if name not in kept}
    connection.execute(delete(MAPS).where(MAPS.c.session_id == key, MAPS.c.field.not_in(list(kept))))
    made = list(mapping_rows(missing, overridden, free))
    if made:
        connection.execute(insert(MAPS), [{"session_id": key, **one} for one in made])


def _kept(connection: Connection, before: Row, after: Mapping[str, Any]) -> dict[str, str]:
    """Return the mappings that hold after a change; where the rows are read anew, only those with a column."""
    if before["model_type"] != after["model_type"]:
        return {}
    is_same = after["status"] == before["status"] and before["data_file"] == after["data_file"]
    chosen = columns_of(connection, before["id"])
    return {name: one for name, one in chosen.items() if one in after["columns"] or (not one and is_same)}


def _delete(session: Session, keys: Sequence[int]) -> list[str]:
    statement = delete(SESSIONS).where(SESSIONS.c.id.in_(keys)).returning(SESSIONS.c.data_file)
    return list(session.connection().execute(statement).scalars())


def _values_of(connection: Connection, column: Any, keys: Sequence[int]) -> list[Any]:
    found: list[Any] = []
    for start in range(0, len(keys), _KEYS_AT_ONCE):
        part = SESSIONS.c.id.in_(keys[start : start + _KEYS_AT_ONCE])
        found += connection.execute(select(column).where(part).distinct()).scalars()
    return found
