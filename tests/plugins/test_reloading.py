"""The registry is replaced as a whole, takes up new code, and survives whatever its plugins do."""

from __future__ import annotations

import importlib
import shutil
import sys
import threading
from pathlib import Path

import pytest
from sqlalchemy import select, update
from sqlmodel import col

from host.plugins.convergence import COMMAND
from host.plugins.manifest import Failure
from host.plugins.records import PluginRecord
from host.plugins.registry_errors import add_error
from host.plugins.reloading import ReloadFlags
from tests.plugins.assembly import Host
from tests.plugins.distributions import GOOD, write_distribution, write_plugin

COLLECT = ReloadFlags(collect_plugins=True)
FORCE = ReloadFlags(force_reload=True)
FULL = ReloadFlags(collect_plugins=True, full_reload=True, force_reload=True)

RECORDING = """
    from host import Plugin, hookimpl

    log = []

    class LampPlugin(Plugin):
        @hookimpl
        def start(self, services):
            log.append(("start", id(self)))

        @hookimpl
        def stop(self):
            log.append(("stop", id(self)))
"""


@pytest.fixture
def host(tmp_path, sqlite_url):
    """A host without plugins."""
    modules, path = set(sys.modules), list(sys.path)
    host = Host(tmp_path, sqlite_url)
    sys.path.append(str(host.site))
    yield host
    host.close()
    sys.path[:] = path
    for name in set(sys.modules) - modules:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(tmp_path)):
            del sys.modules[name]
    importlib.invalidate_caches()


def activated(host: Host, *keys: str) -> None:
    host.registries.boot()
    for key in keys:
        host.plugins.activate(key)


def test_only_active_plugins_are_imported(host):
    """The others are known from their manifests."""
    write_plugin(host.site, "lamp")
    write_plugin(host.site, "desk")
    activated(host, "lamp")

    registry = host.registries.reload(FORCE)

    assert list(registry.known) == ["desk", "lamp"]
    assert list(registry.plugins) == ["lamp"]
    assert registry.actions == {"light": ("lamp",)}
    assert [one.plugin for one in registry.hooks["perform_action"]] == ["lamp"]
    assert "desk" not in sys.modules


def test_new_distributions_are_found_where_that_is_asked_for(host):
    """Collecting is a flag of its own."""
    host.registries.boot()
    write_plugin(host.site, "lamp")

    assert list(host.registries.reload().known) == []
    assert list(host.registries.reload(COLLECT).known) == ["lamp"]


def test_a_plugin_that_stays_is_not_started_again(host):
    """Unless the reload is forced: then it is made anew, and the old one stopped afterwards."""
    write_plugin(host.site, "lamp", RECORDING)
    activated(host, "lamp")
    first = host.object("lamp")

    host.registries.reload(COLLECT)
    assert host.object("lamp") is first

    host.registries.reload(FORCE)
    second = host.object("lamp")
    assert sys.modules["lamp"].log == [("start", id(first)), ("start", id(second)), ("stop", id(first))]


def test_a_module_that_is_a_plugin_is_not_stopped_by_its_own_successor(host):
    """A forced reload gives the same module again."""
    code = """
        from host import hookimpl
        log = []

        @hookimpl
        def start():
            log.append(1)

        @hookimpl
        def stop():
            log.append(0)
    """
    write_distribution(host.site, "acme", {"lamp.py": code}, {"lamp": "lamp"})
    activated(host, "lamp")

    host.registries.reload(FORCE)

    assert sys.modules["lamp"].log == [1]


def package(version: int) -> dict[str, str]:
    return {
        "lamp/__init__.py": "from lamp.plugin import LampPlugin",
        "lamp/plugin.py": (
            "from host import hookimpl\nimport lampdep\nfrom lamp.deep import number\n"
            "class LampPlugin:\n    number = number.NUMBER\n    dep = lampdep.NUMBER\n"
            "    @hookimpl\n    def action_names(self): return [f'light-{number.NUMBER}']"
        ),
        "lamp/deep/__init__.py": "",
        "lamp/deep/number.py": f"NUMBER = {version}",
    }


def install(host: Host, version: int) -> None:
    lamp, dep = host.home / f"store/lamp-{version}", host.home / f"store/dep-{version}"
    write_distribution(lamp, "acme-lamp", package(version), {"lamp": "lamp:LampPlugin"}, version=f"{version}.0")
    write_distribution(dep, "lampdep", {"lampdep.py": f"NUMBER = {version}"}, {}, version=f"{version}.0")
    host.store[:] = [lamp, dep]
    host.packages = version


def test_a_full_reload_takes_up_upgraded_submodules_and_requirements(host):
    """Everything from the store is imported afresh, and the old folders leave the path."""
    install(host, 1)
    activated(host, "lamp")
    assert (host.object("lamp").number, host.object("lamp").dep) == (1, 1)

    install(host, 2)
    registry = host.registries.reload(FULL)

    assert (host.object("lamp").number, host.object("lamp").dep) == (2, 2)
    assert registry.known["lamp"].identity.version == "2.0"
    assert registry.actions == {"light-2": ("lamp",)}
    assert [entry for entry in sys.path if "/store/" in entry] == [str(folder) for folder in host.store]
    assert sys.path.index(str(host.site)) < sys.path.index(str(host.store[0]))
    assert host.registries.status()["package_generation"] == 2


def test_a_plugin_from_the_environment_is_imported_afresh(host):
    """A file that is replaced in place counts, submodules included."""
    write_distribution(host.site, "acme-lamp", {**package(1), "lampdep.py": "NUMBER = 1"}, {"lamp": "lamp:LampPlugin"})
    activated(host, "lamp")
    shutil.rmtree(host.site / "acme_lamp-1.0.dist-info")
    shutil.rmtree(host.site / "lamp")

    write_distribution(
        host.site, "acme-lamp", {**package(2222), "lampdep.py": ""}, {"lamp": "lamp:LampPlugin"}, version="2.0"
    )
    (host.site / "lampdep.py").write_text("NUMBER = 2222", encoding="utf-8")
    host.registries.reload(FULL)

    assert host.object("lamp").number == 2222


def test_an_edited_editable_plugin_is_noticed_by_a_forced_reload(host):
    """Its modules are dropped because its sources have changed."""
    source = host.home / "checkout"
    sys.path.append(str(source))
    write_distribution(host.site, "acme-lamp", {"lamp.py": GOOD}, {"lamp": "lamp:LampPlugin"}, editable=source)
    host.discovery.environment += (source,)
    host.probing._environment += (source,)
    activated(host, "lamp")

    (source / "lamp.py").write_text("class LampPlugin:\n    edited = True\n", encoding="utf-8")
    host.registries.reload(FORCE)

    assert host.object("lamp").edited


def test_a_failing_upgrade_is_reported_and_takes_nothing_else_away(host):
    """The plugin is not loaded then, and the error says so; the others are."""
    write_plugin(host.site, "desk", GOOD.replace("light", "sit"))
    install(host, 1)
    activated(host, "lamp", "desk")

    install(host, 2)
    (host.store[0] / "lamp/plugin.py").write_text(
        "from host import hookimpl\nclass LampPlugin:\n"
        "    @hookimpl\n    def start(self): raise RuntimeError('no bulb')",
        encoding="utf-8",
    )
    host.registries.reload(FULL)

    assert list(host.current.plugins) == ["desk"]
    (error,) = host.registries.status()["registry_errors"]
    assert (error["stage"], error["name"]) == ("init", "lamp")
    assert "no bulb" in error["message"]
    assert error["message"].endswith("The plugin is not loaded any more.")


def test_a_plugin_that_fails_while_starting_leaves_the_others_alone(host, tmp_path):
    """So does one that hangs up at its answers after the start; that one is stopped again."""
    flag = tmp_path / "flag"
    code = f"""
        from pathlib import Path
        from host import hookimpl
        class LampPlugin:
            @hookimpl
            def start(self):
                pass
            @hookimpl
            def stop(self):
                Path({str(flag)!r}).touch()
            @hookimpl
            def event_patterns(self):
                return 1 / 0
    """
    write_plugin(host.site, "bad", code)
    write_plugin(host.site, "lamp")
    host.registries.boot()
    with host.database.write() as session:
        for key in ("bad", "lamp"):
            host.registries.records.set_active(session, key, active=True)

    registry = host.registries.reload()

    assert list(registry.plugins) == ["lamp"]
    assert host.errors() == [("init", "bad")]
    assert flag.exists()


def test_models_reach_the_one_who_makes_tables_before_the_start(host):
    """A plugin may use its tables in `start`."""
    code = """
        from sqlmodel import Field
        from host import Plugin, hookimpl, table_base
        Base = table_base()
        class Shelf(Base, table=True):
            __tablename__ = "lamp_shelf"
            id: int = Field(primary_key=True)
        class LampPlugin(Plugin):
            @hookimpl
            def models(self):
                return [Shelf]
    """
    write_plugin(host.site, "lamp", code)
    activated(host, "lamp")

    assert [(key, [model.__name__ for model in models]) for key, models in host.tables] == [("lamp", ["Shelf"])]


def test_records_of_plugins_can_be_withheld(host):
    """Neither tables nor model types while they are not allowed; afterwards both, without a second start."""
    code = """
        from sqlmodel import Field
        from host import ModelType, Plugin, hookimpl, table_base
        Base = table_base()
        class Shelf(Base, table=True):
            __tablename__ = "lamp_shelf"
            id: int = Field(primary_key=True)
        class LampPlugin(Plugin):
            @hookimpl
            def models(self):
                return [Shelf]
            @hookimpl
            def model_types(self):
                return [ModelType(name="shelf", label="Shelf")]
    """
    host.allows_records = False
    write_plugin(host.site, "lamp", code)
    activated(host, "lamp")
    before = host.registries.current
    assert (host.tables, dict(before.model_types), before.plugins["lamp"].models) == ([], {}, ())

    host.allows_records = True
    registry = host.registries.reload()

    assert [key for key, _ in host.tables] == ["lamp"]
    assert list(registry.model_types) == ["shelf"]
    assert registry.plugins["lamp"].object is before.plugins["lamp"].object
    host.allows_records = False
    assert dict(host.registries.reload().model_types) == {}


def test_names_that_only_one_plugin_can_have_go_to_the_first(host):
    """The other one cannot be activated, and hears why."""
    code = """
        from host import StatusSet, hookimpl
        class LampPlugin:
            @hookimpl
            def status_sets(self):
                return [StatusSet(name="S")]
    """
    write_plugin(host.site, "b", code)
    write_plugin(host.site, "c", code)
    activated(host, "b")

    with pytest.raises(Exception, match="The status set 'S' is taken by plugin 'b'"):
        host.plugins.activate("c")
    assert list(host.current.status_sets) == ["S"]


def test_what_needs_a_restart_stays_as_it_is_and_is_named(host):
    """Compiled modules cannot be loaded twice in one process."""
    extension = Path(str(importlib.import_module("orjson.orjson").__file__))

    def write(version: int) -> None:
        folder = host.home / f"store/lamp-{version}"
        modules = {"lampc/__init__.py": f"class LampPlugin:\n    number = {version}"}
        write_distribution(
            folder,
            "acme-lamp",
            modules,
            {"lamp": "lampc:LampPlugin"},
            version=f"{version}.0",
            extra_record=(f"lampc/{extension.name}",),
        )
        shutil.copy(extension, folder / "lampc" / extension.name)
        host.store[:] = [folder]

    write(1)
    activated(host, "lamp")
    # As if the plugin had imported it.
    sys.modules["lampc.compiled"] = type(sys)("lampc.compiled")
    sys.modules["lampc.compiled"].__file__ = str(host.store[0] / "lampc" / extension.name)
    loaded = host.object("lamp")
    host.registries.reload(FULL)
    assert (host.object("lamp"), host.errors()) == (loaded, [])

    write(2)
    host.registries.reload(FULL)

    assert host.object("lamp") is loaded
    assert host.errors() == [("restart", "lamp")]
    assert host.registries.status()["restart_required"] == ["lamp"]


def test_nobody_ever_sees_an_empty_registry(host):
    """A reload builds aside and replaces with one assignment."""
    write_plugin(host.site, "lamp")
    activated(host, "lamp")
    seen, done = [], threading.Event()

    def ask() -> None:
        while not done.is_set():
            registry = host.current
            answers = host.calls.ask_all(registry.hooks["action_names"])
            seen.append((len(answers), list(registry.plugins), list(registry.actions)))

    threads = [threading.Thread(target=ask) for _ in range(2)]
    for thread in threads:
        thread.start()
    for flags in (FORCE, FULL, COLLECT, FULL):
        host.registries.reload(flags)
    done.set()
    for thread in threads:
        thread.join()

    assert set(map(str, seen)) == {str((1, ["lamp"], ["light"]))}


def test_reloads_that_were_asked_for_meanwhile_share_one(host):
    """Those who wait get the result of the one that began after their call."""
    write_plugin(host.site, "lamp", RECORDING)
    activated(host, "lamp")
    generation = host.current.generation

    with host.registries.exclusive():
        threads = [threading.Thread(target=host.registries.reload, args=(FORCE,)) for _ in range(8)]
        for thread in threads:
            thread.start()
        while next(host.registries._tickets) < 8:
            pass
    for thread in threads:
        thread.join()

    assert host.current.generation == generation + 1


def test_a_reload_forgets_the_errors_of_earlier(host):
    """What is wrong now is all that the status shows."""
    info = write_plugin(host.site, "bad", "1 / 0")
    activated(host)
    assert host.errors() == [("import", "bad")]
    with host.database.write() as session:
        add_error(session, Failure("old", "x", "y"))

    shutil.rmtree(info)
    host.registries.reload(COLLECT)

    assert host.errors() == []


def test_safe_mode_loads_no_plugin_of_others(host, sqlite_url):
    """They stay known and active."""
    write_plugin(host.site, "lamp")
    activated(host, "lamp")
    safe = Host(host.home, sqlite_url, only_builtin=True)

    safe.registries.boot()

    assert (list(safe.current.known), list(safe.current.plugins)) == (["lamp"], [])
    assert safe.registries.status()["active_plugins"] == 1
    safe.database.close()


def test_mandatory_plugins_are_loaded_without_being_asked_for(tmp_path, sqlite_url, host):
    """Their records say that they are active."""
    write_plugin(host.site, "lamp")
    other = Host(tmp_path, sqlite_url, mandatory=("lamp",))

    other.registries.boot()

    assert list(other.current.plugins) == ["lamp"]
    assert other.registries.records.get("lamp").active
    other.database.close()


def test_a_command_beside_a_running_host_does_not_impose_its_own_configuration(tmp_path, sqlite_url, host):
    """What is offered, mandatory or wrong is for the host to say; what is installed shows either way."""
    running = Host(tmp_path, sqlite_url, mandatory=("lamp",))
    write_plugin(host.site, "lamp")
    sample = write_plugin(host.site, "sample")
    running.registries.boot()
    with running.database.write() as session:
        session.execute(update(PluginRecord).where(col(PluginRecord.key) == "sample").values(is_package=False))
        add_error(session, Failure("start", "x", "y"))
    shutil.rmtree(sample)
    write_plugin(host.site, "later")

    command = Host(tmp_path, sqlite_url, kind=COMMAND)
    command.convergence.node = "elsewhere"  # both have the number of this process
    command.registries.boot()
    assert {**_installed(running), "errors": running.errors()} == {
        "lamp": (True, True),
        "sample": (True, False),
        "later": (True, False),
        "errors": [("start", "x")],
    }

    running.registries.stop()
    command.registries.reload(COLLECT)
    assert _installed(command) == {"lamp": (True, False), "sample": (False, False), "later": (True, False)}
    command.close()
    running.database.close()


def _installed(host: Host) -> dict[str, tuple[bool, bool]]:
    record = PluginRecord
    query = select(col(record.key), col(record.is_installed), col(record.is_mandatory))
    with host.database.read() as connection:
        return {key: (installed, mandatory) for key, installed, mandatory in connection.execute(query)}


def test_a_plugin_over_its_budget_is_quarantined_until_an_administrator_reloads(host):
    """It is left out, in the records too, and the status says why."""
    code = "from host import hookimpl\nclass LampPlugin:\n    @hookimpl\n    def on_event(self, event): return 1 / 0"
    write_plugin(host.site, "lamp", code)
    activated(host, "lamp")
    hooks = host.current.hooks["on_event"]

    for _ in range(5):
        host.calls.ask_all(hooks, event=None)
    for thread in threading.enumerate():
        if thread.name == "plugyard-quarantine":
            thread.join()

    assert list(host.current.plugins) == []
    assert host.errors() == [("quarantine", "lamp")]
    assert [one["key"] for one in host.registries.status()["quarantined"]] == ["lamp"]
    assert host.registries.status()["active_plugins"] == 1

    host.registries.reload(by_administrator=True)
    assert (list(host.current.plugins), host.errors()) == (["lamp"], [])
    assert host.calls.quarantined == frozenset()
