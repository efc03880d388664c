"""Administrators switch plugins; what is stored, what runs and what is reported agree."""

from __future__ import annotations

import importlib
import shutil
import sys
import threading
from typing import Any

import pytest
from sqlalchemy import event, select

from host.contract.values import User
from host.errors import InvalidInputError, NotFoundError
from host.plugins.lifecycle import PluginInUseError
from host.plugins.reloading import ReloadFlags
from host.storage.tables import METADATA
from tests.plugins.assembly import Host
from tests.plugins.distributions import GOOD, write_plugin

COLLECT = ReloadFlags(collect_plugins=True)
ADMIN = User(id=7, username="admin")


@pytest.fixture
def host(tmp_path, sqlite_url):
    """A host that knows one good plugin."""
    modules, path = set(sys.modules), list(sys.path)
    host = Host(tmp_path, sqlite_url)
    sys.path.append(str(host.site))
    write_plugin(host.site, "lamp")
    host.registries.boot()
    yield host
    host.close()
    sys.path[:] = path
    for name in set(sys.modules) - modules:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(tmp_path)):
            del sys.modules[name]
    importlib.invalidate_caches()


def record(host: Host, key: str) -> dict[str, Any]:
    table = METADATA.tables["plugin_config"]
    with host.database.read() as connection:
        return dict(connection.execute(select(table).where(table.c.key == key)).mappings().one())


def test_switching_a_plugin_on_and_off_loads_and_unloads_it(host):
    """Each change is stored, announced as an event, and a new generation."""
    assert host.plugins.activate("lamp", active=True, by=ADMIN) is True
    assert (list(host.current.plugins), record(host, "lamp")["active"]) == (["lamp"], 1)
    generation = host.current.generation

    assert host.plugins.activate("lamp", active=False, by=ADMIN) is False
    assert (list(host.current.plugins), record(host, "lamp")["active"]) == ([], 0)
    assert host.current.generation == generation + 1
    assert host.events == [
        ("plugin.activated", {"key": "lamp", "active": True}, 7),
        ("plugin.deactivated", {"key": "lamp", "active": False}, 7),
    ]


@pytest.mark.parametrize("active", [True, False])
def test_repeating_changes_nothing(host, active):
    """No event, no new generation."""
    host.plugins.activate("lamp", active=active)
    before = (host.current, list(host.events))

    assert host.plugins.activate("lamp", active=active) is active
    assert (host.current, host.events) == before


def test_an_unknown_plugin_is_not_found(host):
    """By none of the operations."""
    for ask in (
        lambda: host.plugins.activate("none"),
        lambda: host.plugins.delete("none"),
        lambda: host.plugins.metadata("none"),
        lambda: host.plugins.set_metadata("none", {}, merge=True),
    ):
        with pytest.raises(NotFoundError, match="There is no plugin 'none'"):
            ask()


def test_a_mandatory_plugin_stays_on(host, tmp_path, sqlite_url):
    """It can be neither switched off nor deleted."""
    other = Host(tmp_path, sqlite_url, mandatory=("lamp",))
    other.registries.boot()

    with pytest.raises(InvalidInputError) as refused:
        other.plugins.activate("lamp", active=False)
    assert list(refused.value.fields) == ["non_field_errors"]
    with pytest.raises(PluginInUseError, match="mandatory"):
        other.plugins.delete("lamp")
    assert list(other.current.plugins) == ["lamp"]
    other.database.close()


@pytest.mark.parametrize(
    ("code", "stage"),
    [
        pytest.param("1 / 0", "import", id="import"),
        pytest.param("class LampPlugin:\n    def __init__(self): 1 / 0", "init", id="constructor"),
        pytest.param(
            "from host import hookimpl\nclass LampPlugin:\n    @hookimpl\n    def start(self): 1 / 0",
            "init",
            id="start",
        ),
        pytest.param(
            "from host import hookimpl\nclass LampPlugin:\n    @hookimpl\n    def star(self): pass",
            "validate",
            id="hook",
        ),
    ],
)
def test_a_plugin_that_cannot_be_loaded_stays_off(host, code, stage):
    """The caller and the registry status hear why; the registry in use is the same as before."""
    host.plugins.activate("lamp")
    write_plugin(host.site, "bad", code)
    host.registries.reload(COLLECT)
    before = host.current

    with pytest.raises(InvalidInputError, match=rf"Plugin 'bad' cannot be loaded \({stage}\): "):
        host.plugins.activate("bad")

    assert host.current is before
    assert record(host, "bad")["active"] == 0
    assert host.errors() == [(stage, "bad")]


def test_a_failed_plugin_is_probed_again_when_it_is_activated(host):
    """What it lacked may have come meanwhile, which its own fingerprint does not show."""
    write_plugin(host.site, "late", "import comes_later\n" + GOOD.replace("\n    ", "\n"))
    host.registries.reload(COLLECT)
    assert host.errors() == [("import", "late")]
    (host.site / "comes_later.py").write_text("", encoding="utf-8")

    host.plugins.activate("late")

    assert list(host.current.plugins) == ["late"]
    assert host.errors() == []
    assert "settings" in record(host, "late")["mixins"]


def test_a_record_without_code_can_be_switched_without_effect(host):
    """It is stored, and counts when the code returns."""
    shutil.rmtree(host.site / "acme_lamp-1.0.dist-info")
    host.registries.reload(COLLECT)
    row = record(host, "lamp")
    assert (row["is_installed"], row["mixin_keys"]) == (0, ",")

    assert host.plugins.activate("lamp") is True
    assert (record(host, "lamp")["active"], list(host.current.plugins), host.events) == (1, [], [])

    shutil.rmtree(host.site / "__pycache__", ignore_errors=True)
    write_plugin(host.site, "lamp")
    assert list(host.registries.reload(COLLECT).plugins) == ["lamp"]


def test_a_deleted_record_comes_back_inactive_with_another_id(host):
    """Its settings are forgotten with it."""
    before = record(host, "lamp")["id"]

    host.plugins.delete("lamp", by=ADMIN)
    assert host.forgotten == ["lamp"]
    with pytest.raises(NotFoundError):
        host.plugins.activate("lamp")

    host.registries.reload()
    row = record(host, "lamp")
    assert (row["active"], row["is_installed"]) == (0, 1)
    assert row["id"] > before


def test_an_active_plugin_is_not_deleted(host):
    """It has to be switched off first."""
    host.plugins.activate("lamp")

    with pytest.raises(PluginInUseError, match="Deactivate it first"):
        host.plugins.delete("lamp")
    assert (host.forgotten, record(host, "lamp")["active"]) == ([], 1)


def test_concurrent_activations_do_not_lose_one_another(host, tmp_path, sqlite_url):
    """Neither within one process nor between two."""
    keys = [f"lamp{number}" for number in range(4)]
    for key in keys:
        write_plugin(host.site, key)
    other = Host(tmp_path, sqlite_url)
    host.registries.reload(COLLECT)
    other.registries.boot()
    threads = [
        threading.Thread(target=(host if number % 2 else other).plugins.activate, args=(key,))
        for number, key in enumerate(keys)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    for one in (host, other):
        if one.registries.is_stale():
            one.registries.catch_up()
        assert list(one.current.plugins) == keys
    other.database.close()


def test_what_fails_to_be_stored_is_not_used(host, monkeypatch):
    """The plugin that was started for it is stopped again."""
    code = """
        from host import hookimpl
        log = []
        class LampPlugin:
            @hookimpl
            def start(self):
                log.append(1)
            @hookimpl
            def stop(self):
                log.append(0)
    """
    write_plugin(host.site, "desk", code)
    host.registries.reload(COLLECT)
    before = host.current
    monkeypatch.setattr(host.plugins, "_emit", lambda *_: 1 / 0)

    with pytest.raises(ZeroDivisionError):
        host.plugins.activate("desk")

    assert host.current is before
    assert record(host, "desk")["active"] == 0
    assert sys.modules["desk"].log == [1, 0]


def test_metadata_are_replaced_or_merged_at_the_top_level(host):
    """They begin as an empty object and must stay an object."""
    assert host.plugins.metadata("lamp") == {}
    host.plugins.set_metadata("lamp", {"a": {"x": 1}, "b": None}, merge=False)

    assert host.plugins.set_metadata("lamp", {"a": {"y": 2}}, merge=True) == {"a": {"y": 2}, "b": None}
    assert host.plugins.set_metadata("lamp", {"c": 3}, merge=False) == {"c": 3}
    assert host.plugins.metadata("lamp") == {"c": 3}
    with pytest.raises(InvalidInputError) as refused:
        host.plugins.set_metadata("lamp", ["no object"], merge=True)
    assert list(refused.value.fields) == ["metadata"]


def test_the_record_tells_all_about_a_plugin_that_is_off(host):
    """Ten members of meta, and the mixins, without the plugin being imported."""
    row = record(host, "lamp")

    assert row["meta"] == {
        "slug": "lamp",
        "human_name": "A lamp",
        "description": "What acme-lamp does",
        "author": None,
        "pub_date": None,
        "version": "1.0",
        "website": None,
        "license": None,
        "package_path": "lamp",
        "settings_url": "/api/plugins/lamp/settings/",
    }
    assert row["mixins"]["action"] == {"key": "action", "human_name": "Actions"}
    assert row["mixin_keys"] == ",action,base,settings,"
    assert (row["name"], row["package_name"], row["is_package"]) == ("LampPlugin", "acme-lamp", True)


def test_records_that_say_the_same_are_not_written_again(host):
    """A reload of a thousand plugins changes only what has changed."""
    written = []

    @event.listens_for(host.database.engine, "before_cursor_execute")
    def note(_connection, _cursor, statement, *_rest):
        if "plugin_config" in statement and not statement.startswith("SELECT"):
            written.append(statement)

    host.registries.reload(ReloadFlags(collect_plugins=True, force_reload=True))

    assert written == []
