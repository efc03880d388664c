"""Open the host for one command: its services without a server."""

from __future__ import annotations

import logging
import logging.config
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from host.cli.loading import quick_imports
from host.cli.logs import log_config
from host.cli.output import CommandError

if TYPE_CHECKING:
    from host.config import Config
    from host.server import Host


def load_config() -> Config:
    """Read the configuration.

    Raises:
        CommandError: it cannot be used.

    """
    from host.config import Config, ConfigError  # noqa: PLC0415 - --help needs no configuration

    try:
        return Config.load()
    except ConfigError as error:
        msg = f"The configuration cannot be used.\n{error}"
        raise CommandError(msg) from error


@contextmanager
def open_host() -> Iterator[Host]:
    """Open the host, its database brought up to date, and close it at the end.

    Raises:
        CommandError: the configuration or the database cannot be used.

    """
    with quick_imports():
        from host.plugins.convergence import COMMAND  # noqa: PLC0415 - loads the database layer
        from host.server import Host  # noqa: PLC0415 - loads everything, and --help must be quick

    logging.config.dictConfig(log_config(level="WARNING"))
    config = load_config()
    with explained_database_errors():
        host = Host(config, kind=COMMAND)
        try:
            host.open()
            yield host
        finally:
            host.close()


@contextmanager
def explained_database_errors() -> Iterator[None]:
    """Turn a database that cannot be reached into an error with a remedy.

    Raises:
        CommandError: the database cannot be reached.

    """
    from sqlalchemy.exc import ArgumentError, OperationalError  # noqa: PLC0415 - as above

    try:
        yield
    except OperationalError as error:
        reason = " ".join(str(error.orig).split())
        remedy = "Check PLUGYARD_DATABASE_URL, and that the database is running."
        if isinstance(error.orig, sqlite3.Error):
            remedy = "Check owner, permissions and free space of PLUGYARD_HOME, or of what PLUGYARD_DATABASE_URL names."
        msg = f"The database cannot be used: {reason}\n{remedy}"
        raise CommandError(msg) from error
    except ArgumentError as error:
        # The text of the error would show the URL, and with it the password.
        msg = "PLUGYARD_DATABASE_URL is no database URL, such as postgresql://user:password@host/name."
        raise CommandError(msg) from error
