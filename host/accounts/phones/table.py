"""The phone numbers of accounts: their table, and how its rows are read."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Column, ColumnElement, Connection, Index, select, text
from sqlmodel import Field

from host.storage.tables import HostTable, UtcDateTime, now

MAX_LENGTH = 16


class AccountPhone(HostTable, table=True):
    """The number that somebody says is theirs, and whether they proved it."""

    __tablename__ = "account_phone"
    __table_args__ = (
        # Whoever proves a number has it alone; until then anybody may claim it.
        Index(
            "uq_account_phone_verified_owner",
            "phone",
            unique=True,
            sqlite_where=text("verified"),
            postgresql_where=text("verified"),
        ),
    )

    id: int | None = Field(default=None, primary_key=True)
    user_id: int = Field(foreign_key="account_user.id", ondelete="CASCADE", unique=True)
    phone: str = Field(max_length=MAX_LENGTH, index=True)
    verified: bool = False
    created: datetime = Field(default_factory=now, sa_column=Column(UtcDateTime, nullable=False, default=now))


PHONES = HostTable.metadata.tables["account_phone"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Phone:
    """The number of an account."""

    user_id: int
    phone: str
    verified: bool

    def show(self) -> dict[str, Any]:
        """Return the number in the form of the interface."""
        return {"phone": self.phone, "verified": self.verified}


def read_phones(connection: Connection, *conditions: ColumnElement[bool]) -> list[Phone]:
    """Return the numbers that fit, oldest first."""
    statement = select(PHONES.c.user_id, PHONES.c.phone, PHONES.c.verified).where(*conditions).order_by(PHONES.c.id)
    return [Phone(**row._asdict()) for row in connection.execute(statement)]
