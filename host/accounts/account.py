"""The account: its table, and how it is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Column, ColumnElement, Connection, Row, Select, bindparam, select
from sqlmodel import Field

from host.accounts.addresses import MAX_LENGTH as EMAIL_LENGTH
from host.accounts.groups import GROUPS, MEMBERSHIPS, Group
from host.accounts.persons import MAX_NAME_LENGTH
from host.accounts.profiles import show_profile
from host.accounts.usernames import MAX_FOLDED_LENGTH
from host.accounts.usernames import MAX_LENGTH as USERNAME_LENGTH
from host.contract.values import User
from host.errors import NotFoundError
from host.storage.tables import HostTable, JsonColumn, UtcDateTime, now


class AccountUser(HostTable, table=True):
    """Somebody, or some program, that can sign in."""

    __tablename__ = "account_user"

    id: int | None = Field(default=None, primary_key=True)
    username: str = Field(max_length=USERNAME_LENGTH)
    username_folded: str = Field(max_length=MAX_FOLDED_LENGTH, unique=True)
    first_name: str = Field(default="", max_length=MAX_NAME_LENGTH)
    last_name: str = Field(default="", max_length=MAX_NAME_LENGTH)
    email: str = Field(default="", max_length=EMAIL_LENGTH, index=True)
    password_hash: str | None = Field(default=None, max_length=255, repr=False)
    """``None``: no password fits, the account signs in by other means."""
    is_active: bool = True
    is_staff: bool = False
    is_superuser: bool = False
    created: datetime = Field(default_factory=now, sa_column=Column(UtcDateTime, nullable=False, default=now))
    last_login: datetime | None = Field(default=None, sa_column=Column(UtcDateTime))
    password_changed: datetime | None = Field(default=None, sa_column=Column(UtcDateTime))
    profile: dict[str, Any] = Field(default_factory=dict, sa_column=Column(JsonColumn, nullable=False, default=dict))
    primary_group_id: int | None = Field(default=None, foreign_key="account_group.id", ondelete="SET NULL", index=True)


USERS = HostTable.metadata.tables["account_user"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """An account as services and the interface see it; it never carries the password's hash."""

    id: int
    username: str
    first_name: str
    last_name: str
    email: str
    is_active: bool
    is_staff: bool
    is_superuser: bool
    has_usable_password: bool
    created: datetime
    last_login: datetime | None
    password_changed: datetime | None
    profile: Mapping[str, Any]
    groups: tuple[Group, ...]

    def as_user(self) -> User:
        """Return what plugins and services get to see of the account."""
        return User(
            id=self.id,
            username=self.username,
            email=self.email,
            is_staff=self.is_staff,
            is_superuser=self.is_superuser,
        )

    def own_data(self) -> dict[str, str]:
        """Return what the password must not resemble."""
        return {name: getattr(self, name) for name in ("username", "first_name", "last_name", "email")}


_PLAIN = (
    "id",
    "username",
    "first_name",
    "last_name",
    "email",
    "is_active",
    "is_staff",
    "is_superuser",
    "created",
    "last_login",
    "password_changed",
)


def account_columns() -> Select[Any]:
    """Begin a query that gives the rows which ``read_accounts`` takes."""
    return select(
        *(USERS.c[name] for name in _PLAIN),
        USERS.c.password_hash.is_not(None).label("has_usable_password"),
        USERS.c.profile,
        USERS.c.primary_group_id,
    )


def read_accounts(connection: Connection, statement: Select[Any]) -> list[Account]:
    """Run a query made from ``account_columns`` and add the groups."""
    rows = connection.execute(statement).all()
    groups = groups_of(connection, [row.id for row in rows])
    return [_account(row, tuple(groups.get(row.id, ()))) for row in rows]


# Built once, as one query with the groups: making a statement costs as much as running it, and showing the own account
# is what clients ask most.
_WITH_GROUPS = (
    account_columns()
    .add_columns(GROUPS.c.id.label("group_id"), GROUPS.c.name.label("group_name"))
    .outerjoin(MEMBERSHIPS, MEMBERSHIPS.c.user_id == USERS.c.id)
    .outerjoin(GROUPS, GROUPS.c.id == MEMBERSHIPS.c.group_id)
    .order_by(USERS.c.id, GROUPS.c.name, GROUPS.c.id)
)
_BY_ID = _WITH_GROUPS.where(USERS.c.id == bindparam("user_id"))


def find_account(connection: Connection, *conditions: ColumnElement[bool]) -> Account | None:
    """Return the one account that fits; the conditions must not fit more."""
    return _one(connection.execute(_WITH_GROUPS.where(*conditions)).all())


def get_account(connection: Connection, user_id: int) -> Account:
    """Return an account.

    Raises:
        NotFoundError: there is no such account.

    """
    account = _one(connection.execute(_BY_ID, {"user_id": user_id}).all())
    if account is None:
        raise no_account(user_id)
    return account


def no_account(user_id: int) -> NotFoundError:
    """Say that there is no such account."""
    return NotFoundError(f"There is no user {user_id}.")


def groups_of(connection: Connection, user_ids: Sequence[int]) -> dict[int, list[Group]]:
    """Return the groups of each account that has any, by name."""
    if not user_ids:
        return {}
    statement = (
        select(MEMBERSHIPS.c.user_id, GROUPS.c.id, GROUPS.c.name)
        .join(GROUPS, GROUPS.c.id == MEMBERSHIPS.c.group_id)
        .where(MEMBERSHIPS.c.user_id.in_(user_ids))
        .order_by(GROUPS.c.name, GROUPS.c.id)
    )
    groups: dict[int, list[Group]] = {}
    for user_id, group_id, name in connection.execute(statement):
        groups.setdefault(user_id, []).append(Group(group_id, name))
    return groups


def _one(rows: Sequence[Row[Any]]) -> Account | None:
    # One row for each group, and one for an account without any.
    if not rows:
        return None
    groups = [Group(row.group_id, row.group_name) for row in rows if row.group_id is not None]
    return _account(rows[0], tuple(groups))


def _account(row: Row[Any], groups: tuple[Group, ...]) -> Account:
    return Account(
        **dict(zip(_PLAIN, row, strict=False)),  # a row begins with these
        has_usable_password=bool(row.has_usable_password),
        profile=show_profile(row.profile, row.primary_group_id),
        groups=groups,
    )
