"""The tables of data imports: sessions, the columns they take their fields from, and the rows of their files."""

from __future__ import annotations

from datetime import datetime
from enum import IntEnum
from typing import Any, Final

from sqlalchemy import JSON, BigInteger, Column, ForeignKey, Index, Integer, Text, UniqueConstraint
from sqlmodel import Field

from host.accounts.account import USERS
from host.storage.tables import HostTable, JsonColumn, UtcDateTime

COLUMN_LENGTH: Final = 100
"""Longest name of a column."""
_NAME_LENGTH: Final = 100
_TEXT_LENGTH: Final = 2000
_PATH_LENGTH: Final = 255
_Key: Final = BigInteger().with_variant(Integer(), "sqlite")
"""Rows come and go by the hundred thousand; SQLite numbers only what it calls an integer, of 64 bits as well."""

# No id below is given twice: whoever still means what is gone, a task or a client, must not meet something else.
_NEW_IDS: Final = {"sqlite_autoincrement": True}

# Some objects below are of the type JSON: unlike JSONB, PostgreSQL keeps the order of their members in it.


class ImportStatus(IntEnum):
    """How far an import has come."""

    INITIAL = 0
    MAPPING = 10
    IMPORTING = 20
    PROCESSING = 30
    COMPLETE = 40


class ImportSession(HostTable, table=True):
    """One file that becomes records of one kind."""

    __tablename__ = "import_session"
    __table_args__ = (
        Index("ix_import_session_user_id_id", "user_id", "id"),
        Index("ix_import_session_timestamp_id", "timestamp", "id"),
        Index("ix_import_session_status_id", "status", "id"),
        Index("ix_import_session_model_type_id", "model_type", "id"),
        _NEW_IDS,
    )

    id: int | None = Field(default=None, primary_key=True)
    timestamp: datetime = Field(sa_column=Column(UtcDateTime, nullable=False))
    data_file: str = Field(max_length=_PATH_LENGTH, unique=True)
    """Path in the file store."""
    update_records: bool = False
    model_type: str = Field(max_length=_NAME_LENGTH)
    available_fields: dict[str, Any] = Field(sa_column=Column(JSON, nullable=False))
    status: int = ImportStatus.INITIAL
    user_id: int | None = Field(
        default=None, sa_column=Column(ForeignKey(USERS.c.id, ondelete="SET NULL"), nullable=True)
    )
    columns: list[str] = Field(sa_column=Column(JsonColumn, nullable=False))
    field_defaults: dict[str, Any] | None = Field(default=None, sa_column=Column(JsonColumn, nullable=True))
    field_overrides: dict[str, Any] | None = Field(default=None, sa_column=Column(JsonColumn, nullable=True))
    field_filters: dict[str, Any] | None = Field(default=None, sa_column=Column(JsonColumn, nullable=True))
    row_count: int = 0
    completed_row_count: int = 0
    row_count_history: int = 0
    completed_row_count_history: int = 0
    file_rows: int = 0
    """Rows with data in the file."""
    run: int = 0
    """Counts how often the rows were read anew; whoever reads for an earlier run stops."""
    read_until: int = -1
    """Greatest index of a row that this run has looked at."""
    task_id: str | None = Field(default=None, max_length=32)
    """The task that reads the rows, or that accepts them all."""
    error: str = Field(default="", sa_column=Column(Text, nullable=False))
    """Why the last work in the background came to nothing."""


class ImportColumnMap(HostTable, table=True):
    """Which column of the file a field is taken from."""

    __tablename__ = "import_column_map"
    __table_args__ = (UniqueConstraint("session_id", "field"), _NEW_IDS)

    id: int | None = Field(default=None, primary_key=True)
    session_id: int = Field(sa_column=Column(ForeignKey("import_session.id", ondelete="CASCADE"), nullable=False))
    field: str = Field(max_length=_NAME_LENGTH)
    column: str = Field(max_length=COLUMN_LENGTH)
    label: str = Field(max_length=_TEXT_LENGTH)
    description: str = Field(max_length=_TEXT_LENGTH)
    lookup_field: str | None = Field(default=None, max_length=_TEXT_LENGTH)


class ImportRow(HostTable, table=True):
    """One row of a file."""

    __tablename__ = "import_row"
    __table_args__ = (
        UniqueConstraint("session_id", "row_index"),
        Index("ix_import_row_session_id_complete_valid", "session_id", "complete", "valid"),
        Index("ix_import_row_session_id_valid", "session_id", "valid"),
        Index("ix_import_row_valid_id", "valid", "id"),
        Index("ix_import_row_complete_id", "complete", "id"),
        Index("ix_import_row_row_index_id", "row_index", "id"),
        _NEW_IDS,
    )

    id: int | None = Field(default=None, sa_column=Column(_Key, primary_key=True))
    session_id: int = Field(sa_column=Column(ForeignKey("import_session.id", ondelete="CASCADE"), nullable=False))
    row_index: int
    row_data: dict[str, Any] = Field(sa_column=Column(JSON, nullable=False))
    data: dict[str, Any] = Field(sa_column=Column(JSON, nullable=False))
    errors: dict[str, Any] | None = Field(default=None, sa_column=Column(JsonColumn, nullable=True))
    valid: bool = False
    complete: bool = False


SESSIONS: Final = HostTable.metadata.tables["import_session"]
MAPS: Final = HostTable.metadata.tables["import_column_map"]
ROWS: Final = HostTable.metadata.tables["import_row"]
