"""Where custom states are stored, and how they are listed."""

from __future__ import annotations

from typing import Final

from sqlalchemy import BigInteger, Column, Table, UniqueConstraint
from sqlmodel import Field

from host.records.content_types import CONTENT_TYPES
from host.storage.listing import Listing, by_reference, by_text
from host.storage.tables import METADATA, HostTable

TEXT_LENGTH: Final = 250
COLORS: Final = ("primary", "secondary", "success", "danger", "warning", "info", "dark")


class CustomState(HostTable, table=True):
    """A state that was added to a status set."""

    __tablename__ = "custom_state"
    __table_args__ = (UniqueConstraint("reference_status", "key"), UniqueConstraint("reference_status", "name"))

    id: int | None = Field(default=None, primary_key=True)
    key: int = Field(sa_column=Column(BigInteger, nullable=False, index=True))
    name: str = Field(max_length=TEXT_LENGTH)
    label: str = Field(max_length=TEXT_LENGTH)
    color: str = Field(max_length=20)
    logical_key: int = Field(sa_column=Column(BigInteger, nullable=False))
    model: int = Field(foreign_key="content_type.id", index=True)
    reference_status: str = Field(max_length=TEXT_LENGTH)


STATES: Final[Table] = METADATA.tables["custom_state"]
STATE_LIST: Final = Listing(
    table=STATES,
    key=STATES.c.id,
    source=STATES.join(CONTENT_TYPES, CONTENT_TYPES.c.id == STATES.c.model),
    members={
        "pk": STATES.c.id,
        "key": STATES.c.key,
        "name": STATES.c.name,
        "label": STATES.c.label,
        "color": STATES.c.color,
        "logical_key": STATES.c.logical_key,
        "model": STATES.c.model,
        "model_name": CONTENT_TYPES.c.app_labeled_name,
        "reference_status": STATES.c.reference_status,
    },
    filters={
        "model": by_reference(STATES.c.model, CONTENT_TYPES.c.id, "Id of a content type."),
        "reference_status": by_text(STATES.c.reference_status, "Name of a status set."),
    },
    ordering={"key": STATES.c.key},
    search=(STATES.c.key, STATES.c.name, STATES.c.label, STATES.c.reference_status),
)
