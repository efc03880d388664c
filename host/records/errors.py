"""Error reports: what went wrong in requests, plugins and jobs, for the staff to read."""

from __future__ import annotations

import hashlib
import logging
import queue
import re
import threading
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Column, Text, delete, insert, update
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session
from sqlmodel import Field

from host.storage.engine import Database
from host.storage.tables import HostTable, UtcDateTime, now

_LOG = logging.getLogger("plugyard.errors")

_PATH_LENGTH = 200
_WAITING = 1000
_SECRETS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"ply-[0-9a-f]{8,}-\d{8}"), "ply-***"),
    (re.compile(r"(?i)\b(authorization|proxy-authorization|cookie)(['\"]?\s*[:=]\s*).+"), r"\1\2***"),
    (
        re.compile(
            r"(?i)([\w.-]*(?:password|passwd|secret|token|api_?key)[\w.-]*)(['\"]?\s*[:=]\s*)(['\"]?)[^\s'\",;&)]+"
        ),
        r"\1\2\3***",
    ),
    (re.compile(r"(?i)\b([a-z][a-z0-9+.-]*://)[^\s/@:]*:[^\s/@]+@"), r"\1***@"),
)


class ErrorReport(HostTable, table=True):
    """One error, and how often it happened."""

    __tablename__ = "error_report"

    id: int | None = Field(default=None, primary_key=True)
    when: datetime = Field(sa_column=Column(UtcDateTime, nullable=False, index=True))
    info: str = Field(sa_column=Column(Text, nullable=False))
    data: str = Field(sa_column=Column(Text, nullable=False))
    path: str = Field(max_length=_PATH_LENGTH, index=True)
    fingerprint: str = Field(max_length=64, unique=True)
    count: int = 1
    first_seen: datetime = Field(sa_column=Column(UtcDateTime, nullable=False))


_TABLE = HostTable.metadata.tables["error_report"]


@dataclass(frozen=True, slots=True)
class _Report:
    path: str
    info: str
    data: str
    when: datetime


def scrub(text: str) -> str:
    """Return the text without what looks like a password, token, cookie or credential in a URL."""
    for pattern, replacement in _SECRETS:
        text = pattern.sub(replacement, text)
    # Half of a surrogate pair is no character: neither a database nor a response can carry it.
    return text.replace("\x00", "\\0").encode("utf-8", "backslashreplace").decode("utf-8")


class ErrorReports:
    """Writes error reports from a thread of its own, so that nobody waits and no transaction is disturbed."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._waiting: queue.Queue[_Report | None] = queue.Queue(_WAITING)
        self._lock = threading.Lock()
        self._writer: threading.Thread | None = None

    def record(self, path: str, info: str, data: str = "") -> None:
        """Keep an error report; an equal one that exists already is counted up instead.

        Args:
            path: where it happened: a URL path, or ``plugin.<key>.<hook>``; cut to 200 characters.
            info: the message.
            data: the traceback.

        Never raises; when reports come faster than they can be written, the surplus is only logged.
        """
        report = _Report(scrub(path)[:_PATH_LENGTH], scrub(info), scrub(data), now())
        _LOG.error("%s: %s", report.path, report.info)
        self._ensure_writer()
        try:
            self._waiting.put_nowait(report)
        except queue.Full:
            _LOG.warning("too many error reports at once; one for %s is not kept", report.path)

    def flush(self) -> None:
        """Wait until every report so far is written."""
        if self._writer is not None:
            self._waiting.join()

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
                self._writer = threading.Thread(target=self._write_all, name="error-reports", daemon=True)
                self._writer.start()

    def _write_all(self) -> None:
        while True:
            report = self._waiting.get()
            try:
                if report is None:
                    return
                with self._database.write() as session:
                    _store(session, report)
            except SQLAlchemyError:
                _LOG.exception("an error report could not be stored")
            finally:
                self._waiting.task_done()


def _store(session: Session, report: _Report) -> None:
    fingerprint = hashlib.sha256(f"{report.path}\0{report.info}\0{report.data}".encode()).hexdigest()
    connection = session.connection()
    again = connection.execute(
        update(_TABLE).where(_TABLE.c.fingerprint == fingerprint).values(count=_TABLE.c.count + 1, when=report.when)
    )
    if again.rowcount:
        return
    connection.execute(
        insert(_TABLE).values(
            when=report.when,
            first_seen=report.when,
            info=report.info,
            data=report.data,
            path=report.path,
            fingerprint=fingerprint,
            count=1,
        )
    )
