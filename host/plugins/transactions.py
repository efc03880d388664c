"""The transaction that a plugin has open, so that settings and events written meanwhile become part of it."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple, cast

from sqlmodel import Session as SQLModelSession

from host.storage.engine import Database

_LOG = logging.getLogger("plugyard.plugins.transactions")


class _Open(NamedTuple):
    owner: str
    ident: int
    session: SQLModelSession
    outer: _Open | None


_OPEN: ContextVar[_Open | None] = ContextVar("plugyard_open_session", default=None)
innermost = _OPEN.get
"""Return the transaction that was begun last in this context, for :func:`end_left_open`."""


@contextmanager
def transaction(database: Database, owner: str) -> Iterator[SQLModelSession]:
    """Open a session in a transaction; inside another one of the same owner it is a savepoint of that.

    A second transaction beside the open one would wait for a lock that only the first can give back.
    """
    outer = open_session(owner)
    if outer is not None:
        with outer.begin_nested():
            yield outer
        return
    mine: _Open | None = None
    before = _OPEN.get()
    try:
        with database.write() as opened:
            mine = _Open(owner, threading.get_ident(), cast("SQLModelSession", opened), before)
            _OPEN.set(mine)
            yield mine.session
    finally:
        # One that could not even be rolled back stays known, for end_left_open. A generator of a plugin may be closed
        # in another context than it was begun in.
        if mine is not None and _OPEN.get() is mine and not mine.session.in_transaction():
            _OPEN.set(before)


def open_session(owner: str) -> SQLModelSession | None:
    """Return the session that the owner has open in this thread, if any."""
    found = _OPEN.get()
    # Threads that the plugin starts may inherit the variable; a session serves one thread only.
    if found is None or found[:2] != (owner, threading.get_ident()) or not found.session.in_transaction():
        return None
    return found.session


def end_left_open(before: object) -> None:
    """Roll back what plugins have begun in this thread and context and left open; ``before`` stays as it is.

    Called where plugin code has come back for good. On SQLite a transaction left open would keep every writer waiting.
    """
    found = _OPEN.get()
    if found is before:
        return
    _OPEN.set(None)
    while found is not None and found is not before:
        if found.ident == threading.get_ident() and found.session.in_transaction():
            _LOG.error("Plugin %s left a database session open; what it wrote in it is rolled back.", found.owner)
            found.session.close()
        found = found.outer
