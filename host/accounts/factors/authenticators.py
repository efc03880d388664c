"""Authenticators: what accounts own to prove a second time who they are; their table, and how it is read."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import Column, ColumnElement, Connection, Index, Row, Text, delete, func, select, text, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlmodel import Field

from host.storage.tables import HostTable, JsonColumn, UtcDateTime

NAME_LENGTH = 100


class FactorType(StrEnum):
    """The kinds of authenticators, in the order in which clients are told of them."""

    RECOVERY_CODES = "recovery_codes"
    TOTP = "totp"
    WEBAUTHN = "webauthn"


_ONE_OF_A_KIND = text("type IN ('totp', 'recovery_codes')")


class AccountAuthenticator(HostTable, table=True):
    """One authenticator."""

    __tablename__ = "account_authenticator"
    __table_args__ = (
        Index(
            "uq_account_authenticator_one_of_a_kind",
            "user_id",
            "type",
            unique=True,
            sqlite_where=_ONE_OF_A_KIND,
            postgresql_where=_ONE_OF_A_KIND,
        ),
    )

    id: int | None = Field(default=None, primary_key=True)
    user_id: int = Field(foreign_key="account_user.id", ondelete="CASCADE", index=True)
    type: str = Field(max_length=20)
    name: str = Field(default="", max_length=NAME_LENGTH)
    data: dict[str, Any] = Field(
        default_factory=dict, sa_column=Column(JsonColumn, nullable=False, default=dict), repr=False
    )
    """What is secret in it is sealed."""
    credential_id: str | None = Field(default=None, sa_column=Column(Text, unique=True))
    """By what a security key is found; base64url."""
    sign_count: int = 0
    passwordless: bool | None = None
    """Whether a security key can sign in alone; ``None``: its client did not say."""
    last_step: int | None = None
    """The period whose one-time code was used last."""
    created: datetime = Field(sa_column=Column(UtcDateTime, nullable=False))
    last_used: datetime | None = Field(default=None, sa_column=Column(UtcDateTime))


AUTHENTICATORS = HostTable.metadata.tables["account_authenticator"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Authenticator:
    """An authenticator as services see it."""

    id: int
    user_id: int
    type: FactorType
    name: str
    data: Mapping[str, Any] = field(repr=False)
    credential_id: str | None
    sign_count: int
    passwordless: bool | None
    last_step: int | None
    created: datetime
    last_used: datetime | None


def list_of(connection: Connection, user_id: int) -> list[Authenticator]:
    """Return the authenticators of an account in the order in which they were made."""
    return _read(connection, AUTHENTICATORS.c.user_id == user_id)


def types_of(connection: Connection, user_id: int) -> list[FactorType]:
    """Return which kinds an account owns, each once, in the order of ``FactorType``."""
    owned = select(AUTHENTICATORS.c.type).where(AUTHENTICATORS.c.user_id == user_id).distinct()
    found = set(connection.execute(owned).scalars())
    return [kind for kind in FactorType if kind in found]


def get_only(
    connection: Connection, user_id: int, kind: FactorType, *, for_update: bool = False
) -> Authenticator | None:
    """Return the one authenticator of a kind of which an account has one at most.

    With ``for_update`` nobody else can change it before this transaction ends.
    """
    mine = (AUTHENTICATORS.c.user_id == user_id) & (AUTHENTICATORS.c.type == kind.value)
    return next(iter(_read(connection, mine, for_update=for_update)), None)


def get_key(connection: Connection, credential_id: str) -> Authenticator | None:
    """Return the security key of this credential id, whoever owns it."""
    return next(iter(_read(connection, AUTHENTICATORS.c.credential_id == credential_id)), None)


def keys_of(connection: Connection, user_id: int) -> list[Authenticator]:
    """Return the security keys of an account in the order in which they were made."""
    mine = (AUTHENTICATORS.c.user_id == user_id) & (AUTHENTICATORS.c.type == FactorType.WEBAUTHN.value)
    return _read(connection, mine)


def count_keys(connection: Connection, user_id: int) -> int:
    """Return how many security keys an account has."""
    mine = (AUTHENTICATORS.c.user_id == user_id) & (AUTHENTICATORS.c.type == FactorType.WEBAUTHN.value)
    return int(connection.execute(select(func.count()).select_from(AUTHENTICATORS).where(mine)).scalar_one())


def insert(
    connection: Connection, user_id: int, kind: FactorType, *, created: datetime, **columns: Any
) -> Authenticator | None:
    """Write a new authenticator and return it.

    ``None``: the account has one of this kind and may have no second one, or the security key belongs to somebody.
    """
    maker = sqlite.insert if connection.dialect.name == "sqlite" else postgresql.insert
    row: dict[str, Any] = {
        "user_id": user_id,
        "type": kind.value,
        "name": "",
        "data": {},
        "sign_count": 0,
        "created": created,
    }
    statement = maker(AUTHENTICATORS).values(**row | columns).on_conflict_do_nothing().returning(AUTHENTICATORS.c.id)
    new_id = connection.execute(statement).scalar_one_or_none()
    return None if new_id is None else _read(connection, AUTHENTICATORS.c.id == new_id)[0]


def rename(connection: Connection, authenticator: Authenticator, name: str) -> Authenticator | None:
    """Give an authenticator another name and return it; ``None``: it is gone."""
    mine = AUTHENTICATORS.c.id == authenticator.id
    connection.execute(update(AUTHENTICATORS).where(mine).values(name=name))
    return next(iter(_read(connection, mine)), None)


def delete_of(connection: Connection, user_id: int, ids: Collection[int]) -> None:
    """Delete those of an account's authenticators that have these ids."""
    mine = (AUTHENTICATORS.c.user_id == user_id) & AUTHENTICATORS.c.id.in_(ids)
    connection.execute(delete(AUTHENTICATORS).where(mine))


def show(authenticator: Authenticator) -> dict[str, Any]:
    """Return an authenticator as clients are shown it, without anything secret."""
    last_used = authenticator.last_used
    shown: dict[str, Any] = {
        "type": authenticator.type.value,
        "created_at": authenticator.created.timestamp(),
        "last_used_at": None if last_used is None else last_used.timestamp(),
    }
    match authenticator.type:
        case FactorType.RECOVERY_CODES:
            total, used = authenticator.data["count"], len(authenticator.data["used"])
            shown |= {"total_code_count": total, "unused_code_count": total - used}
        case FactorType.WEBAUTHN:
            shown |= {"id": authenticator.id, "name": authenticator.name}
            if authenticator.passwordless is not None:
                shown["is_passwordless"] = authenticator.passwordless
        case FactorType.TOTP:
            pass
    return shown


def _read(connection: Connection, condition: ColumnElement[bool], *, for_update: bool = False) -> list[Authenticator]:
    statement = select(AUTHENTICATORS).where(condition).order_by(AUTHENTICATORS.c.id)
    rows = connection.execute(statement.with_for_update() if for_update else statement)
    return [_authenticator(row) for row in rows]


def _authenticator(row: Row[Any]) -> Authenticator:
    columns = dict(row._mapping)  # noqa: SLF001 - the name that SQLAlchemy publishes it under
    return Authenticator(**columns | {"type": FactorType(row.type)})
