"""What all tests share: databases of both kinds, and quick processes."""

from __future__ import annotations

import compileall
import gc
import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path

import psycopg
import pytest
from psycopg import sql
from sqlalchemy import MetaData
from sqlalchemy.engine import make_url

from host.storage.engine import Database
from host.storage.tables import METADATA

pytest_plugins = ["tests.packages_fixture"]

_SERVER = os.environ.get("PLUGYARD_TEST_DATABASE_URL", "postgresql://postgres@127.0.0.1:5432/postgres")
_ROOT = Path(__file__).parents[1]
_PACKAGES = ("api", "builtin_plugins", "host", "sample_plugins")


def pytest_configure(config: pytest.Config) -> None:
    """Compile what the tests start processes of: where Python may not keep what it compiles, each would do it anew."""
    if not hasattr(config, "workerinput"):
        for package in _PACKAGES:
            compileall.compile_dir(_ROOT / package, quiet=2)


def pytest_collection_finish() -> None:
    """Look for garbage among what the tests make, and not again and again among the tests."""
    gc.collect()
    gc.freeze()


@cache
def _postgres_fault() -> str | None:
    try:
        psycopg.connect(_SERVER, connect_timeout=3).close()
    except psycopg.Error as error:
        return f"no PostgreSQL answers at {make_url(_SERVER).render_as_string(hide_password=True)}: {error}"
    return None


def _new_database() -> str:
    """Make an empty PostgreSQL database and return its name; a power cut may lose what is in it."""
    name = f"plugyard_test_{secrets.token_hex(6)}"
    with psycopg.connect(_SERVER, autocommit=True) as server:
        server.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        server.execute(sql.SQL("ALTER DATABASE {} SET synchronous_commit = off").format(sql.Identifier(name)))
    return name


def _drop_database(name: str) -> None:
    with psycopg.connect(_SERVER, autocommit=True) as server:
        server.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


def _url_of(name: str) -> str:
    return make_url(_SERVER).set(database=name).render_as_string(hide_password=False)


@pytest.fixture
def postgres_url() -> Iterator[str]:
    """Give the URL of an empty PostgreSQL database; it is dropped afterwards."""
    if fault := _postgres_fault():
        pytest.skip(fault)
    name = _new_database()
    try:
        yield _url_of(name)
    finally:
        _drop_database(name)


class _UsedDatabases:
    """PostgreSQL databases with some tables, emptied after each test: making one takes half a second."""

    def __init__(self, metadata: MetaData) -> None:
        self._metadata = metadata
        self._free: list[str] = []

    def take(self) -> tuple[str, str]:
        """Return the name of one, and what its tables look like."""
        name = self._free.pop() if self._free else _new_database()
        database = Database(_url_of(name))
        self._metadata.create_all(database.engine)
        database.close()
        with psycopg.connect(_url_of(name)) as connection:
            return name, _shape(connection)

    def give_back(self, name: str, shape: str) -> None:
        """Empty one for the next test, or drop it where the test has changed its tables."""
        with psycopg.connect(_url_of(name), autocommit=True) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
            if is_kept := _shape(connection) == shape:
                _empty(connection, self._metadata)
        if is_kept:
            self._free.append(name)
        else:
            _drop_database(name)

    def drop(self) -> None:
        """Drop them all."""
        while self._free:
            _drop_database(self._free.pop())


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


def _empty(connection: psycopg.Connection, metadata: MetaData) -> None:
    tables = [sql.SQL("DELETE FROM {}").format(sql.Identifier(one.name)) for one in reversed(metadata.sorted_tables)]
    connection.execute(sql.SQL("; ").join(tables))
    connection.execute(
        "SELECT setval(format('%I.%I', schemaname, sequencename)::regclass, start_value, false) FROM pg_sequences"
    )


@pytest.fixture(scope="session")
def _used_databases() -> Iterator[dict[MetaData, _UsedDatabases]]:
    used: dict[MetaData, _UsedDatabases] = {}
    yield used
    for databases in used.values():
        databases.drop()


@pytest.fixture
def postgres_with(_used_databases: dict[MetaData, _UsedDatabases]) -> Iterator[Callable[[MetaData], str]]:
    """Give the URLs of PostgreSQL databases that have certain tables, without any rows."""
    if fault := _postgres_fault():
        pytest.skip(fault)
    with ExitStack() as held:

        def take(metadata: MetaData) -> str:
            databases = _used_databases.setdefault(metadata, _UsedDatabases(metadata))
            name, shape = databases.take()
            held.callback(databases.give_back, name, shape)
            return _url_of(name)

        yield take


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    """Give the URL of an SQLite database that does not exist yet."""
    return f"sqlite:///{tmp_path / 'plugyard.db'}"


_KINDS = ["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)]


@pytest.fixture(params=_KINDS)
def database_url(request: pytest.FixtureRequest) -> str:
    """Give the URL of an empty database, of each kind in turn."""
    return str(request.getfixturevalue(f"{request.param}_url"))


@pytest.fixture(params=_KINDS)
def tables_url(request: pytest.FixtureRequest, open_database: Callable[[str], Database]) -> str:
    """Give the URL of ``database``, of each kind in turn: with all of the host's tables that are imported."""
    if request.param == "postgres":
        return str(request.getfixturevalue("postgres_with")(METADATA))
    url = str(request.getfixturevalue("sqlite_url"))
    METADATA.create_all(open_database(url).engine)
    return url


@pytest.fixture
def open_database() -> Iterator[Callable[[str], Database]]:
    """Open databases that are closed after the test."""
    opened: list[Database] = []

    def open_one(url: str) -> Database:
        opened.append(Database(url))
        return opened[-1]

    yield open_one
    for database in opened:
        database.close()


@pytest.fixture
def database(tables_url: str, open_database: Callable[[str], Database]) -> Database:
    """Give a database with all of the host's tables that are imported."""
    return open_database(tables_url)


@pytest.fixture
def sqlite_database(sqlite_url: str, open_database: Callable[[str], Database]) -> Database:
    """Give an SQLite database with all of the host's tables that are imported."""
    database = open_database(sqlite_url)
    METADATA.create_all(database.engine)
    return database
