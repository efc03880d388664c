"""Looking accounts up: lists for the interface, owners, and short forms for other records."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from sqlalchemy import ColumnElement, func, or_, select

from host.accounts.account import USERS, Account, account_columns, read_accounts
from host.accounts.addresses import clean_email
from host.accounts.groups import GROUPS, MEMBERSHIPS
from host.accounts.ordering import ordered
from host.errors import NotFoundError
from host.storage.engine import Database

_SEARCHED = ("username", "first_name", "last_name", "email")
_ORDERED = ("id", "username", "first_name", "last_name", "email", "is_staff", "is_superuser", "is_active", "last_login")


@dataclass(frozen=True, slots=True)
class UserSummary:
    """What other records show of the account that they belong to."""

    pk: int
    username: str
    first_name: str
    last_name: str
    email: str


@dataclass(frozen=True, slots=True)
class Owner:
    """An account or a group, as something that can own."""

    owner_model: Literal["user", "group"]
    owner_id: int
    name: str
    label: str

    @property
    def pk(self) -> int:
        """One number for both kinds: even for groups, odd for accounts."""
        return 2 * self.owner_id + (1 if self.owner_model == "user" else 0)


class Directory:
    """Reads accounts."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def list(
        self,
        *,
        search: str = "",
        is_active: bool | None = None,
        is_staff: bool | None = None,
        is_superuser: bool | None = None,
        group: int | None = None,
        ordering: str = "",
        limit: int | None = None,
        offset: int = 0,
    ) -> tuple[list[Account], int]:
        """Return a page of accounts and how many there are in all.

        Args:
            search: every word must occur in a name or the e-mail address, in any case.
            is_active: only those with this flag.
            is_staff: only those with this flag.
            is_superuser: only those with this flag.
            group: only members of this group.
            ordering: names of members after commas, with ``-`` in front for the other way round.
            limit: most accounts to return.
            offset: how many to leave out at the beginning.

        """
        flags = {"is_active": is_active, "is_staff": is_staff, "is_superuser": is_superuser}
        conditions: list[ColumnElement[bool]] = [
            USERS.c[name].is_(wanted) for name, wanted in flags.items() if wanted is not None
        ]
        conditions += [
            or_(*(USERS.c[name].icontains(word, autoescape=True) for name in _SEARCHED)) for word in search.split()
        ]
        if group is not None:
            members = select(MEMBERSHIPS.c.user_id).where(MEMBERSHIPS.c.group_id == group)
            conditions.append(USERS.c.id.in_(members))
        statement = account_columns().where(*conditions)
        order = ordered(ordering, {name: USERS.c[name] for name in _ORDERED}, "username", USERS.c.id)
        with self._database.read() as connection:
            found = read_accounts(connection, statement.order_by(*order).limit(limit).offset(offset))
            if limit is None and not offset:
                return found, len(found)
            total = connection.execute(select(func.count()).select_from(USERS).where(*conditions)).scalar_one()
            return found, total

    def summaries(self, user_ids: Collection[int | None]) -> dict[int, UserSummary]:
        """Return the short form of each account that exists, in one query."""
        wanted = {user_id for user_id in user_ids if user_id is not None}
        if not wanted:
            return {}
        columns = [USERS.c[name] for name in ("id", *_SEARCHED)]
        with self._database.read() as connection:
            rows = connection.execute(select(*columns).where(USERS.c.id.in_(wanted)))
            return {row.id: UserSummary(row.id, row.username, row.first_name, row.last_name, row.email) for row in rows}

    def by_email(self, email: str) -> Sequence[Account]:
        """List the accounts with this e-mail address, whatever its case, oldest first."""
        statement = account_columns().where(USERS.c.email == clean_email(email), USERS.c.email != "")
        with self._database.read() as connection:
            return read_accounts(connection, statement.order_by(USERS.c.id))

    def superusers(self) -> Sequence[Account]:
        """List the active superusers."""
        return self.list(is_superuser=True, is_active=True)[0]

    def owners(self, *, search: str = "") -> Sequence[Owner]:
        """List all active accounts and all groups by name."""
        accounts, _ = self.list(is_active=True)
        with self._database.read() as connection:
            groups = connection.execute(select(GROUPS.c.id, GROUPS.c.name)).all()
        owners = [Owner("group", row.id, row.name, row.name) for row in groups]
        owners += [_owner(account) for account in accounts]
        wanted = search.casefold()
        found = [owner for owner in owners if wanted in owner.name.casefold() or wanted in owner.label.casefold()]
        return sorted(found, key=lambda owner: (owner.name.casefold(), owner.pk))

    def owner(self, pk: int) -> Owner:
        """Return one owner.

        Raises:
            NotFoundError: there is no such owner.

        """
        for owner in self.owners():
            if owner.pk == pk:
                return owner
        raise NotFoundError(f"There is no owner {pk}.")


def _owner(account: Account) -> Owner:
    full_name = f"{account.first_name} {account.last_name}".strip()
    label = f"{account.username} ({full_name})" if full_name else account.username
    return Owner("user", account.id, account.username, label)
