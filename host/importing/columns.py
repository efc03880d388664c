"""Column mappings as people choose them, and the start of the reading of rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from sqlalchemy import Connection, delete, select, update

from host.contract.values import User
from host.errors import HostError, InvalidInputError, NotAllowedError, NotFoundError
from host.importing.keeping import Row, find_session, options_of, unknown_session, visible_session
from host.importing.listings import sees_all
from host.importing.mapping import missing_fields
from host.importing.tables import MAPS, ROWS, SESSIONS, ImportStatus
from host.importing.targets import Target, Targets
from host.storage.engine import Database
from host.tasks.jobs import Enqueue

READ_TASK: Final = "importing.read_rows"
"""Name of the task that reads the rows of a session."""


class FieldsRefusedError(InvalidInputError):
    """The mapping cannot be accepted."""

    def __init__(self, message: str, *fields: str) -> None:
        super().__init__({"error": [message], "fields": fields})


class Columns:
    """Lets people say from which columns the fields are taken.

    Args:
        database: where the mappings are.
        targets: knows what rows can become.
        enqueue: puts off the reading of rows.

    """

    def __init__(self, database: Database, targets: Targets, enqueue: Enqueue) -> None:
        self._database = database
        self._targets = targets
        self._enqueue = enqueue

    def change(self, key: int, values: Mapping[str, Any], *, by: User) -> None:
        """Change ``column`` and ``lookup_field`` of a mapping; it counts when the mapping is accepted the next time.

        Raises:
            NotFoundError: there is no such mapping that the caller may see.
            NotAllowedError: the caller may not import such records.
            InvalidInputError: naming each member that breaks a rule.

        """
        with self._database.read() as connection:
            found = _find(connection, key)
            try:
                session = visible_session(connection, found["session_id"], by)
            except NotFoundError:
                raise _unknown(key) from None
        self._targets.demand(by, session["model_type"])
        changes: dict[str, Any] = {}
        if "lookup_field" in values:
            changes["lookup_field"] = values["lookup_field"] or None
            _check_lookup(session, found["field"], changes["lookup_field"])
        if "column" in values:
            changes["column"] = values["column"]
        if not changes:
            return
        with self._database.write() as write:
            connection = write.connection()
            locked = find_session(connection, session["id"], lock=True)
            if locked is None:
                raise _unknown(key)
            if changes.get("column"):
                _check_column(connection, locked, found, changes["column"])
            if not connection.execute(update(MAPS).where(MAPS.c.id == key).values(changes)).rowcount:
                raise _unknown(key)

    def accept(self, key: int, *, by: User) -> None:
        """Accept the mapping: the rows are read in the background, from the beginning.

        Raises:
            NotFoundError: there is no such session.
            NotAllowedError: it is somebody else's, or the caller may not import such records.
            FieldsRefusedError: required fields are missing, or the session is complete.

        """
        target = self._checked(key, by)
        with self._database.write() as session:
            connection = session.connection()
            present = find_session(connection, key, lock=True)
            if present is None:
                raise unknown_session(key)
            _check_fields(connection, present, target)
            run = present["run"] + 1
            connection.execute(delete(ROWS).where(ROWS.c.session_id == key))
            task = self._enqueue(session, READ_TASK, {"session": key, "run": run})
            values = {
                "run": run,
                "status": ImportStatus.IMPORTING,
                "task_id": task,
                "error": "",
                "read_until": -1,
                "row_count": 0,
                "completed_row_count": 0,
            }
            connection.execute(update(SESSIONS).where(SESSIONS.c.id == key).values(values))

    def _checked(self, key: int, by: User) -> Target:
        with self._database.read() as connection:
            present = find_session(connection, key)
        if present is None:
            raise unknown_session(key)
        demand_own(present, by)
        target = self._targets.find(present["model_type"])
        if target is None:
            raise FieldsRefusedError(
                f"Nothing imports '{present['model_type']}' at present. Activate the plugin that does, and try again."
            )
        self._targets.demand(by, present["model_type"])
        return target


def demand_own(session: Mapping[str, Any], by: User) -> None:
    """Make sure that a session is the caller's, or the caller of the staff.

    Raises:
        NotAllowedError: it is not.

    """
    if not (sees_all(by) or session["user_id"] == by.id):
        raise NotAllowedError("This import session belongs to somebody else.")


def _check_fields(connection: Connection, present: Row, target: Target) -> None:
    if present["status"] not in {ImportStatus.MAPPING, ImportStatus.IMPORTING, ImportStatus.PROCESSING}:
        raise FieldsRefusedError("This import is complete. Create another session to import more.")
    options = options_of(connection, present)
    missing = missing_fields(
        target,
        update=options.update,
        columns=options.columns,
        defaults=options.defaults,
        overrides=options.overrides,
    )
    if missing:
        raise FieldsRefusedError(
            "Required fields have neither a column nor a default: give each of them one.", *missing
        )


def _find(connection: Connection, key: int) -> Row:
    row = connection.execute(select(MAPS).where(MAPS.c.id == key)).mappings().first()
    if row is None:
        raise _unknown(key)
    return dict(row)


def _check_column(connection: Connection, session: Row, found: Row, column: str) -> None:
    if column not in session["columns"]:
        raise InvalidInputError({"column": [f"The file has no column '{column}'."]})
    other = (MAPS.c.session_id == session["id"], MAPS.c.column == column, MAPS.c.id != found["id"])
    taken = connection.execute(select(MAPS.c.field).where(*other)).scalar()
    if taken is not None:
        raise InvalidInputError({"column": [f"The column '{column}' is mapped to the field '{taken}' already."]})


def _check_lookup(session: Row, field: str, wanted: str | None) -> None:
    known = session["available_fields"].get(field, {}).get("lookup_fields", [])
    if wanted and wanted not in known:
        message = f"'{wanted[:100]}' is no field by which '{field}' can be looked up"
        message += f"; there are: {', '.join(known)}." if known else ": it refers to no other record."
        raise InvalidInputError({"lookup_field": [message]})


def _unknown(key: int) -> HostError:
    return NotFoundError(f"Not found. There is no column mapping with pk '{key}'.")
