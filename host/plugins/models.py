"""Models: make the tables of plugins, and add columns that a newer version brings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from sqlalchemy import Column, Connection, Index, MetaData, Table, UniqueConstraint, inspect, select, text
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.schema import CreateColumn
from sqlalchemy.types import SchemaType
from sqlmodel import Field, SQLModel

from host.errors import HostError
from host.storage.engine import Database
from host.storage.tables import METADATA, HostTable

_MIGRATIONS = "alembic_version"
_POSTGRES_LOCK = 0x706C7461  # any number that nothing else locks


class ModelsError(HostError):
    """The tables of a plugin cannot be made; the text names the table, the column and the remedy."""


class PluginTable(HostTable, table=True):
    """Which plugin a table of the database belongs to."""

    __tablename__ = "plugin_table"

    name: str = Field(primary_key=True, max_length=255)
    """The table's name in lower case."""
    plugin_key: str = Field(max_length=255, index=True)


_OWNERS = METADATA.tables["plugin_table"]


def prepare_tables(database: Database, key: str, models: Sequence[type]) -> None:
    """Create the tables of a plugin that are missing, and add missing columns and indexes; nothing is ever dropped.

    A table that was made once belongs to its plugin for good. All of it happens in one transaction, one process at a
    time.

    Raises:
        ModelsError: a table belongs to the host or another plugin, or is made of SQLModel's own base; a column cannot
            be added; or the database refused.

    """
    if not models:
        return
    try:
        tables = list(_tables(models))
        with database.engine.begin() as connection:
            if connection.dialect.name == "postgresql":
                connection.execute(text("SELECT pg_advisory_xact_lock(:number)"), {"number": _POSTGRES_LOCK})
            existing = {name.lower(): name for name in inspect(connection).get_table_names()}
            for table in tables:
                _own(connection, key, table, exists=table.name.lower() in existing)
            for table in tables:
                if table.name.lower() in existing:
                    _complete(connection, table)
                else:
                    table.create(connection)
    except SQLAlchemyError as error:
        reason = getattr(error, "orig", None) or error
        msg = f"The tables of plugin '{key}' could not be made: {reason}"
        raise ModelsError(msg) from error


def _tables(models: Iterable[type]) -> Iterator[Table]:
    collections: list[MetaData] = []
    for model in models:
        table = getattr(model, "__table__", None)
        if not isinstance(table, Table):
            msg = f"{model.__name__} is no table: define it with table=True."
            raise ModelsError(msg)
        if table.metadata is SQLModel.metadata or table.metadata is METADATA:
            msg = (
                f"Table '{table.name}' shares its metadata with others. Derive {model.__name__} from "
                "host.table_base(), called once in your module."
            )
            raise ModelsError(msg)
        if table.metadata not in collections:
            collections.append(table.metadata)
    # Tables that link two models are in the same collection and come without a class.
    for metadata in collections:
        yield from metadata.sorted_tables


def _own(connection: Connection, key: str, table: Table, *, exists: bool) -> None:
    name = table.name.lower()
    if table.schema:
        msg = f"Table '{table.fullname}' names a schema; leave it out."
        raise ModelsError(msg)
    owner = connection.execute(select(_OWNERS.c.plugin_key).where(_OWNERS.c.name == name)).scalar()
    if owner == key:
        return
    if name == _MIGRATIONS or name in METADATA.tables:
        taken = "belongs to the host"
    elif owner is not None:
        taken = f"belongs to plugin '{owner}'"
    elif exists:
        taken = "exists already and belongs to no plugin"
    else:
        insert = postgresql.insert if connection.dialect.name == "postgresql" else sqlite.insert
        connection.execute(insert(_OWNERS).values(name=name, plugin_key=key))
        return
    msg = f"Table '{table.name}' {taken}. Give the table another __tablename__, beginning with '{key}_'."
    raise ModelsError(msg)


def _complete(connection: Connection, table: Table) -> None:
    inspector = inspect(connection)
    present = {column["name"].lower() for column in inspector.get_columns(table.name)}
    added = [column for column in table.columns if column.name.lower() not in present]
    for column in added:
        _add(connection, table, column)
    known = {index["name"] for index in inspect(connection).get_indexes(table.name)}
    for index in sorted(table.indexes, key=lambda one: str(one.name)):
        if index.name not in known:
            index.create(connection)
    names = {column.name for column in added}
    for constraint in table.constraints:
        # A constraint cannot be added to a table everywhere; a unique index does the same.
        if isinstance(constraint, UniqueConstraint) and names & set(constraint.columns.keys()):
            _unique(connection, table, [column.name for column in constraint.columns])


def _unique(connection: Connection, table: Table, columns: Sequence[str]) -> None:
    name = f"uq_{table.name}_{'_'.join(columns)}"
    apart = Table(table.name, MetaData(), *(Column(column) for column in columns))
    Index(name, *(apart.c[column] for column in columns), unique=True).create(connection)


def _add(connection: Connection, table: Table, column: Column[object]) -> None:
    place = f"column '{column.name}' of table '{table.name}'"
    if column.primary_key or not (column.nullable or column.server_default is not None):
        msg = (
            f"The new {place} is neither nullable nor has a server default, so existing rows would have no value. "
            "Make it optional, or give sa_column_kwargs={'server_default': …}."
        )
        raise ModelsError(msg)
    quote = connection.dialect.identifier_preparer.format_table
    definition = CreateColumn(column).compile(dialect=connection.dialect)
    references = "".join(
        f" REFERENCES {quote(foreign.column.table)} "
        f"({connection.dialect.identifier_preparer.quote(foreign.column.name)})"
        for foreign in column.foreign_keys
    )
    try:
        if isinstance(column.type, SchemaType):
            column.type.create(connection, checkfirst=True)
        connection.exec_driver_sql(f"ALTER TABLE {quote(table)} ADD COLUMN {definition}{references}")
    except SQLAlchemyError as error:
        msg = f"The new {place} could not be added: {getattr(error, 'orig', None) or error}"
        raise ModelsError(msg) from error
