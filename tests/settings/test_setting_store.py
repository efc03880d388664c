"""Stored setting values."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from sqlalchemy import func, insert, select

from host.accounts.account import USERS
from host.plugins.setting_store import SETTING_TABLE, USER_SETTING_TABLE, all_of, settings_of
from host.settings.store import SettingStore
from host.storage.engine import Database


def add_user(database: Database, name: str) -> int:
    """Add an account and return its id."""
    with database.write() as session:
        values = {"username": name, "username_folded": name, "first_name": "", "last_name": "", "email": ""}
        statement = insert(USERS).values(values).returning(USERS.c.id)
        return int(session.connection().execute(statement).scalar_one())


def put(store: SettingStore, database: Database, text: str, user_id: int | None = None, key: str = "SIZE") -> int:
    """Store one value and return the row's id."""
    with database.write() as session:
        return store.write(session, settings_of("lamp", user_id), key, text).pk


def test_a_value_is_kept_under_one_id(database):
    """Writing again changes the row; other plugins see nothing of it."""
    store = SettingStore(database)

    first = put(store, database, "1")

    assert put(store, database, "2") == first
    assert {key: (one.pk, one.text) for key, one in store.read(settings_of("lamp")).items()} == {"SIZE": (first, "2")}
    assert store.read(settings_of("other")) == {}


def test_each_user_has_own_values(database):
    """Users read their own; the plugin's own setting of that name is another one."""
    ada, bob = add_user(database, "ada"), add_user(database, "bob")
    store = SettingStore(database)
    put(store, database, "a", ada)
    put(store, database, "b", bob)

    assert store.read(settings_of("lamp", ada))["SIZE"].text == "a"
    assert store.read(settings_of("lamp", bob))["SIZE"].text == "b"
    assert store.read(settings_of("lamp")) == {}


def test_values_go_with_their_user(database):
    """Whoever gets the id later must not find them."""
    ada = add_user(database, "ada")
    store = SettingStore(database)
    put(store, database, "a", ada)
    with database.write() as session:
        session.connection().execute(USERS.delete())

    assert store.read(settings_of("lamp", ada)) == {}


def test_first_writes_at_once_end_with_one_row(database):
    """Nobody gets an error, and one of the values is stored."""
    store = SettingStore(database)
    start = threading.Barrier(6)
    ids: list[int] = []

    def write(number: int) -> None:
        start.wait()
        ids.append(put(store, database, str(number)))

    threads = [threading.Thread(target=write, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(ids) == 6
    assert len(set(ids)) == 1
    with database.read() as connection:
        assert connection.execute(select(func.count()).select_from(SETTING_TABLE)).scalar() == 1


def test_memory_is_used_until_a_write_is_kept(sqlite_database):
    """Reads cost no query while nothing changes, and see a change of their own process at once."""
    store = SettingStore(sqlite_database, max_age=1e9)
    put(store, sqlite_database, "1")
    first = store.cached(settings_of("lamp"))

    assert store.cached(settings_of("lamp")) is first
    put(store, sqlite_database, "2")
    assert store.cached(settings_of("lamp"))["SIZE"].text == "2"


def test_another_process_notices_by_the_signal_file(sqlite_database, tmp_path: Path):
    """Two stores stand for two processes of a machine; however fast the writes follow, each is seen."""
    signal = tmp_path / "settings.generation"
    here = SettingStore(sqlite_database, signal, max_age=1e9)
    there = SettingStore(sqlite_database, signal, max_age=1e9)

    for number in range(20):
        put(here, sqlite_database, str(number))
        assert there.cached(settings_of("lamp"))["SIZE"].text == str(number)


def test_another_machine_notices_after_a_while(sqlite_database):
    """Without a common file, memory is used for a second and no longer."""
    seconds = [0.0]
    here = SettingStore(sqlite_database)
    there = SettingStore(sqlite_database, clock=lambda: seconds[0])
    put(here, sqlite_database, "1")
    there.cached(settings_of("lamp"))
    put(here, sqlite_database, "2")

    assert there.cached(settings_of("lamp"))["SIZE"].text == "1"
    seconds[0] += 1.1
    assert there.cached(settings_of("lamp"))["SIZE"].text == "2"


def test_a_write_that_is_rolled_back_leaves_nothing(sqlite_database):
    """Memory never shows what was not committed."""
    store = SettingStore(sqlite_database, max_age=1e9)
    put(store, sqlite_database, "1")
    with pytest.raises(ZeroDivisionError), sqlite_database.write() as session:  # noqa: PT012 - it fails after the writing
        store.write(session, settings_of("lamp"), "SIZE", "2")
        raise ZeroDivisionError

    assert store.cached(settings_of("lamp"))["SIZE"].text == "1"


def test_forgetting_a_plugin_takes_its_users_values_too(database):
    """Other plugins keep theirs."""
    store = SettingStore(database)
    put(store, database, "1")
    put(store, database, "1", add_user(database, "ada"))
    with database.write() as session:
        store.write(session, settings_of("other"), "SIZE", "1")
        for scope in all_of("lamp"):
            store.delete(session, scope)

    with database.read() as connection:
        assert connection.execute(select(SETTING_TABLE.c.plugin_key)).scalars().all() == ["other"]
        assert connection.execute(select(USER_SETTING_TABLE.c.plugin_key)).scalars().all() == []
