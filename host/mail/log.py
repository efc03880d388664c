"""The mail log: every mail that leaves the host or comes in, with what became of it; those that wait are its queue."""

from __future__ import annotations

from datetime import datetime
from enum import IntEnum, StrEnum
from typing import Any

from sqlalchemy import Column, Index, Text
from sqlmodel import Field

from host.storage.tables import HostTable, JsonColumn, UtcDateTime

ADDRESS_LENGTH = 254
SUBJECT_LENGTH = 250
CODE_LENGTH = 50
KEY_LENGTH = 250


class MailStatus(StrEnum):
    """What has become of a mail."""

    ANNOUNCED = "A"
    SENT = "S"
    FAILED = "F"
    DELIVERED = "D"
    READ = "R"
    CONFIRMED = "C"


class MailDirection(StrEnum):
    """Which way a mail goes."""

    IN = "I"
    OUT = "O"


class MailPriority(IntEnum):
    """How urgent a mail is."""

    NONE = 0
    VERY_HIGH = 1
    HIGH = 2
    NORMAL = 3
    LOW = 4
    VERY_LOW = 5


class MailMessage(HostTable, table=True):
    """A mail.

    What serves to sign in is masked in ``subject``, ``body`` and ``full_message``.
    """

    __tablename__ = "mail_message"
    # Each order that the list offers ends in the key.
    __table_args__ = tuple(
        Index(f"ix_mail_message_{name}_global_id", name, "global_id")
        for name in ("subject", "to", "sender", "status", "direction", "timestamp")
    )

    # As text, so that a search finds a part of it on every database.
    global_id: str = Field(max_length=36, primary_key=True)
    message_id_key: str | None = Field(default=None, max_length=KEY_LENGTH, index=True)
    """The header ``Message-ID``, or by what the service knows it that delivers it."""
    thread_id_key: str | None = Field(default=None, max_length=KEY_LENGTH, index=True)
    """The header ``Message-ID`` of the mail that began the thread."""
    thread: str | None = Field(default=None, max_length=36)
    subject: str = Field(max_length=SUBJECT_LENGTH)
    body: str = Field(sa_column=Column(Text, nullable=False))
    to: str = Field(max_length=ADDRESS_LENGTH)
    sender: str = Field(max_length=ADDRESS_LENGTH)
    status: str = Field(default=MailStatus.ANNOUNCED.value, max_length=1)
    direction: str = Field(default=MailDirection.OUT.value, max_length=1)
    priority: int = MailPriority.NORMAL.value
    timestamp: datetime = Field(sa_column=Column(UtcDateTime, nullable=False))
    headers: dict[str, Any] | None = Field(default=None, sa_column=Column(JsonColumn, nullable=True))
    full_message: str | None = Field(default=None, sa_column=Column(Text, nullable=True))
    delivery_options: list[Any] | None = Field(default=None, sa_column=Column(JsonColumn, nullable=True))
    error_code: str | None = Field(default=None, max_length=CODE_LENGTH)
    error_message: str | None = Field(default=None, sa_column=Column(Text, nullable=True))
    error_timestamp: datetime | None = Field(default=None, sa_column=Column(UtcDateTime, nullable=True))
    template: str | None = Field(default=None, max_length=100)
    attempts: int = 0
    next_attempt: datetime | None = Field(default=None, sa_column=Column(UtcDateTime, nullable=True, index=True))
    """When the mail is due to be sent, or shown to plugins; while somebody is at it, when it would be due again if they
    never came back."""
    expires: datetime | None = Field(default=None, sa_column=Column(UtcDateTime, nullable=True))
    payload: str | None = Field(default=None, sa_column=Column(Text, nullable=True))
    """The real mail, sealed; gone once it is sent, shown or given up."""


MAIL = HostTable.metadata.tables["mail_message"]
