"""Error reports: what went wrong in requests, plugins and jobs, for the staff to read."""

from __future__ import annotations

import hashlib
import logging
import queue
import re
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Column, Connection, Index, Text, case, delete, func, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import SQLAlchemyError
from sqlmodel import Field

from host.errors import NotFoundError
from host.records.scrubbing import scrub, scrub_within, storable
from host.storage.engine import Database
from host.storage.listing import Listing
from host.storage.tables import HostTable, UtcDateTime, now

_LOG = logging.getLogger("plugyard.errors")

_PATH_LENGTH: Final = 200
_INFO_LENGTH: Final = 2000
_DATA_LENGTH: Final = 16_000
MOST_KEPT: Final = 5000
"""So many reports are kept; beyond them the oldest go, so that no flood of errors fills the disk."""
_WAITING: Final = 1000
_AT_ONCE: Final = 100
_MOST_COUNTED: Final = 2_000_000_000

# What differs from one time to the next though the error is the same.
_CHANGING: Final = re.compile(
    r"0x[0-9a-fA-F]+|\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b|\b[0-9a-fA-F]{16,}\b|[0-9]+"
)
# The number in `plugin.lamp2.perform_action` says whose error it is.
_CHANGING_IN_PATH: Final = re.compile(r"(?<=/)(?:[0-9]+|[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12})(?=/|$)")


class ErrorReport(HostTable, table=True):
    """One error, and how often it happened."""

    __tablename__ = "error_report"
    __table_args__ = (Index("ix_error_report_when_id", "when", "id"),)

    id: int | None = Field(default=None, primary_key=True)
    when: datetime = Field(sa_column=Column(UtcDateTime, nullable=False))
    info: str = Field(sa_column=Column(Text, nullable=False))
    data: str = Field(sa_column=Column(Text, nullable=False))
    path: str = Field(max_length=_PATH_LENGTH, index=True)
    fingerprint: str = Field(max_length=64, unique=True)
    count: int = 1
    first_seen: datetime = Field(sa_column=Column(UtcDateTime, nullable=False))


_TABLE: Final = HostTable.metadata.tables["error_report"]

# The order by `info` sorts: there are never more rows than MOST_KEPT, and an index holds no texts of this length.
ERROR_REPORTS: Final = Listing(
    table=_TABLE,
    key=_TABLE.c.id,
    members={
        "pk": _TABLE.c.id,
        **{name: _TABLE.c[name] for name in ("when", "info", "data", "path", "count", "first_seen")},
    },
    ordering={"when": _TABLE.c.when, "info": _TABLE.c.info},
    default_order=("-when",),
    search=(_TABLE.c.info, _TABLE.c.data),
)
"""Error reports, the newest first."""

OnNew = Callable[[int, str, str], object]
"""Gets the key, the path and the message of a report of which there was none like it."""


@dataclass(frozen=True, slots=True)
class _Report:
    path: str
    info: str
    data: str
    first_seen: datetime
    when: datetime
    count: int = 1

    @property
    def fingerprint(self) -> str:
        parts = (_CHANGING_IN_PATH.sub("0", self.path), _CHANGING.sub("0", self.info), _CHANGING.sub("0", self.data))
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()


class ErrorReports:
    """Writes error reports from a thread of its own, so that nobody waits and no transaction is disturbed.

    Args:
        database: where they are kept.
        most: how many of them.

    ``on_new`` may be set to be told of each report that is not a repetition; it is called by that thread.
    """

    def __init__(self, database: Database, *, most: int = MOST_KEPT) -> None:
        self._database = database
        self._most = most
        self.on_new: OnNew | None = None
        self._waiting: queue.Queue[_Report | None] = queue.Queue(_WAITING)
        self._lock = threading.Lock()
        self._writer: threading.Thread | None = None

    def record(self, path: str, info: str, data: str = "") -> None:
        """Keep an error report; one that differs from it in numbers and addresses only is counted up instead.

        Args:
            path: where it happened: a URL path, or ``plugin.<key>.<hook>``; cut to 200 characters.
            info: the message; of a very long one the middle is left out.
            data: the traceback; likewise.

        Never raises; when reports come faster than they can be written, the surplus is only logged.
        """
        moment = now()
        report = _Report(
            storable(scrub(path[: 4 * _PATH_LENGTH]))[:_PATH_LENGTH],
            scrub_within(info, _INFO_LENGTH),
            scrub_within(data, _DATA_LENGTH),
            moment,
            moment,
        )
        _LOG.error("%s: %s", report.path, report.info)
        try:
            self._ensure_writer()
            self._waiting.put_nowait(report)
        except queue.Full:
            _LOG.warning("too many error reports at once; one for %s is not kept", report.path)
        except RuntimeError:
            _LOG.warning("no thread can be started to keep the error report for %s", report.path)

    def flush(self) -> None:
        """Wait until every report so far is written."""
        if self._writer is not None:
            self._waiting.join()

    def delete(self, key: int) -> None:
        """Delete a report.

        Raises:
            NotFoundError: there is none.

        """
        with self._database.write() as session:
            if not session.connection().execute(delete(_TABLE).where(_TABLE.c.id == key)).rowcount:
                raise NotFoundError(f"Not found. There is no error report with pk '{key}'.")

    def forget(self, before: datetime) -> int:
        """Delete reports last seen before a moment, and return how many."""
        with self._database.write() as session:
            result = session.connection().execute(delete(_TABLE).where(_TABLE.c.when < before))
            return result.rowcount

    def stop(self) -> None:
        """Write what is waiting and end the thread."""
        with self._lock:
            writer, self._writer = self._writer, None
        if writer is not None:
            self._waiting.put(None)
            writer.join()

    def _ensure_writer(self) -> None:
        if self._writer is not None and self._writer.is_alive():
            return
        with self._lock:
            if self._writer is None or not self._writer.is_alive():
                writer = threading.Thread(target=self._write_all, name="error-reports", daemon=True)
                writer.start()
                self._writer = writer

    def _write_all(self) -> None:
        is_last = False
        while not is_last:
            waiting = [self._waiting.get()]
            while len(waiting) < _AT_ONCE and not self._waiting.empty():
                waiting.append(self._waiting.get())
            is_last = None in waiting
            try:
                self._write(_merged(report for report in waiting if report is not None))
            finally:
                for _ in waiting:
                    self._waiting.task_done()

    def _write(self, reports: Sequence[_Report]) -> None:
        try:
            with self._database.write() as session:
                connection = session.connection()
                found = [(_store(connection, report), report) for report in reports]
                new = [(key, report) for (key, is_new), report in found if is_new]
                if new:
                    self._trim(connection)
        except SQLAlchemyError:
            if len(reports) == 1:
                _LOG.exception("an error report could not be stored")
                return
            # One that the database refuses shall not take the others with it.
            for report in reports:
                self._write([report])
            return
        for key, report in new:
            self._tell(key, report)

    def _trim(self, connection: Connection) -> None:
        surplus = connection.execute(select(func.count()).select_from(_TABLE)).scalar_one() - self._most
        if surplus > 0:
            oldest = select(_TABLE.c.id).order_by(_TABLE.c.when, _TABLE.c.id).limit(surplus)
            connection.execute(delete(_TABLE).where(_TABLE.c.id.in_(oldest)))

    def _tell(self, key: int, report: _Report) -> None:
        if self.on_new is None:
            return
        try:
            self.on_new(key, report.path, report.info)
        except Exception:  # noqa: BLE001 - whoever is told shall not end the thread
            _LOG.exception("nobody could be told of the error report for %s", report.path)


def _merged(reports: Iterable[_Report]) -> list[_Report]:
    merged: dict[str, _Report] = {}
    for report in reports:
        known = merged.get(report.fingerprint)
        merged[report.fingerprint] = (
            report if known is None else replace(known, when=report.when, count=known.count + 1)
        )
    # In the same order everywhere, so that no two processes wait for each other's rows.
    return [merged[fingerprint] for fingerprint in sorted(merged)]


def _store(connection: Connection, report: _Report) -> tuple[int, bool]:
    """Keep or count up a report; return its key and whether it is a new one."""
    insert: Any = sqlite.insert if connection.dialect.name == "sqlite" else postgresql.insert
    values = {name: getattr(report, name) for name in ("when", "first_seen", "info", "data", "path", "count")}
    statement = insert(_TABLE).values(**values, fingerprint=report.fingerprint)
    total = case((_TABLE.c.count < _MOST_COUNTED, _TABLE.c.count + report.count), else_=_TABLE.c.count)
    kept = statement.on_conflict_do_update(
        index_elements=[_TABLE.c.fingerprint], set_={"count": total, "when": report.when}
    )
    key, count = connection.execute(kept.returning(_TABLE.c.id, _TABLE.c.count)).one()
    return key, count == report.count
