"""Modules of plugins are dropped with everything that belongs to them, and with nothing else."""

from __future__ import annotations

import importlib
import sys

import pytest

from host.plugins.discovery import Discovery
from host.plugins.modules import StorePath, drop
from tests.plugins.distributions import write_distribution


@pytest.fixture
def path():
    """The import system as it is afterwards what it was before."""
    modules, entries = set(sys.modules), list(sys.path)
    path = StorePath()
    yield path
    sys.path[:] = entries
    for name in set(sys.modules) - modules:
        del sys.modules[name]
    importlib.invalidate_caches()


def test_store_folders_come_last_and_leave_when_they_are_replaced(tmp_path, path):
    """What others have put on the path stays where it is."""
    before = list(sys.path)
    path.switch([tmp_path / "a", tmp_path / "b"])
    assert sys.path == [*before, str(tmp_path / "a"), str(tmp_path / "b")]

    sys.path.append("/somewhere")
    path.switch([tmp_path / "b"])
    assert sys.path == [*before, "/somewhere", str(tmp_path / "b")]

    path.switch([])
    assert sys.path == [*before, "/somewhere"]


def test_everything_from_a_store_folder_is_dropped(tmp_path, path):
    """Packages, submodules, single modules and packages without `__init__.py`."""
    folder = tmp_path / "lamp-1"
    modules = {"mlamp/__init__.py": "", "mlamp/deep/inner.py": "", "mspace/part/it.py": "", "msingle.py": ""}
    write_distribution(folder, "acme", modules, {})
    path.switch([folder])
    names = ("mlamp", "mlamp.deep", "mlamp.deep.inner", "mspace", "mspace.part", "mspace.part.it", "msingle")
    for name in names:
        importlib.import_module(name)

    assert drop([], path.folders) == set(names)
    assert not set(names) & set(sys.modules)


def test_a_namespace_that_others_share_stays(tmp_path, path):
    """What remains of it could not be reached through a new one."""
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    write_distribution(ours, "ours", {"mshared/a.py": ""}, {})
    write_distribution(theirs, "theirs", {"mshared/b.py": ""}, {})
    path.switch([ours, theirs])
    importlib.import_module("mshared.a")
    importlib.import_module("mshared.b")

    assert drop([], [str(ours)]) == {"mshared.a"}
    assert importlib.import_module("mshared.a") is sys.modules["mshared"].a


def test_of_a_shared_folder_only_the_distribution_s_own_files_are_dropped(tmp_path, path):
    """What a former version had in its package goes with it."""
    site = tmp_path / "site-packages"
    write_distribution(site, "acme", {"mown/__init__.py": "", "mown/now.py": "", "mtop.py": ""}, {"mtop": "mtop"})
    (site / "mown/former.py").write_text("", encoding="utf-8")
    (site / "mother.py").write_text("", encoding="utf-8")
    sys.path.append(str(site))
    for name in ("mown.now", "mown.former", "mtop", "mother"):
        importlib.import_module(name)
    found = Discovery(store_folders=tuple, environment=[site]).find().distributions

    assert drop(found, []) == {"mown", "mown.now", "mown.former", "mtop"}
    assert "mother" in sys.modules
