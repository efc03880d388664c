"""Looking accounts up: lists for the interface, owners, and short forms for other records."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import ColumnElement, func, or_, select

from host.accounts.account import USERS, Account, account_columns, groups_of, read_accounts
from host.accounts.groups import MEMBERSHIPS
from host.accounts.ordering import ordered
from host.accounts.profiles import show_profile
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

    def complete(self, records: Sequence[dict[str, Any]]) -> None:
        """Add the groups to records of the listing of accounts, and show their profiles completely."""
        with self._database.read() as connection:
            groups = groups_of(connection, [record["pk"] for record in records])
        for record in records:
            record["profile"] = show_profile(record["profile"], record.pop("primary_group"))
            record["groups"] = [asdict(group) for group in groups.get(record["pk"], ())]

    def members(self, group_ids: Collection[int]) -> Mapping[int, Sequence[UserSummary]]:
        """Return the members of each of some groups, by username."""
        statement = (
            select(MEMBERSHIPS.c.group_id, *(USERS.c[name] for name in ("id", *_SEARCHED)))
            .join(USERS, USERS.c.id == MEMBERSHIPS.c.user_id)
            .where(MEMBERSHIPS.c.group_id.in_(group_ids))
            .order_by(USERS.c.username, USERS.c.id)
        )
        found: dict[int, Any] = {group_id: [] for group_id in group_ids}
        with self._database.read() as connection:
            for group_id, *summary in connection.execute(statement):
                found[group_id].append(UserSummary(*summary))
        return found

    def superusers(self) -> Sequence[Account]:
        """List the active superusers."""
        return self.list(is_superuser=True, is_active=True)[0]
