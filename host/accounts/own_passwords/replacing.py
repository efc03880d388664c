"""Putting a new password in the place of an account's old one."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Connection, delete, select, update

from host.accounts.account import USERS, Account, find_account
from host.accounts.sessions.table import PENDING, SESSIONS


def lock_active(connection: Connection, user_id: int) -> Account | None:
    """Return an active account whose password nobody else replaces before this transaction ends."""
    # The weaker of the two locks for writing: rows that only refer to the account, such as sessions, need not wait.
    lock = select(USERS.c.id).where(USERS.c.id == user_id).with_for_update(key_share=True)
    connection.execute(lock)
    return find_account(connection, USERS.c.id == user_id, USERS.c.is_active.is_(True))


def stored_password(connection: Connection, user_id: int) -> str | None:
    """Return the hash of an account's password."""
    return connection.execute(select(USERS.c.password_hash).where(USERS.c.id == user_id)).scalar()


def replace_password(connection: Connection, user_id: int, password_hash: str, moment: datetime) -> None:
    """Write a new password, and end every login that is under way: it was begun with the old one."""
    values = {"password_hash": password_hash, "password_changed": moment}
    connection.execute(update(USERS).where(USERS.c.id == user_id).values(**values))
    connection.execute(delete(PENDING).where(PENDING.c.user_id == user_id))


def end_sessions(connection: Connection, user_id: int, *, but: int | None = None) -> None:
    """End the sessions of an account whose password was replaced, ``but`` left aside."""
    # A session that is at work now may wait for the account, so nobody waits for it; the new password ends it anyway.
    mine = select(SESSIONS.c.id).where(SESSIONS.c.user_id == user_id, SESSIONS.c.id != (but or 0))
    connection.execute(delete(SESSIONS).where(SESSIONS.c.id.in_(mine.with_for_update(skip_locked=True))))
