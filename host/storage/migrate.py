"""Bring the database to the tables that this version needs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection, inspect, text

from host.errors import UnavailableError
from host.storage.engine import Database

if TYPE_CHECKING:
    from alembic.config import Config

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
        present = _present(connection)
        known = _known()
        if present == known[-1]:
            return False
        if present is not None and present not in known:
            msg = (
                f"The database is at revision {present}, which this version of Plugyard does not know. "
                "Start the newer version that made it, or restore a backup."
            )
            raise UnavailableError(msg)
        from alembic import command  # noqa: PLC0415 - large, and most starts have nothing to migrate

        config = alembic_config()
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
        connection.commit()
        return True


def alembic_config() -> Config:
    """Return the configuration that alembic's commands need."""
    from alembic.config import Config  # noqa: PLC0415 - as above

    config = Config()
    config.set_main_option("script_location", str(_FOLDER))
    return config


def _present(connection: Connection) -> str | None:
    if not inspect(connection).has_table("alembic_version"):
        return None
    found: str | None = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
    return found


def _known() -> list[str]:
    # The names of the files begin with their revisions, which are numbered in order.
    return sorted(path.stem.partition("_")[0] for path in _FOLDER.glob("versions/[0-9]*.py"))
