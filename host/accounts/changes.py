"""What may be changed of an account, step by step; ``users`` puts the steps together."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from sqlalchemy import Connection, delete, insert, select, union_all, update
from sqlalchemy.exc import IntegrityError

from host.accounts.account import USERS, Account, get_account
from host.accounts.emails.addresses import email_taken, keep_mail_field
from host.accounts.emails.table import EMAILS
from host.accounts.groups import GROUPS, MEMBERSHIPS
from host.accounts.persons import Problems
from host.accounts.problems import Problem, RefusedValuesError
from host.accounts.profiles import DEFAULTS, check_profile
from host.accounts.usernames import username_taken
from host.storage.tables import now

_FOREIGN_KEY_VIOLATION = "23503"  # of PostgreSQL
FLAGS = ("is_active", "is_staff", "is_superuser")

_TOLD = ("username", "first_name", "last_name", "email", *FLAGS, "groups")

_ADMINISTRATORS = (USERS.c.is_superuser.is_(True), USERS.c.is_active.is_(True))


def insert_account(
    connection: Connection,
    person: Mapping[str, str],
    flags: Mapping[str, bool],
    password_hash: str | None,
    *,
    verified: bool = False,
) -> Account:
    """Write a new account and return it; its e-mail address needs no proof when ``verified``."""
    moment = now()
    row: dict[str, object] = {
        "first_name": "",
        "last_name": "",
        "email": "",
        **person,
        "is_active": flags.get("is_active", True),
        "is_staff": flags.get("is_staff", False),
        "is_superuser": flags.get("is_superuser", False),
        "password_hash": password_hash,
        "password_changed": moment if password_hash else None,
        "created": moment,
        "profile": {},
    }
    user_id = connection.execute(insert(USERS).values(**row).returning(USERS.c.id)).scalar_one()
    keep_mail_field(connection, user_id, person.get("email", ""), verified=verified, moment=moment)
    return get_account(connection, user_id)


def lock_account(connection: Connection, user_id: int) -> Account:
    """Return an account that nobody else can change before this transaction ends.

    Raises:
        NotFoundError: there is no such account.

    """
    # Two changes of one profile would overwrite each other where transactions run side by side.
    connection.execute(select(USERS.c.id).where(USERS.c.id == user_id).with_for_update())
    return get_account(connection, user_id)


def has_username(connection: Connection, folded: str, *, but: int | None = None) -> bool:
    """Tell whether an account goes by the folded username, ``but`` left aside.

    The e-mail addresses of an account count too: with one as a name, somebody else would come first at sign-in. Beside
    the mail field only proved ones do, or anybody could block a name.
    """
    named = select(USERS.c.id).where((USERS.c.username_folded == folded) | (USERS.c.email == folded))
    proved = select(EMAILS.c.user_id).where(EMAILS.c.email == folded, EMAILS.c.verified.is_(True))
    if but is not None:
        named, proved = named.where(USERS.c.id != but), proved.where(EMAILS.c.user_id != but)
    return connection.execute(union_all(named, proved).limit(1)).first() is not None


def checked_flags(values: Mapping[str, object], problems: Problems) -> dict[str, bool]:
    """Return the flags that are given, as columns to write."""
    flags = {name: values[name] for name in FLAGS if name in values}
    for name, value in flags.items():
        if not isinstance(value, bool):
            problems[name] = [Problem("invalid", "Say true or false.")]
    return {name: value for name, value in flags.items() if isinstance(value, bool)}


def checked_groups(connection: Connection, values: Mapping[str, object], problems: Problems) -> list[int] | None:
    """Return the member ``group_ids`` without doubles; ``None`` when it is not given."""
    if "group_ids" not in values:
        return None
    wanted = values["group_ids"]
    if not isinstance(wanted, Collection) or isinstance(wanted, str) or not all(type(pk) is int for pk in wanted):
        problems["group_ids"] = [Problem("invalid_list", "Give a list of the ids of groups.")]
        return None
    ids = sorted(set(wanted))
    known = set(connection.execute(select(GROUPS.c.id)).scalars())
    missing = [pk for pk in ids if pk not in known]
    if missing:
        listed = ", ".join(map(str, missing))
        problems["group_ids"] = [Problem("invalid_choice", f"There is no group {listed}.")]
    return ids


def set_groups(connection: Connection, user_id: int, group_ids: Collection[int]) -> None:
    """Make these the groups of an account; a primary group that is not among them goes."""
    connection.execute(delete(MEMBERSHIPS).where(MEMBERSHIPS.c.user_id == user_id))
    if group_ids:
        rows = [{"user_id": user_id, "group_id": group_id} for group_id in group_ids]
        connection.execute(insert(MEMBERSHIPS), rows)
    gone = USERS.c.primary_group_id.not_in(group_ids)
    connection.execute(update(USERS).where(USERS.c.id == user_id, gone).values(primary_group_id=None))


def profile_columns(account: Account, values: Mapping[str, object], problems: Problems) -> dict[str, Any]:
    """Return the columns that hold a profile after the given members are changed."""
    checked = check_profile(values, problems)
    present = {name: account.profile[name] for name in DEFAULTS}
    columns: dict[str, Any] = {"profile": present | checked}
    if "primary_group" in values:
        group_id = values["primary_group"]
        if group_id is not None and group_id not in [group.pk for group in account.groups]:
            message = "Choose one of the groups that the account belongs to."
            problems["primary_group"] = [Problem("invalid_choice", message)]
        columns["primary_group_id"] = group_id
    return columns


def differences(before: Account, after: Account) -> list[str]:
    """Name the members that a change has changed."""
    return [name for name in _TOLD if getattr(before, name) != getattr(after, name)]


def lock_administrators(connection: Connection) -> None:
    """Let nobody else take an administrator away before this transaction ends; call it before any other lock."""
    # Always in the same order: two administrators who remove each other must wait, not stand in each other's way.
    connection.execute(select(USERS.c.id).where(*_ADMINISTRATORS).order_by(USERS.c.id).with_for_update())


def keep_an_administrator(connection: Connection, before: Account) -> None:
    """Check that somebody is left who may do everything, after an account was changed or deleted.

    Raises:
        RefusedValuesError: the account was the last active superuser.

    """
    if not (before.is_superuser and before.is_active):
        return
    if connection.execute(select(USERS.c.id).where(*_ADMINISTRATORS).limit(1)).first() is None:
        message = f"'{before.username}' is the last active superuser. Make somebody else one first."
        raise RefusedValuesError({"non_field_errors": [Problem("invalid", message)]})


def explain_clash(error: IntegrityError, username: str) -> Exception:
    """Return what to raise when the database refused to write an account."""
    # PostgreSQL repeats values in its text, which may look like anything; SQLite names columns only.
    violated = getattr(getattr(error.orig, "diag", None), "constraint_name", None) or str(error.orig)
    if "username_folded" in violated:
        return RefusedValuesError({"username": [username_taken(username)]})
    if "account_email" in violated:
        return email_taken("email")
    if getattr(error.orig, "sqlstate", None) == _FOREIGN_KEY_VIOLATION or "FOREIGN KEY" in violated:
        return RefusedValuesError({"group_ids": [Problem("invalid_choice", "A group was deleted just now.")]})
    return error
