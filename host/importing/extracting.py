"""Extracting: read the rows of a file in the background, judge them, and store them."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from sqlalchemy import Connection, insert, or_, select, update
from sqlalchemy.exc import SQLAlchemyError

from host.contract.progress import report_progress
from host.errors import HostError, UnavailableError
from host.importing.batches import in_batches
from host.importing.files import DataFiles
from host.importing.judging import Judge, Judged
from host.importing.keeping import Completion, Row, find_session, options_of, reason_of
from host.importing.reading.table import Line
from host.importing.tables import ROWS, SESSIONS, ImportStatus
from host.importing.targets import Targets
from host.plugins.imports import BATCH
from host.storage.engine import Database
from host.tasks.jobs import GiveUpError
from host.tasks.table import TASK

_LOG = logging.getLogger("plugyard.importing")
_ERROR_LENGTH: Final = 2000
_BROKEN: Final = "The rows could not be read because of an error of the server, which was recorded. Try again."
_LOST: Final = "The process that read the rows ended too often before it was done. Try again, or import fewer rows."


class Extracting:
    """Reads rows, as a task.

    Every batch is stored in one transaction with how far the reading has come. After a process was killed, the task
    runs again and goes on behind the last batch: no row is lost, and none comes twice.

    Args:
        database: where the rows go.
        files: keeps the files.
        targets: knows what the rows can become.
        completion: tells people.

    """

    def __init__(self, database: Database, files: DataFiles, targets: Targets, completion: Completion) -> None:
        self._database = database
        self._files = files
        self._targets = targets
        self._completion = completion

    def read(self, session: int, run: int) -> str:
        """Read the rows of a session, and return in words what came of it.

        Raises:
            GiveUpError: an error of ours; the session is back at its mapping.
            SQLAlchemyError: the database cannot serve; the task shall be run again.
            UnavailableError: the file store cannot serve; likewise.

        """
        with self._database.read() as connection:
            present = find_session(connection, session)
        if present is None or not _is_current(present, run):
            return "nothing to do: the session has moved on"
        try:
            return self._read(present)
        except _OutdatedError:
            return "stopped: the session has moved on"
        except (SQLAlchemyError, UnavailableError):
            raise
        except HostError as error:
            self._give_back(session, run, reason_of(error))
            return f"given up: {error}"
        except Exception as error:
            _LOG.exception("The rows of import session %s cannot be read", session)
            self._give_back(session, run, _BROKEN)
            raise GiveUpError(_BROKEN) from error

    def settle(self) -> int:
        """Give sessions back to their mapping whose task has ended without them, and return how many."""
        lost = or_(TASK.c.id.is_(None), TASK.c.is_open.is_(False))
        statement = (
            select(SESSIONS.c.id, SESSIONS.c.run)
            .select_from(SESSIONS.outerjoin(TASK, TASK.c.task_id == SESSIONS.c.task_id))
            .where(SESSIONS.c.status == ImportStatus.IMPORTING, lost)
        )
        with self._database.read() as connection:
            found = connection.execute(statement).all()
        for row in found:
            self._give_back(row.id, row.run, _LOST)
        return len(found)

    def _read(self, present: Row) -> str:
        key, done = present["id"], present["row_count"]
        target = self._targets.require(present["model_type"])
        with self._database.read() as connection:
            judge = Judge(target, options_of(connection, present))
        with self._files.table(present["data_file"]) as table:
            for lines in in_batches(_behind(table, present["read_until"]), BATCH):
                cells = [table.header.named(line.cells) for line in lines]
                self._store(present, lines, cells, judge.lines(cells))
                done += len(lines)
                report_progress(done, present["file_rows"])
        with self._database.write() as session:
            _locked(session.connection(), key, present["run"])
            values = {"status": ImportStatus.PROCESSING, "error": ""}
            session.connection().execute(update(SESSIONS).where(SESSIONS.c.id == key).values(values))
        return f"{done} rows"

    def _store(
        self, present: Row, lines: Sequence[Line], cells: Sequence[Mapping[str, str]], judged: Sequence[Judged]
    ) -> None:
        key = present["id"]
        rows = [
            {
                "session_id": key,
                "row_index": line.index,
                "row_data": row_data,
                "data": found.data,
                "errors": found.errors or None,
                "valid": found.is_valid,
                "complete": False,
            }
            for line, row_data, found in zip(lines, cells, judged, strict=True)
        ]
        with self._database.write() as session:
            connection = session.connection()
            locked = _locked(connection, key, present["run"])
            if locked["read_until"] >= lines[0].index:
                # Another worker, which took this one for lost, reads the same.
                raise _OutdatedError
            connection.execute(insert(ROWS), rows)
            values = {"row_count": SESSIONS.c.row_count + len(rows), "read_until": lines[-1].index}
            connection.execute(update(SESSIONS).where(SESSIONS.c.id == key).values(values))

    def _give_back(self, key: int, run: int, reason: str) -> None:
        with self._database.write() as session:
            connection = session.connection()
            present = find_session(connection, key, lock=True)
            if present is None or not _is_current(present, run):
                return
            values = {"status": ImportStatus.MAPPING, "error": reason[:_ERROR_LENGTH]}
            connection.execute(update(SESSIONS).where(SESSIONS.c.id == key).values(values))
            self._completion.tell(session, present, "has failed", reason)


class _OutdatedError(Exception):
    """Somebody began the reading anew, or deleted the session."""


def _is_current(present: Row | None, run: int) -> bool:
    return present is not None and present["run"] == run and present["status"] == ImportStatus.IMPORTING


def _locked(connection: Connection, key: int, run: int) -> Row:
    present = find_session(connection, key, lock=True)
    if present is None or not _is_current(present, run):
        raise _OutdatedError
    return present


def _behind(lines: Iterable[Line], last: int) -> Iterator[Line]:
    return (line for line in lines if line.index > last)
