"""Which accounts at providers belong to which account here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Column, Connection, Row, UniqueConstraint, delete, insert, select, update
from sqlalchemy.exc import IntegrityError
from sqlmodel import Field

from host.accounts.problems import Problem, RefusedValuesError
from host.accounts.providers.identity import MAX_DISPLAY, MAX_UID, Identity
from host.config.accounts import AccountOptions
from host.contract.values import Json
from host.storage.tables import HostTable, JsonColumn, UtcDateTime


class AccountProviderAccount(HostTable, table=True):
    """That somebody at a provider is an account here."""

    __tablename__ = "account_provider_account"
    __table_args__ = (UniqueConstraint("provider", "uid"),)

    id: int | None = Field(default=None, primary_key=True)
    user_id: int = Field(foreign_key="account_user.id", ondelete="CASCADE", index=True)
    provider: str = Field(max_length=64)
    uid: str = Field(max_length=MAX_UID)
    display: str = Field(default="", max_length=MAX_DISPLAY)
    extra: dict[str, Any] = Field(default_factory=dict, sa_column=Column(JsonColumn, nullable=False), repr=False)
    created: datetime = Field(sa_column=Column(UtcDateTime, nullable=False))
    last_login: datetime | None = Field(default=None, sa_column=Column(UtcDateTime))


PROVIDER_ACCOUNTS = HostTable.metadata.tables["account_provider_account"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderAccount:
    """Somebody at a provider who is an account here."""

    id: int
    user_id: int
    provider: str
    uid: str
    display: str
    extra: Mapping[str, Json]
    created: datetime
    last_login: datetime | None


def find(connection: Connection, provider: str, uid: str) -> ProviderAccount | None:
    """Return who somebody at a provider is here."""
    same = (PROVIDER_ACCOUNTS.c.provider == provider, PROVIDER_ACCOUNTS.c.uid == uid)
    row = connection.execute(select(PROVIDER_ACCOUNTS).where(*same)).first()
    return None if row is None else _account(row)


def list_of(connection: Connection, user_id: int) -> list[ProviderAccount]:
    """Return everything that an account is connected to, the oldest first."""
    mine = select(PROVIDER_ACCOUNTS).where(PROVIDER_ACCOUNTS.c.user_id == user_id)
    return [_account(row) for row in connection.execute(mine.order_by(PROVIDER_ACCOUNTS.c.id))]


def connect(connection: Connection, user_id: int, identity: Identity, moment: datetime) -> tuple[ProviderAccount, bool]:
    """Connect an account to somebody at a provider, and tell whether that is new.

    Raises:
        RefusedValuesError: they are connected to another account.

    """
    row = {
        "user_id": user_id,
        "provider": identity.provider,
        "uid": identity.uid,
        "display": identity.display,
        "extra": dict(identity.extra),
        "created": moment,
    }
    known = find(connection, identity.provider, identity.uid)
    if known is None:
        try:
            with connection.begin_nested():
                made = connection.execute(insert(PROVIDER_ACCOUNTS).values(**row).returning(PROVIDER_ACCOUNTS)).one()
        except IntegrityError:
            # Another request has connected them in between; what else can be wrong shows in that none is found.
            known = find(connection, identity.provider, identity.uid)
            if known is None:
                raise
        else:
            return _account(made), True
    if known.user_id != user_id:
        message = "This account of the provider is connected to somebody else here. Disconnect it there first."
        raise RefusedValuesError({"non_field_errors": [Problem("connected_other", message)]})
    _write(connection, known.id, identity)
    return find(connection, identity.provider, identity.uid) or known, False


def touch(connection: Connection, account_id: int, identity: Identity, moment: datetime) -> None:
    """Note that somebody signed in through a provider, and what it says of them now."""
    _write(connection, account_id, identity, last_login=moment)


def remove(connection: Connection, account_id: int) -> bool:
    """Disconnect, and tell whether this call did it; of two at a time, one does."""
    mine = PROVIDER_ACCOUNTS.c.id == account_id
    return connection.execute(delete(PROVIDER_ACCOUNTS).where(mine)).rowcount == 1


def disconnect_problems(
    account: ProviderAccount | None,
    *,
    others: int,
    has_password: bool,
    has_verified_email: bool,
    options: AccountOptions,
) -> dict[str, list[Problem]]:
    """List why something may not be disconnected.

    Call it with the user's row locked: two last ones must not go at the same time.

    Args:
        account: what would be disconnected; ``None`` when the user has no such.
        others: how many further ones the user has.
        has_password: whether a password fits the user.
        has_verified_email: whether one of the user's addresses is verified.
        options: whether addresses must be verified.

    """
    if account is None:
        message = "You are not connected to this account of the provider."
        return {"non_field_errors": [Problem("account_not_found", message)]}
    if others:
        return {}
    if not has_password:
        message = "You could not sign in any more. Set a password before you disconnect the last provider."
        return {"account": [Problem("no_password", message)]}
    if options.account_email_verification == "mandatory" and not has_verified_email:
        message = "You could not sign in any more. Verify an e-mail address before you disconnect the last provider."
        return {"account": [Problem("no_verified_email", message)]}
    return {}


def _write(connection: Connection, account_id: int, identity: Identity, **columns: Any) -> None:
    values = {"display": identity.display, "extra": dict(identity.extra)} | columns
    connection.execute(update(PROVIDER_ACCOUNTS).where(PROVIDER_ACCOUNTS.c.id == account_id).values(**values))


def _account(row: Row[Any]) -> ProviderAccount:
    return ProviderAccount(
        id=row.id,
        user_id=row.user_id,
        provider=row.provider,
        uid=row.uid,
        display=row.display,
        extra=row.extra,
        created=row.created,
        last_login=row.last_login,
    )
