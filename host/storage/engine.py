"""The database: one engine, transactions for writing, connections for reading."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson
from sqlalchemy import Connection, Engine, Integer, create_engine, event
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import OperationalError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.orm import Session
from sqlmodel import Session as SQLModelSession

_BUSY_TIMEOUT_MS = 15_000
_RETRY_SECONDS = 0.02
_CACHE_KIB = 8_000


# SQLITE_BUSY, LOCKED, READONLY, IOERR, FULL, CANTOPEN: nothing is wrong with the statement.
_OUT_OF_ORDER = frozenset({5, 6, 8, 10, 13, 14})


def is_out_of_order(error: Exception) -> bool:
    """Tell whether an error means that the database cannot serve now: gone, locked, full or read only."""
    if isinstance(error, PoolTimeout):
        return True
    if not isinstance(error, OperationalError):
        return False
    code = getattr(error.orig, "sqlite_errorcode", None)
    return code is None or code & 0xFF in _OUT_OF_ORDER


class _AnyInteger(Integer):
    # PostgreSQL's dialect says of every number that it has 32 bits, and the server refuses longer ones where they are
    # only compared, as with an id that nobody has. Without that, a number goes by its own length.
    pass


def _dumps(value: Any) -> str:
    return orjson.dumps(value).decode()


class Database:
    """The host's database.

    Args:
        url: an SQLAlchemy URL; ``postgresql://`` and ``postgres://`` mean psycopg 3.

    """

    def __init__(self, url: str) -> None:
        self.url = _normalise(url)
        self.is_sqlite = self.url.get_backend_name() == "sqlite"
        options: dict[str, Any] = {
            "json_serializer": _dumps,
            "json_deserializer": orjson.loads,
            # A refused statement is logged and reported; password hashes and other people's data must not be in it.
            "hide_parameters": True,
        }
        if self.is_sqlite:
            if self.url.database:
                Path(self.url.database).parent.mkdir(parents=True, exist_ok=True)
            # A thread of the pool of handlers takes a connection for the time of one service call.
            # The one used last comes first: it has its pages at hand, and the others need not keep the same ones.
            options |= {"pool_size": 20, "max_overflow": 40, "pool_use_lifo": True}
        else:
            options |= {"pool_size": 10, "max_overflow": 30, "pool_pre_ping": True}
        self.engine: Engine = create_engine(self.url, **options)
        if self.is_sqlite:
            event.listen(self.engine, "connect", _prepare_sqlite)
            event.listen(self.engine, "begin", _begin_sqlite)
        else:
            self.engine.dialect.colspecs = {**self.engine.dialect.colspecs, Integer: _AnyInteger}

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Open a connection for reading; nothing done in it is kept."""
        with self.engine.connect() as connection:
            yield connection.execution_options(plugyard_reads=True)

    @contextmanager
    def write(self) -> Iterator[Session]:
        """Open a session in a transaction: committed at the end, rolled back when the block raises."""
        with SQLModelSession(self.engine, expire_on_commit=False) as session, session.begin():
            yield session

    def answers(self) -> bool:
        """Tell whether the database can be asked at this moment."""
        try:
            with self.read() as connection:
                return connection.exec_driver_sql("SELECT 1").scalar() == 1
        except SQLAlchemyError:
            return False

    def close(self) -> None:
        """Close every connection."""
        self.engine.dispose()


def _normalise(text: str) -> URL:
    url = make_url(text)
    if url.drivername in {"postgres", "postgresql"}:
        return url.set(drivername="postgresql+psycopg")
    return url


def _prepare_sqlite(connection: sqlite3.Connection, _record: object) -> None:
    connection.isolation_level = None  # transactions begin where _begin_sqlite says, not where the driver guesses
    cursor = connection.cursor()
    cursor.execute(f"PRAGMA busy_timeout={_BUSY_TIMEOUT_MS}")
    _write_ahead(cursor)
    cursor.execute("PRAGMA synchronous=NORMAL")
    # SQLite's own two megabytes are less than the indexes of a list of a hundred thousand records: each page of it
    # would be read anew. Only connections that read as much take that memory.
    cursor.execute(f"PRAGMA cache_size=-{_CACHE_KIB}")
    cursor.execute("PRAGMA foreign_keys=ON")
    cursor.close()


def _write_ahead(cursor: sqlite3.Cursor) -> None:
    # Where several connections change the mode of a new file at once, SQLite refuses all but one without waiting.
    give_up = time.monotonic() + _BUSY_TIMEOUT_MS / 1000
    while True:
        try:
            cursor.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() >= give_up:
                raise
            time.sleep(_RETRY_SECONDS)
        else:
            return


def _begin_sqlite(connection: Connection) -> None:
    # A transaction that will write takes the lock at once: a later upgrade from reading could only fail.
    if connection.get_execution_options().get("plugyard_reads"):
        # Past SQLAlchemy, for which this is a statement like all others; it locks nothing yet, so it cannot fail.
        driver: Any = connection.connection.driver_connection
        driver.execute("BEGIN").close()
    else:
        connection.exec_driver_sql("BEGIN IMMEDIATE")
