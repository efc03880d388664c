"""Groups of accounts, and the rights that a group gives its members."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass

from sqlalchemy import Connection, RowMapping, UniqueConstraint, delete, insert, select, update
from sqlalchemy.exc import IntegrityError
from sqlmodel import Field

from host.accounts.events import Emit, emit_nothing
from host.accounts.problems import Problem, RefusedValuesError
from host.accounts.roles import ACTIONS, ROLES, Permissions
from host.contract.values import User
from host.errors import NotFoundError
from host.storage.engine import Database
from host.storage.tables import HostTable

_NAME_LENGTH = 150


class AccountGroup(HostTable, table=True):
    """A group."""

    __tablename__ = "account_group"

    id: int | None = Field(default=None, primary_key=True)
    name: str = Field(max_length=_NAME_LENGTH, unique=True)


class AccountMembership(HostTable, table=True):
    """That an account belongs to a group."""

    __tablename__ = "account_membership"

    user_id: int = Field(primary_key=True, foreign_key="account_user.id", ondelete="CASCADE")
    group_id: int = Field(primary_key=True, foreign_key="account_group.id", ondelete="CASCADE", index=True)


class AccountRuleset(HostTable, table=True):
    """What a group may do in one role."""

    __tablename__ = "account_ruleset"
    __table_args__ = (UniqueConstraint("group_id", "name"),)

    id: int | None = Field(default=None, primary_key=True)
    group_id: int = Field(foreign_key="account_group.id", ondelete="CASCADE")
    name: str = Field(max_length=50)
    can_view: bool = False
    can_add: bool = False
    can_change: bool = False
    can_delete: bool = False


GROUPS = HostTable.metadata.tables["account_group"]
MEMBERSHIPS = HostTable.metadata.tables["account_membership"]
RULESETS = HostTable.metadata.tables["account_ruleset"]


@dataclass(frozen=True, slots=True)
class Group:
    """A group as its readers see it."""

    pk: int
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruleset:
    """What a group may do in one role, as its readers see it."""

    pk: int
    name: str
    label: str
    group: int
    can_view: bool
    can_add: bool
    can_change: bool
    can_delete: bool


class Groups:
    """Makes, changes and shows groups and their rule sets.

    Every change takes who makes it; without anybody no event tells of it.

    Args:
        database: where they are.
        emit: sends ``group.created``, ``group.changed``, ``group.deleted`` and ``group.rights_changed``.

    """

    def __init__(self, database: Database, *, emit: Emit = emit_nothing) -> None:
        self._database = database
        self._emit = emit

    def create(self, name: str, *, by: User | None = None) -> Group:
        """Make a group, with an empty rule set for every role.

        Raises:
            RefusedValuesError: the name is empty, too long or taken.

        """
        name = _checked_name(name)
        try:
            with self._database.write() as session:
                connection = session.connection()
                pk = connection.execute(insert(GROUPS).values(name=name).returning(GROUPS.c.id)).scalar_one()
                connection.execute(insert(RULESETS), [_ruleset_row(pk, role) for role in ROLES])
                if by is not None:
                    self._emit(session, "group.created", {"group": pk, "name": name}, by.id)
        except IntegrityError:
            raise _taken(name) from None
        return Group(pk, name)

    def rename(self, group_id: int, name: str, *, by: User | None = None) -> Group:
        """Give a group another name.

        Raises:
            NotFoundError: there is no such group.
            RefusedValuesError: the name is empty, too long or taken.

        """
        name = _checked_name(name)
        try:
            with self._database.write() as session:
                changed = session.connection().execute(update(GROUPS).where(GROUPS.c.id == group_id).values(name=name))
                if not changed.rowcount:
                    raise _no_group(group_id)
                if by is not None:
                    self._emit(session, "group.changed", {"group": group_id, "name": name}, by.id)
        except IntegrityError:
            raise _taken(name) from None
        return Group(group_id, name)

    def delete(self, group_id: int, *, by: User | None = None) -> None:
        """Delete a group; its members lose the rights it gave.

        Raises:
            NotFoundError: there is no such group.

        """
        with self._database.write() as session:
            deleted = (
                session.connection()
                .execute(delete(GROUPS).where(GROUPS.c.id == group_id).returning(GROUPS.c.name))
                .scalar()
            )
            if deleted is None:
                raise _no_group(group_id)
            if by is not None:
                self._emit(session, "group.deleted", {"group": group_id, "name": deleted}, by.id)

    def get(self, group_id: int) -> Group:
        """Return a group.

        Raises:
            NotFoundError: there is no such group.

        """
        with self._database.read() as connection:
            name = connection.execute(select(GROUPS.c.name).where(GROUPS.c.id == group_id)).scalar()
        if name is None:
            raise _no_group(group_id)
        return Group(group_id, name)

    def all(self) -> list[Group]:
        """List every group by name."""
        with self._database.read() as connection:
            rows = connection.execute(select(GROUPS.c.id, GROUPS.c.name).order_by(GROUPS.c.name, GROUPS.c.id))
            return [Group(row.id, row.name) for row in rows]

    def member_ids(self, group_id: int) -> list[int]:
        """List the accounts that belong to a group."""
        mine = MEMBERSHIPS.c.group_id == group_id
        with self._database.read() as connection:
            found = connection.execute(select(MEMBERSHIPS.c.user_id).where(mine).order_by(MEMBERSHIPS.c.user_id))
            return list(found.scalars())

    def rulesets(self, group_id: int | None = None) -> list[Ruleset]:
        """List the rule sets of one group, or all."""
        statement = select(RULESETS).order_by(RULESETS.c.group_id, RULESETS.c.id)
        if group_id is not None:
            statement = statement.where(RULESETS.c.group_id == group_id)
        with self._database.read() as connection:
            return [_ruleset(row) for row in connection.execute(statement).mappings()]

    def rulesets_of(self, group_ids: Collection[int]) -> dict[int, list[Ruleset]]:
        """Return the rule sets of each of some groups."""
        statement = select(RULESETS).where(RULESETS.c.group_id.in_(group_ids)).order_by(RULESETS.c.id)
        found: dict[int, list[Ruleset]] = {group_id: [] for group_id in group_ids}
        with self._database.read() as connection:
            for row in connection.execute(statement).mappings():
                found[row["group_id"]].append(_ruleset(row))
        return found

    def ruleset(self, ruleset_id: int) -> Ruleset:
        """Return a rule set.

        Raises:
            NotFoundError: there is no such rule set.

        """
        with self._database.read() as connection:
            return _find_ruleset(connection, ruleset_id)

    def change_ruleset(self, ruleset_id: int, changes: Mapping[str, bool], *, by: User | None = None) -> Ruleset:
        """Set some of can_view, can_add, can_change and can_delete; what they imply is set too.

        Raises:
            NotFoundError: there is no such rule set.

        """
        with self._database.write() as session:
            connection = session.connection()
            present = _find_ruleset(connection, ruleset_id, lock=True)
            wanted = {name: bool(changes.get(name, getattr(present, name))) for name in _FLAGS}
            values = asdict(Permissions(**wanted).completed())
            connection.execute(update(RULESETS).where(RULESETS.c.id == ruleset_id).values(**values))
            if by is not None and any(getattr(present, name) != value for name, value in values.items()):
                about = {"group": present.group, "role": present.name, **values}
                self._emit(session, "group.rights_changed", about, by.id)
            return _find_ruleset(connection, ruleset_id)

    def grant(self, group_id: int, role: str, permissions: Permissions) -> Ruleset:
        """Set what a group may do in one role.

        Raises:
            NotFoundError: there is no such group or role.

        """
        this = (RULESETS.c.group_id == group_id) & (RULESETS.c.name == role)
        with self._database.read() as connection:
            ruleset_id = connection.execute(select(RULESETS.c.id).where(this)).scalar()
        if ruleset_id is None:
            raise NotFoundError(f"There is no group {group_id} with a role '{role}'.")
        return self.change_ruleset(ruleset_id, asdict(permissions))


_FLAGS = tuple(f"can_{action}" for action in ACTIONS)


def _ruleset_row(group_id: int, role: str) -> dict[str, object]:
    return {"group_id": group_id, "name": role, **dict.fromkeys(_FLAGS, False)}


def _find_ruleset(connection: Connection, ruleset_id: int, *, lock: bool = False) -> Ruleset:
    statement = select(RULESETS).where(RULESETS.c.id == ruleset_id)
    row = connection.execute(statement.with_for_update() if lock else statement).mappings().first()
    if row is None:
        raise NotFoundError(f"There is no rule set {ruleset_id}.")
    return _ruleset(row)


def _ruleset(row: RowMapping) -> Ruleset:
    name = row["name"]
    flags = {flag: bool(row[flag]) for flag in _FLAGS}
    return Ruleset(pk=row["id"], name=name, label=ROLES.get(name, name), group=row["group_id"], **flags)


def _checked_name(name: str) -> str:
    name = name.strip()
    if not name:
        raise RefusedValuesError({"name": [Problem("required", "Enter a name for the group.")]})
    if len(name) > _NAME_LENGTH:
        message = f"A group's name has at most {_NAME_LENGTH} characters; this has {len(name)}."
        raise RefusedValuesError({"name": [Problem("max_length", message)]})
    if not name.isprintable():
        raise RefusedValuesError({"name": [Problem("invalid", "A group's name may not hold control characters.")]})
    return name


def _taken(name: str) -> RefusedValuesError:
    return RefusedValuesError({"name": [Problem("invalid", f"There is a group '{name}' already.")]})


def _no_group(group_id: int) -> NotFoundError:
    return NotFoundError(f"There is no group {group_id}.")
