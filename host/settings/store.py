"""The stored values of settings, and a picture of them that is cheap to read."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from sqlalchemy import Connection, Table, delete, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from host.settings.values import Stored
from host.storage.endings import at_end
from host.storage.engine import Database

Values: TypeAlias = Mapping[str, Stored]
"""Setting key → what is stored."""


@dataclass(frozen=True, slots=True)
class Scope:
    """Whose settings: a table with the columns ``id``, ``key`` and ``value``, and those that name the owner.

    The columns of the owner and ``key`` together are unique in the table.
    """

    table: Table
    owner: tuple[tuple[str, str | int], ...] = ()
    """Column → value."""


class _Page:
    """What was read since one state of the signal file."""

    def __init__(self, token: object, until: float) -> None:
        self.token = token
        self.until = until
        self.values: dict[Scope, Values] = {}


class SettingStore:
    """Reads and writes stored values.

    :meth:`cached` answers from memory. A write drops that memory in its own process at once, and in the other processes
    of the machine too: it lengthens a signal file, whose size they compare at each read. Between machines, memory
    older than ``max_age`` seconds is not used.
    """

    def __init__(
        self,
        database: Database,
        signal: Path | None = None,
        *,
        max_age: float = 1.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._database = database
        self._signal = signal
        self._max_age = max_age
        self._clock = clock
        self._page: _Page | None = None

    def read(self, scope: Scope, session: Session | None = None) -> Values:
        """Return the stored values as the database has them now, or as the session sees them."""
        table = scope.table
        where = [table.c[name] == value for name, value in scope.owner]
        with self._connection(session) as connection:
            rows = connection.execute(select(table.c.key, table.c.id, table.c.value).where(*where))
            return {key: Stored(pk, value) for key, pk, value in rows}

    def cached(self, scope: Scope) -> Values:
        """Return the stored values, from memory where that is fresh."""
        token = self._token()
        page = self._page
        if page is None or page.token != token or page.until < self._clock():
            page = self._page = _Page(token, self._clock() + self._max_age)
        values = page.values.get(scope)
        if values is None:
            # A write that is kept meanwhile replaces the page, so that what is read here is never kept too long.
            values = page.values[scope] = self.read(scope)
        return values

    def write(self, session: Session, scope: Scope, key: str, text: str) -> Stored:
        """Store a value, whether or not there was one; two first writes at once end with one row."""
        statement, unique = _insert(session, scope, key, text)
        statement = statement.on_conflict_do_update(index_elements=unique, set_={"value": text})
        pk: int = session.connection().execute(statement.returning(scope.table.c.id)).scalar_one()
        at_end(session, self.changed)
        return Stored(pk, text)

    def write_first(self, session: Session, scope: Scope, key: str, text: str) -> None:
        """Store a value where there is none yet."""
        statement, unique = _insert(session, scope, key, text)
        session.connection().execute(statement.on_conflict_do_nothing(index_elements=unique))
        at_end(session, self.changed)

    def delete(self, session: Session, scope: Scope) -> None:
        """Delete all values of a scope."""
        where = [scope.table.c[name] == value for name, value in scope.owner]
        session.connection().execute(delete(scope.table).where(*where))
        at_end(session, self.changed)

    def changed(self) -> None:
        """Let this and the other processes read afresh."""
        self._page = None
        if self._signal is not None:
            # Time stamps are too coarse to tell two writes apart; the size is not.
            with self._signal.open("ab") as file:
                file.write(b".")

    def _token(self) -> object:
        if self._signal is None:
            return None
        try:
            state = self._signal.stat()
        except FileNotFoundError:
            return None
        return state.st_ino, state.st_size

    @contextmanager
    def _connection(self, session: Session | None) -> Iterator[Connection]:
        if session is not None:
            yield session.connection()
            return
        with self._database.read() as connection:
            yield connection


def _insert(session: Session, scope: Scope, key: str, text: str) -> tuple[Any, list[str]]:
    is_postgres = session.connection().dialect.name == "postgresql"
    insert: Callable[..., Any] = postgresql.insert if is_postgres else sqlite.insert
    names: dict[str, Any] = {**dict(scope.owner), "key": key}
    return insert(scope.table).values({**names, "value": text}), list(names)
