"""The registry's errors, stored so that every process shows the same."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import Text, delete, insert, select
from sqlalchemy.orm import Session
from sqlmodel import Field, col

from host.plugins.manifest import Failure
from host.storage.engine import Database
from host.storage.tables import HostTable

_LONGEST_STAGE = 100
_LONGEST_NAME = 255


class RegistryError(HostTable, table=True):
    """One of the registry's errors."""

    __tablename__ = "registry_error"

    id: int | None = Field(default=None, primary_key=True)
    stage: str = Field(max_length=_LONGEST_STAGE)
    name: str = Field(max_length=_LONGEST_NAME)
    message: str = Field(sa_type=Text)


def stored_errors(database: Database) -> list[Failure]:
    """Read the errors, in the order in which they came up."""
    query = select(col(RegistryError.stage), col(RegistryError.name), col(RegistryError.message))
    with database.read() as connection:
        return [Failure(*row) for row in connection.execute(query.order_by(col(RegistryError.id)))]


def replace_errors(session: Session, failures: Iterable[Failure]) -> None:
    """Forget all errors and store others."""
    session.execute(delete(RegistryError))
    for failure in failures:
        add_error(session, failure)


def forget_errors(session: Session, key: str) -> None:
    """Forget the errors of one plugin."""
    session.execute(delete(RegistryError).where(col(RegistryError.name) == key[:_LONGEST_NAME]))


def add_error(session: Session, failure: Failure) -> None:
    """Store one more error, in place of what is stored of the same plugin and stage with the same message."""
    row = {
        "stage": failure.stage[:_LONGEST_STAGE],
        "name": failure.name[:_LONGEST_NAME],
        "message": failure.message,
    }
    same = (getattr(RegistryError, name) == value for name, value in row.items())
    session.execute(delete(RegistryError).where(*same))
    session.execute(insert(RegistryError).values(**row))
