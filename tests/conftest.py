"""What all tests share: databases of both kinds."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import psycopg
import pytest
from psycopg import sql
from sqlalchemy.engine import make_url

from host.storage.engine import Database
from host.storage.tables import METADATA

pytest_plugins = ["tests.packages_fixture"]

_SERVER = os.environ.get("PLUGYARD_TEST_DATABASE_URL", "postgresql://postgres@127.0.0.1:5432/postgres")


@cache
def _postgres_fault() -> str | None:
    try:
        psycopg.connect(_SERVER, connect_timeout=3).close()
    except psycopg.Error as error:
        return f"no PostgreSQL answers at {make_url(_SERVER).render_as_string(hide_password=True)}: {error}"
    return None


@pytest.fixture
def postgres_url() -> Iterator[str]:
    """Give the URL of an empty PostgreSQL database; it is dropped afterwards."""
    if fault := _postgres_fault():
        pytest.skip(fault)
    name = f"plugyard_test_{secrets.token_hex(6)}"
    with psycopg.connect(_SERVER, autocommit=True) as server:
        server.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    try:
        yield make_url(_SERVER).set(database=name).render_as_string(hide_password=False)
    finally:
        with psycopg.connect(_SERVER, autocommit=True) as server:
            server.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    """Give the URL of an SQLite database that does not exist yet."""
    return f"sqlite:///{tmp_path / 'plugyard.db'}"


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def database_url(request: pytest.FixtureRequest) -> str:
    """Give the URL of an empty database, of each kind in turn."""
    return str(request.getfixturevalue(f"{request.param}_url"))


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
def database(database_url: str, open_database: Callable[[str], Database]) -> Database:
    """Give a database with all of the host's tables that are imported."""
    database = open_database(database_url)
    METADATA.create_all(database.engine)
    return database


@pytest.fixture
def sqlite_database(sqlite_url: str, open_database: Callable[[str], Database]) -> Database:
    """Give an SQLite database with all of the host's tables that are imported."""
    database = open_database(sqlite_url)
    METADATA.create_all(database.engine)
    return database
