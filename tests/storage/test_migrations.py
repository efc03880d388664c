"""Migrations: what they make is what the code expects."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import inspect, text

from host import server
from host.errors import UnavailableError
from host.storage.engine import Database
from host.storage.migrate import _known, alembic_config, migrate
from host.storage.tables import METADATA


def test_migrations_make_the_tables_of_the_code(database_url: str, open_database):
    """After all revisions nothing is missing and nothing is left over."""
    assert server.Host.__name__  # importing it brings all tables
    database = open_database(database_url)
    migrate(database)

    with database.engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, METADATA) == []


def test_files_are_named_by_their_revisions():
    """The newest revision is known by the name of its file, without a look into any."""
    revisions = [one.revision for one in ScriptDirectory.from_config(alembic_config()).walk_revisions()]

    assert _known() == revisions[::-1]


def test_a_second_run_does_nothing(database_url: str, open_database):
    """Migrating says whether there was anything to do."""
    database = open_database(database_url)

    assert migrate(database) is True
    assert migrate(database) is False


def test_processes_may_start_at_once(database_url: str, open_database):
    """Of several that migrate at the same moment one does it, and none fails."""
    databases = [open_database(database_url) for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        done = list(pool.map(migrate, databases))

    assert sorted(done) == [False, False, False, True]


def test_a_newer_database_is_refused(sqlite_url: str, open_database):
    """A database of a later version is named, with the remedy, and left alone."""
    database: Database = open_database(sqlite_url)
    migrate(database)
    with database.write() as session:
        session.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    tables = inspect(database.engine).get_table_names()

    with pytest.raises(UnavailableError, match=r"revision 9999.*newer version"):
        migrate(database)
    assert inspect(database.engine).get_table_names() == tables
