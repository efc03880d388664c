"""A plugin that kills the host as it boots keeps only itself from being loaded."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from host.plugins.boot import BootGuard
from tests.plugins.assembly import Host
from tests.plugins.distributions import write_plugin

ROOT = Path(__file__).parents[2]
DEADLY = """
    import os
    from host import hookimpl

    class LampPlugin:
        @hookimpl
        def start(self):
            if os.environ.get("DEADLY"):
                os._exit(9)
"""
BOOT = """
import os, sys
from pathlib import Path
from tests.plugins.assembly import Host
host = Host(Path(sys.argv[1]), sys.argv[2])
sys.path.append(str(host.site))
host.registries.boot()
print(",".join(host.current.plugins), host.errors(), flush=True)
os._exit(0)
"""


def boot(home: Path, url: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", BOOT, str(home), url],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": "/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1", **environment},
    )


def test_the_plugin_that_killed_a_boot_is_left_out_of_the_next(tmp_path, sqlite_url):
    """It, and only it, until an administrator activates it again."""
    host = Host(tmp_path, sqlite_url)
    for key, code in {
        "bad": DEADLY,
        "good": DEADLY.replace("DEADLY", "NEVER"),
        "zest": "class LampPlugin: pass",
    }.items():
        write_plugin(host.site, key, code)
    host.registries.boot()
    with host.database.write() as session:
        for key in ("bad", "good", "zest"):
            host.registries.records.set_active(session, key, active=True)
    host.close()

    died = boot(tmp_path, sqlite_url, DEADLY="1")
    assert died.returncode == 9, died.stderr
    (left,) = (tmp_path / "boot").iterdir()
    assert json.loads(left.read_text())["plugin"] == "bad"

    survived = boot(tmp_path, sqlite_url, DEADLY="1")
    assert survived.stdout.strip() == "good,zest [('boot', 'bad')]", survived.stderr
    assert list((tmp_path / "boot").iterdir()) == []
    assert boot(tmp_path, sqlite_url, DEADLY="1").stdout == survived.stdout

    again = Host(tmp_path, sqlite_url)
    sys.path.append(str(again.site))
    try:
        again.registries.boot()
        again.registries.reload(by_administrator=True)
        assert list(again.current.plugins) == ["good", "zest"]
        again.plugins.activate("bad")
        assert (list(again.current.plugins), again.errors()) == (["bad", "good", "zest"], [])
    finally:
        sys.path.remove(str(again.site))
        again.close()
        for key in ("bad", "good", "zest"):
            sys.modules.pop(key, None)


def test_a_boot_that_fails_in_an_orderly_way_blames_nobody(tmp_path):
    """An exception, as one that ends the process on a signal, takes the file away."""
    guard = BootGuard(tmp_path)

    def boot() -> None:
        with guard.booting():
            guard.loading("lamp")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        boot()

    assert guard.casualties() == []


def test_a_boot_that_goes_on_is_not_taken_for_a_dead_one(tmp_path):
    """The file of a living process is locked, whatever its process number."""
    guard, other = BootGuard(tmp_path), BootGuard(tmp_path)

    with guard.booting():
        guard.loading("lamp")
        assert other.casualties() == []
        with other.booting():
            other.loading("desk")
            assert len(list(tmp_path.iterdir())) == 2


def test_a_file_of_this_very_process_number_can_be_one_of_a_dead_process(tmp_path):
    """In a container the host has the same number each time."""
    guard = BootGuard(tmp_path)
    with guard.booting():
        (own,) = tmp_path.iterdir()
    own.write_text('{"plugin": "lamp"}', encoding="utf-8")

    casualties = guard.casualties()

    assert [one.plugin for one in casualties] == ["lamp"]
    guard.clear(casualties)
    assert guard.casualties() == []


@pytest.mark.parametrize("content", ["", "{", "[]", '{"plugin": 3}'])
def test_a_boot_that_died_between_two_plugins_blames_nobody(tmp_path, content):
    """Half a file is nobody's fault."""
    (tmp_path / "1.json").write_text(content, encoding="utf-8")

    assert [one.plugin for one in BootGuard(tmp_path).casualties()] == [None]
