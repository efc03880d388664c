"""Bring the database to the tables that this version needs."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import text

from host.errors import UnavailableError
from host.storage.engine import Database

_FOLDER = Path(__file__).parent / "migrations"
_LOCK = 7_105_733


def migrate(database: Database) -> bool:
    """Apply the missing revisions, and return whether there were any.

    Several processes may start at once: one migrates, the others wait for it.

    Raises:
        UnavailableError: the database was made by a newer version.

    """
    with database.engine.connect() as connection:
        if database.is_sqlite:
            # Alembic's own transactions would end the lock between two revisions.
            connection.exec_driver_sql("SELECT 1")
        else:
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
        config = alembic_config()
        config.attributes["connection"] = connection
        scripts = ScriptDirectory.from_config(config)
        present = MigrationContext.configure(connection).get_current_revision()
        head = scripts.get_current_head()
        if present == head:
            return False
        if present is not None and present not in {revision.revision for revision in scripts.walk_revisions()}:
            msg = (
                f"The database is at revision {present}, which this version of Plugyard does not know. "
                "Start the newer version that made it, or restore a backup."
            )
            raise UnavailableError(msg)
        command.upgrade(config, "head")
        connection.commit()
        return True


def alembic_config() -> Config:
    """Return the configuration that alembic's commands need."""
    config = Config()
    config.set_main_option("script_location", str(_FOLDER))
    return config
