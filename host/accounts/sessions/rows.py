"""Sessions and pending logins, read from and written to their tables."""

from __future__ import annotations

import secrets
import string
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, bindparam, insert, select, update
from sqlalchemy import delete as delete_rows

from host.accounts.digests import token_digest
from host.accounts.sessions.state import Caller, Pending, SessionState
from host.accounts.sessions.table import AGENT_LENGTH, PENDING, SESSIONS

KEY_LENGTH = 32

_ALPHABET = string.ascii_lowercase + string.digits
_PLAIN = ("id", "user_id", "password_changed", "methods", "data", "created", "last_seen")
_PENDING = ("user_id", "stage", "methods", "facts", "state", "started")
_READ = (
    select(
        *(SESSIONS.c[name] for name in _PLAIN),
        PENDING.c.session_id,
        *(PENDING.c[name].label(f"pending_{name}") for name in _PENDING),
    )
    .outerjoin(PENDING, PENDING.c.session_id == SESSIONS.c.id)
    .where(
        SESSIONS.c.digest == bindparam("digest"), SESSIONS.c.expires > bindparam("now", type_=SESSIONS.c.expires.type)
    )
)
_LOCK = select(SESSIONS.c.id).where(SESSIONS.c.digest == bindparam("digest")).with_for_update()


def new_key() -> str:
    """Return a key that nobody can guess: 165 random bits, as text of the form that clients know."""
    return "".join(secrets.choice(_ALPHABET) for _ in range(KEY_LENGTH))


def read(connection: Connection, key: str, now: datetime, *, lock: bool) -> SessionState | None:
    """Return a session that lives, by its key."""
    digest = token_digest(key)
    if lock:
        # First, in a statement of its own: one that has to wait still sees the pending login as it was before.
        connection.execute(_LOCK, {"digest": digest})
    row = connection.execute(_READ, {"digest": digest, "now": now}).first()
    if row is None:
        return None
    pending = None
    if row.session_id is not None:
        pending = Pending(**{name: getattr(row, f"pending_{name}") for name in _PENDING})
    return SessionState(**{name: getattr(row, name) for name in _PLAIN}, pending=pending)


def write(
    connection: Connection, state: SessionState, caller: Caller, *, key: str | None, now: datetime, expires: datetime
) -> None:
    """Write a session; ``key`` is a new key for it."""
    values: dict[str, Any] = {
        "user_id": state.user_id,
        "password_changed": state.password_changed,
        "methods": state.methods,
        "data": state.data,
        "user_agent": caller.user_agent[:AGENT_LENGTH],
        "address": caller.address[:64],
        "last_seen": now,
        "expires": expires,
    }
    if key is not None:
        values["digest"] = token_digest(key)
    if state.id is None:
        state.created = now
        values |= {"client": str(caller.client), "created": now}
        state.id = connection.execute(insert(SESSIONS).values(**values).returning(SESSIONS.c.id)).scalar_one()
    else:
        values["created"] = state.created
        connection.execute(update(SESSIONS).where(SESSIONS.c.id == state.id).values(**values))
        connection.execute(delete_rows(PENDING).where(PENDING.c.session_id == state.id))
    if state.pending is not None:
        row = {name: getattr(state.pending, name) for name in _PENDING}
        connection.execute(insert(PENDING).values(session_id=state.id, **row))


def delete(connection: Connection, session_id: int) -> None:
    """Delete a session."""
    connection.execute(delete_rows(SESSIONS).where(SESSIONS.c.id == session_id))
