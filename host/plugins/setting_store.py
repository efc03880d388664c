"""The stored values of plugin settings, and a picture of them that is cheap to read."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Column, Connection, ForeignKey, UniqueConstraint, delete, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session
from sqlmodel import Field

from host.accounts.account import USERS
from host.plugins.setting_values import KEY_LENGTH, VALUE_LENGTH, Stored
from host.plugins.transactions import at_end
from host.storage.engine import Database
from host.storage.tables import HostTable

_PLUGIN_KEY_LENGTH = 255


class PluginSettingRecord(HostTable, table=True):
    """A value of a plugin's setting."""

    __tablename__ = "plugin_setting"
    __table_args__ = (UniqueConstraint("plugin_key", "key"),)

    id: int | None = Field(default=None, primary_key=True)
    plugin_key: str = Field(max_length=_PLUGIN_KEY_LENGTH)
    key: str = Field(max_length=KEY_LENGTH)
    value: str = Field(max_length=VALUE_LENGTH)


class PluginUserSettingRecord(HostTable, table=True):
    """A user's value of a plugin's user setting."""

    __tablename__ = "plugin_user_setting"
    __table_args__ = (UniqueConstraint("plugin_key", "user_id", "key"),)

    id: int | None = Field(default=None, primary_key=True)
    plugin_key: str = Field(max_length=_PLUGIN_KEY_LENGTH)
    user_id: int = Field(sa_column=Column(ForeignKey(USERS.c.id, ondelete="CASCADE"), nullable=False, index=True))
    key: str = Field(max_length=KEY_LENGTH)
    value: str = Field(max_length=VALUE_LENGTH)


SETTING_TABLE = HostTable.metadata.tables["plugin_setting"]
USER_SETTING_TABLE = HostTable.metadata.tables["plugin_user_setting"]

Values = Mapping[str, Stored]
"""Setting key → what is stored."""


class _Page:
    """What was read since one state of the signal file."""

    def __init__(self, token: object, until: float) -> None:
        self.token = token
        self.until = until
        self.values: dict[tuple[str, int | None], Values] = {}


class SettingStore:
    """Reads and writes stored values; ``user_id`` is ``None`` for the settings of the plugin itself.

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

    def read(self, plugin: str, user_id: int | None, session: Session | None = None) -> Values:
        """Return the stored values as the database has them now, or as the session sees them."""
        with self._connection(session) as connection:
            table, owner = _owner(plugin, user_id)
            rows = connection.execute(select(table.c.key, table.c.id, table.c.value).where(*owner))
            return {key: Stored(pk, value) for key, pk, value in rows}

    def cached(self, plugin: str, user_id: int | None) -> Values:
        """Return the stored values, from memory where that is fresh."""
        token = self._token()
        page = self._page
        if page is None or page.token != token or page.until < self._clock():
            page = self._page = _Page(token, self._clock() + self._max_age)
        values = page.values.get((plugin, user_id))
        if values is None:
            # A write that is kept meanwhile replaces the page, so that what is read here is never kept too long.
            values = page.values[plugin, user_id] = self.read(plugin, user_id)
        return values

    def write(self, session: Session, plugin: str, user_id: int | None, key: str, text: str) -> Stored:
        """Store a value, whether or not there was one; two first writes at once end with one row."""
        table, _ = _owner(plugin, user_id)
        values: dict[str, Any] = {"plugin_key": plugin, "key": key, "value": text}
        if user_id is not None:
            values["user_id"] = user_id
        connection = session.connection()
        insert: Callable[..., Any] = postgresql.insert if connection.dialect.name == "postgresql" else sqlite.insert
        names = [name for name in values if name != "value"]
        statement = insert(table).values(values).on_conflict_do_update(index_elements=names, set_={"value": text})
        pk: int = connection.execute(statement.returning(table.c.id)).scalar_one()
        at_end(session, self.changed)
        return Stored(pk, text)

    def forget(self, session: Session, plugin: str) -> None:
        """Delete all values of a plugin, those of its users included."""
        for table in (SETTING_TABLE, USER_SETTING_TABLE):
            session.connection().execute(delete(table).where(table.c.plugin_key == plugin))
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


def _owner(plugin: str, user_id: int | None) -> tuple[Any, list[Any]]:
    if user_id is None:
        return SETTING_TABLE, [SETTING_TABLE.c.plugin_key == plugin]
    table = USER_SETTING_TABLE
    return table, [table.c.plugin_key == plugin, table.c.user_id == user_id]
