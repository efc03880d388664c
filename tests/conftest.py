"""What all tests share: databases of both kinds, and quick processes."""

from __future__ import annotations

import compileall
import gc
import logging
import secrets
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx2
import pytest
from sqlalchemy import MetaData

from host.storage.engine import Database
from host.storage.tables import METADATA
from tests.databases import UsedDatabases, drop_database, make_tables, new_database, postgres_fault, url_of

pytest_plugins = ["tests.packages_fixture"]

_ROOT = Path(__file__).parents[1]
_PACKAGES = ("api", "builtin_plugins", "host", "sample_plugins")


def pytest_configure(config: pytest.Config) -> None:
    """Compile what the tests start processes of: where Python may not keep what it compiles, each would do it anew."""
    if not hasattr(config, "workerinput"):
        for package in _PACKAGES:
            compileall.compile_dir(_ROOT / package, quiet=2)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the longest tests, those with processes: no worker is left alone with one at the end."""
    items.sort(key=lambda item: item.get_closest_marker("e2e") is None)


def pytest_collection_finish() -> None:
    """Look for garbage among what the tests make, and not again and again among the tests."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def postgres_url() -> Iterator[str]:
    """Give the URL of an empty PostgreSQL database; it is dropped afterwards."""
    if fault := postgres_fault():
        pytest.skip(fault)
    name = new_database()
    try:
        yield url_of(name)
    finally:
        drop_database(name)


@pytest.fixture(scope="session")
def _used_databases() -> Iterator[dict[MetaData, UsedDatabases]]:
    used: dict[MetaData, UsedDatabases] = {}
    yield used
    for databases in used.values():
        databases.drop()


@pytest.fixture
def postgres_with(_used_databases: dict[MetaData, UsedDatabases]) -> Iterator[Callable[[MetaData], str]]:
    """Give the URLs of PostgreSQL databases that have certain tables, without any rows."""
    if fault := postgres_fault():
        pytest.skip(fault)
    with ExitStack() as held:

        def take(metadata: MetaData) -> str:
            databases = _used_databases.setdefault(metadata, UsedDatabases(metadata))
            lent = databases.take()
            held.callback(databases.give_back, lent)
            return url_of(lent.name)

        yield take


@pytest.fixture(scope="session")
def _migrated_databases() -> Iterator[UsedDatabases]:
    databases = UsedDatabases(METADATA, is_migrated=True)
    yield databases
    databases.drop()


@pytest.fixture
def host_postgres_url(_migrated_databases: UsedDatabases) -> Iterator[str]:
    """Give the URL of an empty PostgreSQL database in which a host that starts has nothing to migrate."""
    if fault := postgres_fault():
        pytest.skip(fault)
    lent = _migrated_databases.take()
    try:
        yield url_of(lent.name)
    finally:
        _migrated_databases.give_back(lent)


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    """Give the URL of an SQLite database that does not exist yet."""
    return f"sqlite:///{tmp_path / 'plugyard.db'}"


@pytest.fixture
def sqlite_tables_url(sqlite_url: str) -> str:
    """Give the URL of an SQLite database with all of the host's tables that are imported."""
    make_tables(sqlite_url)
    return sqlite_url


_KINDS = ["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)]


@pytest.fixture(params=_KINDS)
def database_url(request: pytest.FixtureRequest) -> str:
    """Give the URL of an empty database, of each kind in turn."""
    return str(request.getfixturevalue(f"{request.param}_url"))


@pytest.fixture(params=_KINDS)
def tables_url(request: pytest.FixtureRequest) -> str:
    """Give the URL of ``database``, of each kind in turn: with all of the host's tables that are imported."""
    if request.param == "postgres":
        return str(request.getfixturevalue("postgres_with")(METADATA))
    return str(request.getfixturevalue("sqlite_tables_url"))


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
def sqlite_database(sqlite_tables_url: str, open_database: Callable[[str], Database]) -> Database:
    """Give an SQLite database with all of the host's tables that are imported."""
    return open_database(sqlite_tables_url)


@pytest.fixture(scope="session")
def s3_server() -> Iterator[str]:
    """Run a store that speaks the protocol of S3, and give its address."""
    from moto.server import ThreadedMotoServer  # noqa: PLC0415 - slow to load, and few tests need it

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        yield f"http://{host}:{port}"
    finally:
        server.stop()


@pytest.fixture(scope="module")
def s3_url(s3_server: str) -> str:
    """Give the address of a file store in a bucket for the tests of a module."""
    bucket = f"files-{secrets.token_hex(6)}"
    signed = {"Authorization": "AWS4-HMAC-SHA256 Credential=tests/20260101/us-east-1/s3/aws4_request"}
    httpx2.put(f"{s3_server}/{bucket}", headers=signed, verify=False).raise_for_status()
    return f"s3://{bucket}/of tests?endpoint_url={s3_server}&key=tests&secret=not+so/secret&region=us-east-1"
