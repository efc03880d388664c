"""Databases that are there before a test asks: SQLite files are copied, PostgreSQL ones emptied and lent anew."""

from __future__ import annotations

import os
import secrets
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import psycopg
from psycopg import sql
from sqlalchemy import Enum, MetaData, Table
from sqlalchemy.engine import make_url

from host.storage.engine import Database
from host.storage.migrate import migrate
from host.storage.tables import METADATA

_SERVER = os.environ.get("PLUGYARD_TEST_DATABASE_URL", "postgresql://postgres@127.0.0.1:5432/postgres")
# The content of an SQLite file with all tables, and how many they are: modules that are imported later add more.
_FILES: dict[MetaData, tuple[int, bytes]] = {}


def make_tables(url: str, metadata: MetaData = METADATA) -> None:
    """Put tables into a new database: an SQLite file is a copy of one that has them, and stays where it exists."""
    parsed = make_url(url)
    if parsed.get_backend_name() != "sqlite":
        _create_tables(url, metadata)
        return
    assert parsed.database
    path = Path(parsed.database)
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        path.write_bytes(_file_with(metadata))


def put_host_database(home: Path) -> None:
    """Put an SQLite database into the home of a host that is yet to start: it finds nothing to migrate, and no rows."""
    home.mkdir(parents=True, exist_ok=True)
    path = home / "plugyard.db"
    if not path.exists():
        path.write_bytes(_migrated_file())


@cache
def _migrated_file() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "plugyard.db"
        _migrate(f"sqlite:///{path}")
        return path.read_bytes()


def _create_tables(url: str, metadata: MetaData) -> None:
    database = Database(url)
    metadata.create_all(database.engine)
    database.close()


def _migrate(url: str) -> None:
    database = Database(url)
    migrate(database)
    database.close()


def _file_with(metadata: MetaData) -> bytes:
    count, content = _FILES.get(metadata, (0, b""))
    if count != len(metadata.tables):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "tables.db"
            _create_tables(f"sqlite:///{path}", metadata)
            content = path.read_bytes()
        _FILES[metadata] = len(metadata.tables), content
    return content


@cache
def postgres_fault() -> str | None:
    """Return why there is no PostgreSQL, or ``None``."""
    try:
        psycopg.connect(_SERVER, connect_timeout=3).close()
    except psycopg.Error as error:
        return f"no PostgreSQL answers at {make_url(_SERVER).render_as_string(hide_password=True)}: {error}"
    return None


def new_database() -> str:
    """Make an empty PostgreSQL database and return its name; a power cut may lose what is in it."""
    name = f"plugyard_test_{secrets.token_hex(6)}"
    with psycopg.connect(_SERVER, autocommit=True) as server:
        server.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        server.execute(sql.SQL("ALTER DATABASE {} SET synchronous_commit = off").format(sql.Identifier(name)))
    return name


def drop_database(name: str) -> None:
    """Remove a PostgreSQL database, whoever is connected to it."""
    with psycopg.connect(_SERVER, autocommit=True) as server:
        server.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


def url_of(name: str) -> str:
    """Return the URL of a PostgreSQL database."""
    return make_url(_SERVER).set(database=name).render_as_string(hide_password=False)


@dataclass
class Lent:
    """A PostgreSQL database, what its tables look like, and a connection that has learnt what they are."""

    name: str
    connection: psycopg.Connection
    count: int = 0
    shape: str = ""


class UsedDatabases:
    """PostgreSQL databases with some tables, emptied after each test.

    Making one takes half a second, and a new connection asks the catalogue for milliseconds; so both are kept.
    """

    def __init__(self, metadata: MetaData, *, is_migrated: bool = False) -> None:
        """``is_migrated`` lets the migrations make the tables, so that a whole host can open such a database."""
        self._metadata = metadata
        self._is_migrated = is_migrated
        self._free: list[Lent] = []

    def take(self) -> Lent:
        """Return one that has all tables."""
        lent = self._free.pop() if self._free else self._new()
        if self._is_migrated and not lent.count:
            _migrate(url_of(lent.name))
            lent.count, lent.shape = len(self._metadata.tables), _shape(lent.connection)
        elif not self._is_migrated and lent.count != len(self._metadata.tables):
            _create_tables(url_of(lent.name), self._metadata)
            lent.count, lent.shape = len(self._metadata.tables), _shape(lent.connection)
        return lent

    def give_back(self, lent: Lent) -> None:
        """Empty one for the next test, or drop it where the test has changed its tables."""
        try:
            lent.connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
            is_kept = _shape(lent.connection) == lent.shape or (
                _drop_additions(lent.connection, self._metadata) and _shape(lent.connection) == lent.shape
            )
            if is_kept:
                _empty(lent.connection, self._metadata)
        except psycopg.OperationalError:
            # The test has ended all connections, this one too.
            is_kept = False
        if is_kept:
            self._free.append(lent)
        else:
            self._drop(lent)

    def drop(self) -> None:
        """Drop them all."""
        while self._free:
            self._drop(self._free.pop())

    @staticmethod
    def _new() -> Lent:
        name = new_database()
        return Lent(name, psycopg.connect(url_of(name), autocommit=True))

    @staticmethod
    def _drop(lent: Lent) -> None:
        lent.connection.close()
        drop_database(lent.name)


def _shape(connection: psycopg.Connection) -> str:
    """Return a digest of the tables, columns, indexes, triggers and constraints in a database."""
    found = connection.execute("""
        SELECT md5(string_agg(line, ',' ORDER BY line)) FROM (
            SELECT concat_ws(' ', c.oid, c.relname, c.relkind, a.attnum, a.attname, a.atttypid, a.atttypmod,
                             a.attnotnull, a.atthasdef, a.attisdropped) AS line
            FROM pg_class c LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
            WHERE c.relnamespace = 'public'::regnamespace
            UNION ALL SELECT concat_ws(' ', oid, conname, conrelid) FROM pg_constraint
            WHERE connamespace = 'public'::regnamespace
            UNION ALL SELECT concat_ws(' ', oid, tgname, tgenabled) FROM pg_trigger
            UNION ALL SELECT concat_ws(' ', oid, nspname) FROM pg_namespace WHERE nspname !~ '^pg_'
        ) AS lines""").fetchone()
    return str(found)


def _drop_additions(connection: psycopg.Connection, metadata: MetaData) -> bool:
    """Drop the tables and enumerations that a test has added, as a plugin's; tell whether there were any."""
    known = list(metadata.tables)
    enums = [kind.name for table in metadata.tables.values() for kind in _enums(table)]
    added = connection.execute(
        "SELECT 'TABLE', relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' "
        "AND NOT relname = ANY(%s) UNION ALL SELECT 'TYPE', typname FROM pg_type "
        "WHERE typnamespace = 'public'::regnamespace AND typtype = 'e' AND NOT typname = ANY(%s)",
        (known, enums),
    ).fetchall()
    for kind, name in added:
        connection.execute(sql.SQL("DROP {} IF EXISTS {} CASCADE").format(sql.SQL(kind), sql.Identifier(name)))
    return bool(added)


def _enums(table: Table) -> list[Enum]:
    return [column.type for column in table.columns if isinstance(column.type, Enum)]


def _empty(connection: psycopg.Connection, metadata: MetaData) -> None:
    found = connection.execute("SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace")
    # Tables that only tests have are not in every one of them.
    there = {name for (name,) in found}
    names = [one.name for one in reversed(metadata.sorted_tables) if one.name in there]
    tables = [sql.SQL("DELETE FROM {}").format(sql.Identifier(name)) for name in names]
    connection.execute(sql.SQL("; ").join(tables))
    connection.execute(
        "SELECT setval(format('%I.%I', schemaname, sequencename)::regclass, start_value, false) FROM pg_sequences "
        "WHERE last_value IS NOT NULL"
    )
