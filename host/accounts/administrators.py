"""The first administrator, made when nobody is there yet."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field

from sqlalchemy import Connection, select, text

from host.accounts.account import USERS, Account
from host.accounts.changes import insert_account
from host.accounts.password_rules import PasswordRules
from host.accounts.passwords import Passwords
from host.accounts.persons import Problems, check_person
from host.accounts.problems import refuse
from host.storage.engine import Database


@dataclass(frozen=True, slots=True, kw_only=True)
class CreatedAdministrator:
    """The administrator just made."""

    account: Account
    password: str | None = field(repr=False)
    """The password that was made up, to be shown once; ``None`` when one was given."""
    warnings: tuple[str, ...]
    """What the rules have against the given password; it was taken all the same."""


def ensure_administrator(
    database: Database,
    passwords: Passwords,
    name: str,
    password: str | None = None,
    email: str = "",
    *,
    rules: PasswordRules | None = None,
) -> CreatedAdministrator | None:
    """Make an active superuser when there is no account at all; otherwise do nothing and return ``None``.

    Several processes may call it at once: one of them makes the account.

    Args:
        database: where the accounts are.
        passwords: hashes and checks.
        name: username.
        password: when it is empty, one is made up and returned. A weak one is taken, since it was chosen by whoever
            runs the host, and reported in ``warnings``.
        email: address, may be empty.
        rules: what a weak password is.

    Raises:
        RefusedValuesError: name or e-mail address cannot be used.

    """
    with database.read() as connection:
        if _anybody(connection):
            return None
    problems: Problems = {}
    person = check_person({"username": name, "email": email}, problems)
    refuse(problems)
    made_up = None if password else secrets.token_urlsafe(15)
    chosen = password or made_up or ""
    weaknesses = () if made_up else (rules or PasswordRules()).check(chosen, person)
    password_hash = passwords.hash(chosen)
    with database.write() as session:
        connection = session.connection()
        if not database.is_sqlite:
            # SQLite has taken its lock already; here a second process waits until this one has committed.
            connection.execute(text(f"LOCK TABLE {USERS.name} IN SHARE ROW EXCLUSIVE MODE"))
        if _anybody(connection):
            return None
        account = insert_account(connection, person, {"is_staff": True, "is_superuser": True}, password_hash)
    return CreatedAdministrator(
        account=account, password=made_up, warnings=tuple(problem.message for problem in weaknesses)
    )


def _anybody(connection: Connection) -> bool:
    return connection.execute(select(USERS.c.id).limit(1)).first() is not None
