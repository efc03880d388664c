"""Alembic's environment: revisions run on the connection that ``host.storage.migrate`` hands over."""

from typing import Any, Literal

from alembic import context
from sqlalchemy import JSON
from sqlalchemy.dialects import postgresql
from sqlmodel.sql.sqltypes import AutoString

from host.storage.tables import METADATA, UtcDateTime

_POSTGRESQL = postgresql.dialect()  # type: ignore[no-untyped-call]  # SQLAlchemy says nothing of it


def plainly(kind: str, item: Any, _context: Any) -> str | Literal[False]:
    """Write a column's type so that a revision imports nothing of ours, and so never changes its meaning."""
    if kind != "type":
        return False
    if isinstance(item, UtcDateTime):
        return "sa.DateTime(timezone=True)"
    if isinstance(item, AutoString):
        return f"sa.String(length={item.length})" if item.length else "sa.String()"
    if isinstance(item, JSON) and isinstance(item.dialect_impl(_POSTGRESQL), postgresql.JSONB):
        return 'sa.JSON().with_variant(postgresql.JSONB(), "postgresql")'
    return False


context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=METADATA,
    render_as_batch=True,
    render_item=plainly,
)
with context.begin_transaction():
    context.run_migrations()
