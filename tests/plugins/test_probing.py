"""A probe describes plugins from outside; whatever a plugin does, the host learns of it and lives on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from host.plugins.discovery import Discovery
from host.plugins.manifest import Manifest, PluginManifest
from host.plugins.manifests import Composer, ManifestStore, arrange
from host.plugins.probing import Limits, Probing
from tests.plugins.distributions import GOOD, write_distribution, write_plugin

LIMITS = Limits(seconds=15, memory=1024**3)


class Bench:
    """Discovery and probing over one folder."""

    def __init__(self, root: Path, limits: Limits = LIMITS, *, version: str = "1") -> None:
        self.root = root
        self.site = root / "site-packages"
        self.kept = root / "manifests"
        self.probing = self.make(limits, version)

    def make(self, limits: Limits, version: str = "1") -> Probing:
        store = ManifestStore(self.kept, host_version=version)
        composer = Composer(mandatory=("must",))
        return Probing(store=store, composer=composer, environment=[self.site], limits=limits)

    def manifests(self, *, retry: bool = False) -> tuple[Manifest, ...]:
        found = Discovery(store_folders=tuple, environment=[self.site]).find(fresh=True)
        return self.probing.manifests(found.distributions, [], retry=(lambda _one, _age: True) if retry else None)

    def plugin(self, key: str) -> PluginManifest:
        return arrange(self.manifests())[0][key]


@pytest.fixture
def bench(tmp_path):
    """Probing with limits that fit a test."""
    return Bench(tmp_path)


def test_a_good_plugin_is_described_completely(bench):
    """Its manifest says what it is, what it implements and what it declares."""
    write_plugin(bench.site, "lamp")

    plugin = bench.plugin("lamp")

    assert plugin.failure is None
    assert (plugin.identity.title, plugin.identity.name, plugin.identity.version) == ("A lamp", "LampPlugin", "1.0")
    assert plugin.identity.description == "What acme-lamp does"
    assert set(plugin.hooks) == {"plugin_settings", "action_names", "perform_action"}
    assert dict(plugin.mixins) == {"base": "Base", "action": "Actions", "settings": "Settings"}
    assert (plugin.settings, plugin.actions) == (("COLOR",), ("light",))
    assert (plugin.is_package, plugin.is_builtin, plugin.is_mandatory) == (True, False, False)
    assert "lamp" not in sys.modules


HOSTILE = {
    "exits at once": ("import os; os._exit(3)", "import", "ended the probe process with exit code 3 while being"),
    "calls sys.exit": ("import sys; sys.exit(4)", "import", "called sys.exit(4) while being imported"),
    "is killed": (
        "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)",
        "import",
        "was killed by signal 11 while being imported",
    ),
    "kills its group": ("import os; os.killpg(0, 9)", "import", "was killed by signal 9 while being imported"),
    "has a syntax error": ("def x(:", "import", "SyntaxError: invalid syntax (bad.py, line 1)"),
    "lacks a module": (
        "import nowhere_to_be_found",
        "import",
        "No module named 'nowhere_to_be_found' (bad.py, line 1)",
    ),
    "lacks the class": ("x = 1", "import", "module bad has no 'LampPlugin', which the entry point names"),
    "raises what is no Exception": ("raise BaseException('odd')", "import", "BaseException: odd (bad.py, line 1)"),
    "takes all memory": ("x = bytearray(4 * 1024**3)", "import", "ran out of memory while being imported"),
    "fills memory bit by bit": ("x = []\nwhile True: x.append('x' * 9999999)", "import", "ran out of memory"),
    "implements an unknown hook": (
        "from host import hookimpl\nclass LampPlugin:\n    @hookimpl\n    def perform_acton(self): pass",
        "validate",
        "perform_action",
    ),
    "has a wrong signature": (
        "from host import hookimpl\nclass LampPlugin:\n    @hookimpl\n    def perform_action(self, actoin, data): pass",
        "validate",
        "perform_action(action: str, data: Json, user: User) -> ActionResult | None",
    ),
    "fails in its constructor": (
        "class LampPlugin:\n    def __init__(self): raise RuntimeError('no bulb')",
        "init",
        "RuntimeError: no bulb (bad.py, line 2)",
    ),
    "exits in its constructor": (
        "import os\nclass LampPlugin:\n    def __init__(self): os._exit(0)",
        "init",
        "ended the probe process with exit code 0 while being set up",
    ),
    "declares nonsense": (
        "from host import hookimpl\nclass LampPlugin:\n    @hookimpl\n    def plugin_settings(self): return ['COLOR']",
        "init",
        "plugin_settings",
    ),
    "declares the same twice": (
        """
        from host import Setting, hookimpl
        class LampPlugin:
            @hookimpl
            def plugin_settings(self):
                return [Setting(key='A', name='a'), Setting(key='A', name='b')]
        """,
        "init",
        "plugin_settings gives A more than once",
    ),
    "fails in a declaration": (
        "from host import hookimpl\nclass LampPlugin:\n    @hookimpl\n    def routes(self): return 1 / 0",
        "init",
        "ZeroDivisionError: division by zero (bad.py, line 4)",
    ),
}


@pytest.mark.parametrize(("code", "stage", "said"), HOSTILE.values(), ids=HOSTILE)
def test_a_plugin_that_cannot_be_used_is_described_by_its_failure(bench, code, stage, said):
    """Stage and reason are right; what its metadata say is known all the same."""
    write_plugin(bench.site, "bad", code)

    plugin = bench.plugin("bad")

    assert plugin.failure is not None
    assert (plugin.failure.stage, plugin.failure.name) == (stage, "bad")
    assert said in plugin.failure.message
    assert (plugin.identity.version, plugin.identity.description) == ("1.0", "What acme-bad does")


@pytest.mark.parametrize(
    ("code", "stage", "doing"),
    [
        pytest.param("while True: pass", "import", "imported", id="import"),
        pytest.param(
            "class LampPlugin:\n    def __init__(self):\n        while True: pass", "init", "set up", id="init"
        ),
    ],
)
def test_a_plugin_that_hangs_is_ended(tmp_path, code, stage, doing):
    """After the time limit, with the stage in which it hung."""
    bench = Bench(tmp_path, Limits(seconds=2))
    write_plugin(bench.site, "bad", code)

    failure = bench.plugin("bad").failure

    assert failure is not None
    assert (failure.stage, failure.message.split(" while ")[1]) == (stage, f"being {doing}")
    assert failure.message.startswith(("took longer than 2 s", "used more than 2 s of processor time"))


def test_the_plugins_of_one_distribution_fail_each_for_itself(bench):
    """The deadly ones are found out one by one, and the good ones are described."""
    modules = {
        "first.py": GOOD,
        "deadly.py": "import os; os._exit(7)",
        "second.py": GOOD,
        "broken.py": "1 / 0",
        "killed.py": "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
        "third.py": GOOD,
    }
    names = [path.removesuffix(".py") for path in modules]
    write_distribution(bench.site, "acme", modules, {name: f"{name}:LampPlugin" for name in names})

    known, _ = arrange(bench.manifests())

    assert {key: plugin.failure is None for key, plugin in known.items()} == {
        "first": True,
        "deadly": False,
        "second": True,
        "broken": False,
        "killed": False,
        "third": True,
    }


def test_output_of_a_plugin_does_not_disturb_the_manifest(bench):
    """Neither on standard output nor on standard error, nor through the descriptors themselves."""
    noise = 'import os, sys\nprint("{" * 99)\nos.write(1, b"x" * 999999)\nos.write(2, b"x")\nsys.stdin.read()\n'
    write_plugin(bench.site, "lamp", noise + "class LampPlugin: pass")

    assert bench.plugin("lamp").failure is None


def test_a_child_of_a_plugin_neither_delays_nor_survives_the_probe(bench, tmp_path):
    """It is killed with the probe's whole process group."""
    pid = tmp_path / "pid"
    code = f"""
        import os, time, threading
        child = os.fork()
        if child == 0:
            time.sleep(60)
            os._exit(0)
        open({str(pid)!r}, "w").write(str(child))
        threading.Thread(target=time.sleep, args=(60,)).start()
        class LampPlugin: pass
    """
    write_plugin(bench.site, "lamp", code)

    assert bench.plugin("lamp").failure is None
    deadline = time.monotonic() + 10
    while _lives(int(pid.read_text())) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not _lives(int(pid.read_text()))


def _lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def test_a_plugin_sees_no_secrets_of_the_host(bench, monkeypatch):
    """The probe's environment holds what an interpreter needs, and nothing else."""
    for name in ("PLUGYARD_SECRET_KEY", "AWS_SECRET_ACCESS_KEY", "DATABASE_PASSWORD"):
        monkeypatch.setenv(name, "secret")
    code = "import os\nassert not [k for k, v in os.environ.items() if 'secret' in v], 'leaked'\nclass LampPlugin: pass"
    write_plugin(bench.site, "lamp", code)

    assert bench.plugin("lamp").failure is None


def test_a_plugin_whose_declarations_need_its_start_is_not_refused(bench):
    """`start` has effects and is not called in a probe."""
    code = """
        from host import Plugin, hookimpl
        class LampPlugin(Plugin):
            @hookimpl
            def start(self):
                self.names = [self.settings.get("NAME")]
            @hookimpl
            def action_names(self):
                return self.names
    """
    write_plugin(bench.site, "lamp", code)

    assert bench.plugin("lamp").failure is None


def test_instances_modules_and_asynchronous_declarations_are_understood(bench):
    """A plugin need not be a class, nor synchronous."""
    modules = {
        "one.py": "from host import Setting, hookimpl\nclass It:\n    @hookimpl\n    async def plugin_settings(self):\n"
        "        return [Setting(key='A', name='a')]\nit = It()",
        "two.py": "from host import hookimpl\ntitle = 'Second'\n@hookimpl\ndef action_names():\n    return ('go',)",
    }
    write_distribution(bench.site, "acme", modules, {"one": "one:it", "two": "two"})

    known, _ = arrange(bench.manifests())

    assert (known["one"].identity.name, known["one"].settings) == ("It", ("A",))
    assert (known["two"].identity.title, known["two"].actions) == ("Second", ("go",))


def test_a_manifest_is_kept_until_code_or_contract_change(bench):
    """Failed ones too, unless a retry is asked for."""
    marker = bench.root / "marker"
    code = f"open({str(marker)!r}, 'a').write('x')\n"
    write_plugin(bench.site, "lamp", code + "1 / 0")

    for _ in range(3):
        bench.manifests()
    assert marker.read_text() == "x"

    bench.manifests(retry=True)
    assert marker.read_text() == "xx"

    Bench(bench.root, version="2").manifests()
    assert marker.read_text() == "xxx"


@pytest.mark.parametrize("damage", [b"", b"{}", b'{"contract": 1', b"\xff"])
def test_a_damaged_manifest_is_made_anew(bench, damage):
    """It is only a cache."""
    write_plugin(bench.site, "lamp")
    expected = bench.plugin("lamp")
    (file,) = bench.kept.iterdir()
    file.write_bytes(damage)

    assert bench.plugin("lamp") == expected


def test_of_two_plugins_with_one_key_the_first_counts(bench):
    """The other one is reported."""
    write_distribution(bench.site, "acme-a", {"a.py": GOOD}, {"lamp": "a:LampPlugin"})
    write_distribution(bench.site, "acme-b", {"b.py": GOOD}, {"lamp": "b:LampPlugin"})

    known, failures = arrange(bench.manifests())

    assert known["lamp"].identity.distribution == "acme-a"
    assert [(one.stage, one.name) for one in failures] == [("discovery", "lamp")]
    assert "acme-b is taken by acme-a" in failures[0].message


def test_a_distribution_is_inspected_before_it_is_installed(bench, tmp_path):
    """With what it requires beside it, and with the keys that are taken already."""
    write_plugin(bench.site, "lamp")
    known, _ = arrange(bench.manifests())
    store, required = tmp_path / "store" / "new", tmp_path / "store" / "required"
    write_distribution(required, "required", {"required_thing.py": ""}, {})
    code = "import required_thing\n" + GOOD.replace("\n    ", "\n")
    write_distribution(store, "Acme-New", {"n.py": code}, {"new": "n:LampPlugin", "lamp": "n:LampPlugin"})

    found = bench.probing.inspect([store, required], "acme.new", known)

    assert found.distribution is not None
    assert [plugin.key for plugin in found.plugins] == ["new", "lamp"]
    assert found.failures == ()
    assert [one.name for one in found.clashes] == ["lamp"]
    assert bench.probing.inspect([required], "required", known).distribution is None


def test_a_probe_ends_with_the_one_that_started_it(bench, tmp_path):
    """A host that is killed leaves no probe behind."""
    pid = tmp_path / "pid"
    code = f"import os, time\nopen({str(pid)!r}, 'w').write(str(os.getpid()))\ntime.sleep(60)"
    write_plugin(bench.site, "lamp", code)
    program = (
        "import sys; from pathlib import Path; from tests.plugins.test_probing import Bench;"
        "Bench(Path(sys.argv[1])).manifests()"
    )
    host = subprocess.Popen([sys.executable, "-c", program, str(tmp_path)], cwd=Path(__file__).parents[2])
    deadline = time.monotonic() + 20
    while not (pid.exists() and pid.read_text()) and time.monotonic() < deadline:
        time.sleep(0.01)

    host.kill()
    host.wait()

    while _lives(int(pid.read_text())) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not _lives(int(pid.read_text()))


def test_the_probe_loads_neither_the_database_nor_the_web_framework():
    """A child that starts quickly makes a first start bearable."""
    program = (
        "import sys, host.plugins.probe; print([m for m in ('sqlalchemy', 'starlette', 'anyio') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=os.environ)

    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    "damage",
    [
        {"manifest": {"hooks": 5}},
        {"manifest": {"mixins": [1]}},
        {"manifest": {"actions": [{}]}},
        {"manifest": {"title": 5}},
        {"manifest": []},
        {"failure": "import"},
        {"failure": ["import", 5]},
        {},
    ],
)
def test_a_manifest_of_another_shape_is_made_anew(bench, damage):
    """Whatever the file holds, the host starts."""
    write_plugin(bench.site, "lamp")
    expected = bench.plugin("lamp")
    (path,) = bench.kept.iterdir()
    kept = json.loads(path.read_text())
    path.write_text(json.dumps({**kept, "plugins": {"lamp": damage}}))

    assert bench.plugin("lamp") == expected


def test_a_module_of_another_package_is_not_taken_for_the_plugin(bench, tmp_path):
    """Two distributions that bring a package of one name: the second is told so, the first goes on."""
    folders = []
    for name in ("first", "second"):
        folder = tmp_path / "store" / name
        modules = {"shared/__init__.py": "", f"shared/{name}.py": GOOD}
        write_distribution(folder, f"acme-{name}", modules, {name: f"shared.{name}:LampPlugin"})
        folders.append(folder)
    found = Discovery(store_folders=lambda: folders, environment=[bench.site]).find(fresh=True)

    plugins, _ = arrange(bench.probing.manifests(found.distributions, folders))

    assert plugins["first"].failure is None
    assert plugins["second"].failure is not None
    assert "hidden by another one called 'shared'" in plugins["second"].failure.message


def test_texts_of_a_package_can_neither_flood_a_list_nor_run_a_script(bench):
    """Endless texts are cut, and what is no web address is no website."""
    headers = f"Author: {'a' * 50_000}\nHome-page: javascript:alert(1)\n"
    write_distribution(bench.site, "acme-lamp", {"lamp.py": GOOD}, {"lamp": "lamp:LampPlugin"}, headers=headers)

    identity = bench.plugin("lamp").identity

    assert len(identity.author) == 2000
    assert identity.website == ""


def test_a_forgotten_mark_is_noticed(bench):
    """The manifest names what looks like a hook and is none."""
    write_plugin(
        bench.site, "lamp", GOOD.replace("        @hookimpl\n        def action_names", "        def action_names")
    )

    plugin = bench.plugin("lamp")

    assert plugin.unmarked == ("action_names",)
    assert "action_names" not in plugin.hooks
