"""Accepting: rows become records, each exactly once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

from sqlalchemy import Connection, select, update
from sqlalchemy.exc import DataError, IntegrityError
from sqlalchemy.orm import Session, SessionTransaction

from host.contract.imports import ImportRecord
from host.contract.progress import report_progress
from host.contract.values import User
from host.errors import HostError, InvalidInputError, NotAllowedError
from host.importing.batches import in_batches
from host.importing.columns import demand_own
from host.importing.judging import record_of
from host.importing.keeping import Completion, Row, find_session, reason_of
from host.importing.tables import ROWS, SESSIONS, ImportStatus
from host.importing.targets import Target, Targets
from host.plugins.imports import BATCH, Faults
from host.storage.engine import Database
from host.tasks.jobs import Enqueue

ACCEPT_TASK: Final = "importing.accept_rows"
"""Name of the task that accepts all rows of a session."""
MOST_AT_ONCE: Final = 10_000
"""Most rows that one request accepts; more would keep all others from writing for too long."""
_SHOWN: Final = 5
_ERROR_LENGTH: Final = 2000
_TAKEN: Final = "The database refuses this row: it has a value that another record has, or that no record can have."


class Accepting:
    """Makes records of rows.

    A record and the mark that its row is complete are written in one transaction: a process that is killed leaves both
    or none.

    Args:
        database: where the rows are.
        targets: knows what they can become.
        completion: ends sessions.
        enqueue: puts off what takes long.
        find_user: gives an active account.

    """

    def __init__(
        self,
        database: Database,
        targets: Targets,
        completion: Completion,
        enqueue: Enqueue,
        find_user: Callable[[int], User | None],
    ) -> None:
        self._database = database
        self._targets = targets
        self._completion = completion
        self._enqueue = enqueue
        self._find_user = find_user

    def rows(self, key: int, wanted: Sequence[int], *, by: User) -> list[int]:
        """Make records of rows in the order given, all or none, and return the ids of the rows.

        Raises:
            InvalidInputError: a row is unknown, complete or not valid, or its record was refused, which is noted in the
                row; nothing was imported.
            NotAllowedError: the session is somebody else's, or the caller may not import such records.
            PluginFailedError: the target's plugin failed; nothing was imported.

        """
        target = self._checked(key, by)
        keys = list(dict.fromkeys(wanted))
        if len(keys) > MOST_AT_ONCE:
            raise _refuse(f'At most {MOST_AT_ONCE} rows can be named at once; send {{"all": true}} for all valid rows.')
        try:
            target.run(partial(self._accept, target=target, key=key, keys=keys))
        except _RowsRefusedError as refused:
            self._note(refused.faults)
            raise
        return keys

    def begin_all(self, key: int, *, by: User) -> str:
        """Have all valid rows become records in the background, and return the id of the task.

        Raises:
            InvalidInputError: the session has no rows to accept.
            NotAllowedError: the session is somebody else's, or the caller may not import such records.

        """
        self._checked(key, by)
        with self._database.write() as session:
            present = _processing(find_session(session.connection(), key, lock=True))
            # A client of theirs may have been given fewer rights than they have.
            who = {"user": by.id, "is_staff": by.is_staff, "is_superuser": by.is_superuser}
            task = self._enqueue(session, ACCEPT_TASK, {"session": key, "run": present["run"], **who})
            values = {"task_id": task, "error": ""}
            session.connection().execute(update(SESSIONS).where(SESSIONS.c.id == key).values(values))
        return task

    def all(self, session: int, run: int, user: int = 0, *, is_staff: bool = False, is_superuser: bool = False) -> str:
        """Make records of all valid rows of a session, batch by batch, and return in words what came of it.

        Rows that are refused are marked, and the others go on. Raises only what running again may mend.

        Args:
            session: which one.
            run: of its reading; of another one nothing is accepted.
            user: who has asked; they must still be there, and have the right.
            is_staff: whether they asked as one of the staff.
            is_superuser: likewise.

        """
        with self._database.read() as connection:
            present = find_session(connection, session)
        target = None if present is None else self._targets.find(present["model_type"])
        if present is None or target is None:
            return "nothing to do: the session or its target is gone"
        done = 0
        try:
            by = self._find_user(user)
            if by is None:
                raise NotAllowedError("The account that accepted the rows is gone or switched off.")
            by = replace(by, is_staff=by.is_staff and is_staff, is_superuser=by.is_superuser and is_superuser)
            demand_own(present, by)
            self._targets.demand(by, present["model_type"])
            while (accepted := target.run(partial(self._accept_next, target=target, key=session, run=run))) is not None:
                done += accepted
                report_progress(present["completed_row_count"] + done, present["row_count"])
        except HostError as error:
            self._fail(present, reason_of(error))
            return f"given up after {done} rows: {error}"
        return f"{done} rows"

    # -- inside ---------------------------------------------------------------------------------------------------

    def _checked(self, key: int, by: User) -> Target:
        with self._database.read() as connection:
            present = find_session(connection, key)
        if present is None:
            raise InvalidInputError.of(f"There is no import session {key}.")
        demand_own(present, by)
        self._targets.demand(by, present["model_type"])
        return self._targets.require(present["model_type"])

    def _accept(self, session: Session, *, target: Target, key: int, keys: Sequence[int]) -> None:
        connection = session.connection()
        present = _processing(find_session(connection, key, lock=True))
        rows = _open_rows(connection, key, keys)
        for part in in_batches(keys, BATCH):
            answers = _saved(session, target, present, [rows[one]["data"] for one in part])
            faults = {row: one for row, one in zip(part, answers, strict=True) if not isinstance(one, int)}
            if faults:
                raise _RowsRefusedError(faults, {one: rows[one]["row_index"] for one in faults})
            _mark_complete(connection, key, part)
        self._completion.if_done(session, present)

    def _accept_next(self, session: Session, *, target: Target, key: int, run: int) -> int | None:
        connection = session.connection()
        present = find_session(connection, key, lock=True)
        if present is None or present["run"] != run or present["status"] != ImportStatus.PROCESSING:
            return None
        is_due = (ROWS.c.session_id == key, ROWS.c.complete.is_(False), ROWS.c.valid.is_(True))
        statement = select(ROWS.c.id, ROWS.c.data).where(*is_due).order_by(ROWS.c.row_index).limit(BATCH)
        rows = connection.execute(statement).all()
        if not rows:
            if not self._completion.if_done(session, present):
                self._tell_of_rest(session, present)
            return None
        answers = _saved(session, target, present, [row.data for row in rows], keeps_right=True)
        accepted = [row.id for row, answer in zip(rows, answers, strict=True) if isinstance(answer, int)]
        _note_in(connection, {row.id: one for row, one in zip(rows, answers, strict=True) if not isinstance(one, int)})
        _mark_complete(connection, key, accepted)
        return len(accepted)

    def _tell_of_rest(self, session: Session, present: Row) -> None:
        done, total = present["completed_row_count"], present["row_count"]
        message = f"{done} of {total} rows became records. Put the others right or delete them."
        self._completion.tell(session, present, "needs your attention", message)

    def _note(self, faults: Mapping[int, Faults]) -> None:
        with self._database.write() as session:
            _note_in(session.connection(), faults)

    def _fail(self, present: Row, reason: str) -> None:
        with self._database.write() as session:
            mine = (SESSIONS.c.id == present["id"], SESSIONS.c.run == present["run"])
            values = {"error": reason[:_ERROR_LENGTH]}
            if session.connection().execute(update(SESSIONS).where(*mine).values(values)).rowcount:
                self._completion.tell(session, present, "has failed", reason)


class _RowsRefusedError(InvalidInputError):
    """Records were refused; what this transaction has done is undone."""

    def __init__(self, faults: Mapping[int, Faults], indexes: Mapping[int, int]) -> None:
        messages = []
        for key, found in list(faults.items())[:_SHOWN]:
            texts = "; ".join(f"{name}: {' '.join(texts)}" for name, texts in found.items())
            messages.append(f"Row {key} (index {indexes[key]}) was refused, so nothing is imported: {texts}")
        super().__init__({"rows": messages})
        self.faults = faults


def _saved(
    session: Session, target: Target, present: Row, rows: Sequence[Mapping[str, Any]], *, keeps_right: bool = False
) -> list[int | Faults]:
    """Store records, and return for each its id or what is wrong with it.

    Where something is wrong nothing is stored; with ``keeps_right``, all but what is wrong.
    """
    made = [record_of(target, data, update=present["update_records"]) for data in rows]
    answers: list[int | Faults] = [faults or 0 for _, faults in made]
    while True:
        due = [number for number, answer in enumerate(answers) if isinstance(answer, int)]
        if not due or (len(due) < len(answers) and not keeps_right):
            return answers
        found = _tried(session, target, [made[number][0] for number in due])
        for number, answer in zip(due, found, strict=True):
            answers[number] = answer
        if all(isinstance(answer, int) for answer in found):
            return answers


def _tried(session: Session, target: Target, records: Sequence[ImportRecord]) -> list[int | Faults]:
    try:
        return _in_savepoint(session, target, records)
    except (IntegrityError, DataError):
        if len(records) == 1:
            return [{"non_field_errors": [_TAKEN]}]
    # Which of them it was shows by trying one after the other, each in the presence of those before it.
    answers: list[int | Faults] = []
    savepoint = session.begin_nested()
    for record in records:
        answers += _tried(session, target, [record])
    return _ended(savepoint, answers)


def _in_savepoint(session: Session, target: Target, records: Sequence[ImportRecord]) -> list[int | Faults]:
    savepoint = session.begin_nested()
    try:
        answers = target.save(session, records)
    except BaseException:
        savepoint.rollback()
        raise
    return _ended(savepoint, answers)


def _ended(savepoint: SessionTransaction, answers: list[int | Faults]) -> list[int | Faults]:
    """Keep what was saved since a savepoint if all of it was, else nothing."""
    if all(isinstance(answer, int) for answer in answers):
        savepoint.commit()
    else:
        savepoint.rollback()
    return answers


def _processing(present: Row | None) -> Row:
    if present is None:
        raise _refuse("The import session is gone.")
    if present["status"] != ImportStatus.PROCESSING:
        raise _refuse(
            "Rows can be accepted once all of them are read, and until the import is complete; this session has the "
            f"status {present['status']}."
        )
    return present


def _open_rows(connection: Connection, key: int, keys: Sequence[int]) -> dict[int, Row]:
    """Return the rows of a session that can be accepted.

    Raises:
        InvalidInputError: there are others among them.

    """
    found: dict[int, Row] = {}
    columns = (ROWS.c.id, ROWS.c.row_index, ROWS.c.data, ROWS.c.valid, ROWS.c.complete)
    for part in in_batches(keys, BATCH):
        statement = select(*columns).where(ROWS.c.session_id == key, ROWS.c.id.in_(part))
        found |= {row["id"]: dict(row) for row in connection.execute(statement).mappings()}
    kinds = (
        ("are no rows of this session", [one for one in keys if one not in found]),
        ("are complete already", [one for one in keys if one in found and found[one]["complete"]]),
        ("are not valid", [one for one in keys if one in found and not found[one]["valid"]]),
    )
    wrong = [f"These {what}: {_listed(which)}. Nothing is imported." for what, which in kinds if which]
    if wrong:
        raise _refuse(*wrong)
    return found


def _listed(keys: Sequence[int]) -> str:
    shown = ", ".join(map(str, keys[: 4 * _SHOWN]))
    return shown if len(keys) <= 4 * _SHOWN else f"{shown} and {len(keys) - 4 * _SHOWN} more"


def _mark_complete(connection: Connection, key: int, rows: Sequence[int]) -> None:
    values = {"complete": True, "errors": None}
    connection.execute(update(ROWS).where(ROWS.c.id.in_(rows)).values(values))
    count = {"completed_row_count": SESSIONS.c.completed_row_count + len(rows)}
    connection.execute(update(SESSIONS).where(SESSIONS.c.id == key).values(count))


def _note_in(connection: Connection, faults: Mapping[int, Faults]) -> None:
    for row, found in faults.items():
        mine = (ROWS.c.id == row, ROWS.c.complete.is_(False))
        connection.execute(update(ROWS).where(*mine).values(errors=found, valid=False))


def _refuse(*messages: str) -> InvalidInputError:
    return InvalidInputError({"rows": messages})
