"""The e-mail addresses of accounts: their table, and how its rows are read."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Column, ColumnElement, Connection, Index, Row, UniqueConstraint, select, text
from sqlmodel import Field

from host.accounts.addresses import MAX_LENGTH
from host.storage.tables import HostTable, UtcDateTime, now


class AccountEmail(HostTable, table=True):
    """An address that somebody says is theirs, and whether they proved it."""

    __tablename__ = "account_email"
    __table_args__ = (
        UniqueConstraint("user_id", "email"),
        # Whoever proves an address has it alone; until then anybody may claim it.
        Index(
            "uq_account_email_verified_owner",
            "email",
            unique=True,
            sqlite_where=text("verified"),
            postgresql_where=text("verified"),
        ),
        Index(
            "uq_account_email_primary",
            "user_id",
            unique=True,
            sqlite_where=text('"primary"'),
            postgresql_where=text('"primary"'),
        ),
    )

    id: int | None = Field(default=None, primary_key=True)
    user_id: int = Field(foreign_key="account_user.id", ondelete="CASCADE")
    email: str = Field(max_length=MAX_LENGTH, index=True)
    verified: bool = False
    primary: bool = False
    created: datetime = Field(default_factory=now, sa_column=Column(UtcDateTime, nullable=False, default=now))


EMAILS = HostTable.metadata.tables["account_email"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EmailAddress:
    """One address of an account."""

    id: int
    user_id: int
    email: str
    verified: bool
    primary: bool
    created: datetime

    def show(self) -> dict[str, Any]:
        """Return the address in the form of the interface."""
        return {"email": self.email, "verified": self.verified, "primary": self.primary}


_COLUMNS = (
    EMAILS.c.id,
    EMAILS.c.user_id,
    EMAILS.c.email,
    EMAILS.c.verified,
    EMAILS.c.primary,
    EMAILS.c.created,
)


def read_addresses(connection: Connection, *conditions: ColumnElement[bool]) -> list[EmailAddress]:
    """Return the addresses that fit, oldest first."""
    statement = select(*_COLUMNS).where(*conditions).order_by(EMAILS.c.id)
    return [_address(row) for row in connection.execute(statement)]


def read_address(connection: Connection, *conditions: ColumnElement[bool]) -> EmailAddress | None:
    """Return the oldest address that fits; ``None`` when there is none."""
    row = connection.execute(select(*_COLUMNS).where(*conditions).order_by(EMAILS.c.id).limit(1)).first()
    return _address(row) if row is not None else None


def _address(row: Row[*tuple[Any, ...]]) -> EmailAddress:
    return EmailAddress(**row._asdict())
