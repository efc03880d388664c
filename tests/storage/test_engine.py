"""The database: transactions and columns that mean the same everywhere."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from sqlalchemy import Column, Integer, MetaData, Table, insert, select, update
from sqlalchemy.exc import OperationalError, StatementError

from host.storage.engine import Database, is_out_of_order
from host.storage.tables import JsonColumn, UtcDateTime

_METADATA = MetaData()
_THINGS = Table(
    "thing",
    _METADATA,
    Column("id", Integer, primary_key=True),
    Column("count", Integer, default=0),
    Column("when", UtcDateTime),
    Column("data", JsonColumn),
)


@pytest.fixture
def things(database: Database) -> Database:
    _METADATA.create_all(database.engine)
    return database


@pytest.mark.parametrize("number", [2**31, 2**63 - 1])
def test_a_number_too_long_for_a_column_matches_nothing(things: Database, number: int):
    """An id that no row can have is compared like any other."""
    with things.write() as session:
        session.connection().execute(insert(_THINGS), [{"id": 1, "count": None}, {"id": 2, "count": 7}])

    with things.read() as connection:
        equal = connection.execute(select(_THINGS.c.id).where(_THINGS.c.id == number)).all()
        among = connection.execute(select(_THINGS.c.id).where(_THINGS.c.count.in_([7, number]))).all()

    assert (equal, among) == ([], [(2,)])


def test_a_failed_block_leaves_nothing(things: Database):
    """What a transaction wrote is gone when its block raises."""

    def write_and_stop() -> None:
        with things.write() as session:
            session.execute(insert(_THINGS).values(id=1))
            raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        write_and_stop()

    with things.read() as connection:
        assert connection.execute(select(_THINGS)).all() == []


def test_concurrent_writers_lose_nothing(things: Database):
    """Sixteen writers that read and then write the same row all count."""
    with things.write() as session:
        session.execute(insert(_THINGS).values(id=1, count=0))

    def add_one(_: int) -> None:
        with things.write() as session:
            count = session.execute(select(_THINGS.c.count).where(_THINGS.c.id == 1).with_for_update()).scalar_one()
            session.execute(update(_THINGS).where(_THINGS.c.id == 1).values(count=count + 1))

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(add_one, range(64)))

    with things.read() as connection:
        assert connection.execute(select(_THINGS.c.count)).scalar_one() == 64


def test_moments_are_utc(things: Database):
    """A moment comes back as the same moment, in UTC, whatever zone it was given in."""
    moment = datetime(2026, 3, 4, 5, 6, 7, 890, tzinfo=timezone(timedelta(hours=5, minutes=30)))
    with things.write() as session:
        session.execute(insert(_THINGS).values(id=1, when=moment))

    with things.read() as connection:
        found = connection.execute(select(_THINGS.c.when)).scalar_one()
    assert found == moment
    assert found.tzinfo is UTC


def test_a_moment_without_zone_is_refused(things: Database):
    """A naive time is a mistake of the caller, not a guess of the database."""
    with pytest.raises(StatementError, match="has no time zone"), things.write() as session:
        session.execute(insert(_THINGS).values(id=1, when=datetime(2026, 1, 1)))  # noqa: DTZ001


def test_json_keeps_its_shape(things: Database):
    """Nested values, big numbers and any script come back as they were."""
    value = {"a": [1, 2.5, None, True], "ключ": {"深": "ß"}, "big": 2**53}
    with things.write() as session:
        session.execute(insert(_THINGS).values(id=1, data=value))

    with things.read() as connection:
        assert connection.execute(select(_THINGS.c.data)).scalar_one() == value


def test_connections_to_a_new_file_wait_for_one_another(tmp_path: Path):
    """A connection that finds the new file locked waits, although SQLite itself would refuse it at once."""
    file = tmp_path / "new.db"
    other = sqlite3.connect(file, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    database = Database(f"sqlite:///{file}")

    def mode() -> str:
        with database.read() as connection:
            return str(connection.exec_driver_sql("PRAGMA journal_mode").scalar_one())

    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(mode)
        with pytest.raises(TimeoutError):
            waiting.result(timeout=0.1)
        other.execute("COMMIT")
        assert waiting.result(timeout=10) == "wal"
    other.close()
    database.close()


def test_a_locked_database_is_told_from_a_wrong_statement(sqlite_url: str, open_database):
    """Waiting may help in one case and not in the other."""
    database: Database = open_database(sqlite_url)
    _METADATA.create_all(database.engine)
    impatient = sqlite3.connect(database.url.database or "", timeout=0)
    with database.write() as session:
        session.execute(insert(_THINGS).values(id=1))
        with pytest.raises(sqlite3.OperationalError) as locked:
            impatient.execute("BEGIN IMMEDIATE")
    impatient.close()
    with pytest.raises(OperationalError) as wrong, database.read() as connection:
        connection.exec_driver_sql("SELECT * FROM nowhere")

    assert is_out_of_order(OperationalError("BEGIN", {}, locked.value))
    assert not is_out_of_order(wrong.value)
