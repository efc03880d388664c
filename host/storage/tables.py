"""The base of the host's tables, and column types that mean the same on every database."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import JSON, DateTime
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.engine import Dialect
from sqlalchemy.orm import registry
from sqlalchemy.types import TypeDecorator
from sqlmodel import SQLModel

_NAMING = {
    "ix": "ix_%(column_0_N_label)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}

_registry = registry()
_registry.metadata.naming_convention = _NAMING


class HostTable(SQLModel, registry=_registry):
    """Base of all tables of the host; plugins have registries of their own."""


METADATA = HostTable.metadata

JsonColumn = JSON().with_variant(JSONB(), "postgresql")
"""A column for any JSON value."""


class UtcDateTime(TypeDecorator[datetime]):
    """A moment in time, always aware and in UTC when read, also where the database forgets the zone."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> Any:
        """Store as UTC.

        Raises:
            ValueError: the value has no time zone.

        """
        if value is None:
            return None
        if value.tzinfo is None:
            msg = f"{value!r} has no time zone"
            raise ValueError(msg)
        value = value.astimezone(UTC)
        return value.replace(tzinfo=None) if dialect.name == "sqlite" else value

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002
        """Read as UTC."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


def now() -> datetime:
    """Return the present moment, in UTC."""
    return datetime.now(UTC)
