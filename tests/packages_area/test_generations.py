"""Uninstalling, following the file, going back, and what is kept for it."""

from __future__ import annotations

import shutil
import tomllib
from pathlib import Path

import pytest

from host.errors import InvalidInputError, NotFoundError, UnavailableError
from host.packages.check import problems
from host.packages.environment import HostDistribution
from host.packages.lockfile import Lock, LockedPackage
from host.storage.engine import Database
from tests.packages_area.warm_pip import WarmPip
from tests.packages_area.yard import Yard, make_yard


def test_uninstalling_takes_along_what_only_it_needed(yard: Yard):
    """Without an index, the line and everything that nothing else needs go; the rest stays."""
    yard.wheel("plug-a", requires=["shared", "own[extra]; python_version>'3'"])
    yard.wheel("plug-b", requires=["shared"])
    yard.wheel("own", requires=["deep; extra=='extra'", "never; extra=='other'"])
    for name in ("shared", "deep"):
        yard.wheel(name)
    yard.write("# mine\nplug-b\n")
    yard.install("plug-a")
    shutil.rmtree(yard.wheelhouse)

    plan = yard.packages.plan_uninstall("plug-a")
    outcome = yard.packages.uninstall("PLUG.A")

    assert [one.name for one in plan.remove] == ["deep", "own", "plug-a"]
    assert yard.versions == {"plug-b": "1.0", "shared": "1.0"}
    assert yard.file == "# mine\nplug-b\n"
    assert outcome.result == "plug-a 1.0 was uninstalled."


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        pytest.param("nonesuch", "nonesuch is not a managed package", id="unknown"),
        pytest.param("shared", "installed because plug-a needs it", id="a dependency"),
        pytest.param("pip", "part of the host's own environment", id="the host's own"),
    ],
)
def test_what_cannot_be_uninstalled(yard: Yard, name, reason):
    """The refusal says why, and nothing changes."""
    yard.wheel("plug-a", requires=["shared"])
    yard.wheel("shared")
    yard.install("plug-a")

    with pytest.raises(InvalidInputError, match=reason):
        yard.packages.uninstall(name)
    assert yard.versions == {"plug-a": "1.0", "shared": "1.0"}


def test_a_plugin_that_others_need_leaves_the_file_only(yard: Yard):
    """A package stays as long as another one requires it, and the outcome says so."""
    yard.wheel("plug-a", requires=["plug-b"])
    yard.wheel("plug-b")
    yard.write("plug-a\nplug-b\n")
    yard.packages.sync()

    outcome = yard.packages.uninstall("plug-b")

    assert yard.versions == {"plug-a": "1.0", "plug-b": "1.0"}
    assert "plug-b stays installed, for another package requires it." in outcome.warnings
    assert yard.file == "plug-a\n"


def test_following_the_file_adds_changes_and_removes(yard: Yard):
    """The packages become what the file says, and a line that is met already moves nothing."""
    for name, version in (("plug-a", "1.0"), ("plug-a", "2.0"), ("plug-b", "1.0"), ("plug-c", "1.0")):
        yard.wheel(name, version)
    yard.install("plug-a==1.0")
    yard.install("plug-b")

    yard.write("plug-a>=1\nplug-c\n")
    plan = yard.packages.plan_sync()
    outcome = yard.packages.sync()

    assert [[one.name for one in part] for part in (plan.add, plan.change, plan.remove, plan.keep)] == [
        ["plug-c"], [], ["plug-b"], ["plug-a"],
    ]  # fmt: skip
    assert (outcome.changed, outcome.result) == (True, "The plugins file was followed: 1 added, 1 removed.")
    assert yard.versions == {"plug-a": "1.0", "plug-c": "1.0"}
    yard.write("plug-a>=2\nplug-c\n")
    yard.packages.sync()
    assert yard.versions == {"plug-a": "2.0", "plug-c": "1.0"}
    assert yard.packages.sync().changed is False
    yard.write("")
    yard.packages.sync()
    assert (yard.versions, yard.packages.current().folders) == ({}, ())


def test_following_the_file_is_all_or_nothing(yard: Yard):
    """One line that is refused keeps every other line from being followed."""
    yard.wheel("plug-a")
    yard.wheel("library")
    for text, reason in (
        ("plug-a\nlibrary\n", "library 1.0 holds no plugin"),
        ("plug-a\n-e .\n", "Line 2 of the plugins file"),
        ("plug-a\nx @ git+https://git.example/x\n", "Line 2 of the plugins file: .* version control are not allowed"),
    ):
        yard.write(text)
        with pytest.raises(InvalidInputError, match=reason):
            yard.packages.sync()
        assert (yard.file, yard.left, yard.packages.current().number) == (text, [], 0)


def test_dependencies_move_when_the_file_asks_for_it(yard: Yard):
    """A shared dependency is held for one install, and moves when the whole file is followed."""
    yard.wheel("plug-a", requires=["dep"])
    yard.wheel("plug-b", requires=["dep>=2"])
    yard.wheel("dep", "1.0")
    yard.install("plug-a")
    yard.wheel("dep", "2.0")

    with pytest.raises(InvalidInputError, match=r"dep 1.0 is installed for plug-a 1.0 .* synchronise"):
        yard.install("plug-b")
    yard.write("plug-a\nplug-b\n")
    outcome = yard.packages.sync()

    assert yard.versions == {"plug-a": "1.0", "plug-b": "1.0", "dep": "2.0"}
    assert "dep moves from 1.0 to 2.0." in outcome.warnings


def test_going_back_needs_no_index(tmp_path: Path, database: Database, warm_pip: WarmPip):
    """An older generation comes back with its text and its folders, which are unpacked again from kept wheels."""
    yard = make_yard(tmp_path, database, pip=warm_pip)
    yard.wheel("plug-a", "1.0")
    yard.wheel("plug-a", "2.0")
    yard.write("plug-a==1.0  # tried\n")
    yard.packages.sync()
    yard.install("plug-a")
    shutil.rmtree(yard.wheelhouse)
    shutil.rmtree(yard.options.home / "store")
    yard.write("plug-a\n# edited\n")

    outcome = yard.packages.restore(1)

    current = yard.packages.current()
    assert (outcome.changed, current.number, yard.file) == (True, 1, "plug-a==1.0  # tried\n")
    assert all((folder / "plug_a/__init__.py").is_file() for folder in current.folders)
    assert "# edited" in yard.packages.operation(outcome.operation).log
    assert yard.switches == [1, 2, 1]
    yard.packages.uninstall("plug-a")
    assert [one.number for one in yard.packages.generations()] == [3, 2, 1]
    assert yard.packages.generation(3).previous == 1
    with pytest.raises(NotFoundError, match="generation 9"):
        yard.packages.restore(9)


def test_a_lost_wheel_is_named(yard: Yard):
    """Going back to a generation whose wheel is gone is refused, and the present one stays."""
    yard.wheel("plug-a", "1.0")
    yard.wheel("plug-a", "2.0")
    yard.install("plug-a==1.0")
    yard.install("plug-a")
    shutil.rmtree(yard.options.home / "store")
    shutil.rmtree(yard.options.home / "files")

    with pytest.raises(UnavailableError, match=r"plug_a-1.0-py3-none-any.whl is missing"):
        yard.packages.restore(1)
    assert yard.packages.current().number == 2
    assert "plug_a-2.0-py3-none-any.whl is missing" in yard.packages.recover()


def test_folders_are_rebuilt_where_they_are_missing_or_damaged(yard: Yard):
    """A new machine, or one that lost power, gets the same folders from the kept wheels."""
    yard.wheel("plug-a")
    yard.install("plug-a")
    (folder,) = yard.packages.current().folders
    module = folder / "plug_a/__init__.py"
    wanted = module.read_text()

    for damage in (lambda: shutil.rmtree(folder), lambda: module.write_text(""), module.unlink):
        damage()
        assert yard.packages.materialise().folders == (folder,)
        assert module.read_text() == wanted
    assert sorted(path.name for path in folder.parent.iterdir()) == [folder.name]


def test_old_generations_and_their_wheels_go(tmp_path: Path, database: Database, warm_pip: WarmPip):
    """Only the newest generations and the one in force are kept, with what they need."""
    yard = make_yard(tmp_path, database, pip=warm_pip, keep_generations=2)
    for number in range(1, 5):
        yard.wheel("plug-a", f"{number}.0")
    yard.install("plug-a==1.0")
    yard.install("plug-a==2.0")
    yard.packages.restore(1)
    for number in (3, 4):
        yard.write(yard.file + f"# {number}\n")
        yard.packages.sync()
    yard.install("plug-a==4.0")

    assert [one.number for one in yard.packages.generations()] == [5, 4]
    wheels = {name.rpartition("/")[2] for name in yard.left if name.startswith("files/")}
    assert wheels == {"plug_a-1.0-py3-none-any.whl", "plug_a-4.0-py3-none-any.whl"}
    assert len(list((yard.options.home / "store").iterdir())) == 2


def test_a_lost_file_is_written_again(yard: Yard):
    """A file that is gone was lost, not emptied: what is installed stays."""
    yard.wheel("plug-a")
    yard.wheel("plug-b")
    yard.install("plug-a")
    yard.options.plugins_file.unlink()

    yard.install("plug-b")

    assert yard.file == "plug-a\nplug-b\n"


def test_the_lock_is_a_pylock():
    """A lock is a valid pylock.toml and reads back as it was, without credentials anywhere."""
    package = LockedPackage(
        name="plug-a", version="1.0", filename="plug_a-1.0-py3-none-any.whl", sha256="0" * 64, size=7,
        requires=("dep>=1; python_version > '3'",), requested=True, source="https://x.example/plug_a-1.0-py3-none-any.whl",
    )  # fmt: skip
    lock = Lock.of([package])

    content = tomllib.loads(lock.to_toml())

    assert content["lock-version"] == "1.0"
    assert content["packages"][0]["wheels"][0]["url"] == package.source
    assert Lock.from_toml(lock.to_toml()).packages == lock.packages
    with pytest.raises(UnavailableError, match="damaged"):
        Lock.from_toml("lock-version = 1")


def test_what_no_longer_fits_is_told(yard: Yard):
    """A lock that the host has grown away from is described requirement by requirement."""
    yard.wheel("plug-a", requires=["dep>=1", "starlette"])
    yard.wheel("dep")
    yard.install("plug-a")
    host = {
        "starlette": HostDistribution("starlette", "3.0", ()),
        "plug-c": HostDistribution("plug-c", "9.0", ()),
    }
    lock = Lock.of(
        LockedPackage(name=name, version="1.0", filename="", sha256="", size=0, requires=requires)
        for name, requires in (
            ("plug-b", ("starlette<2", "gone", "dep>=2; python_version<'3'")),
            ("plug-c", ("plug-b>1",)),
        )
    )

    assert yard.packages.problems() == []
    assert problems(lock, host, "the host") == [
        "plug-b 1.0 requires starlette<2, but the host has 3.0.",
        "plug-b 1.0 requires gone, which is not installed.",
        "plug-c 1.0 is hidden by 9.0 in the host's environment.",
        "plug-c 1.0 requires plug-b>1, but its generation has 1.0.",
    ]


def test_restoring_warns_of_edits_that_it_replaces(yard: Yard):
    """The log of the operation keeps what people had written."""
    yard.wheel("plug-a", "1.0")
    yard.wheel("plug-a", "2.0")
    yard.install("plug-a==1.0")
    yard.install("plug-a==2.0")
    yard.options.plugins_file.write_text("plug-a==2.0\nplug-mine\n")

    outcome = yard.packages.restore(1)

    (warning,) = outcome.warnings
    assert "had been edited since generation 2" in warning
    assert outcome.operation in warning
    assert "plug-mine" in outcome.output
    assert yard.file == "plug-a==1.0\n"
