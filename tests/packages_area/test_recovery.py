"""A process that is killed leaves the old generation or the new one, and never a mixture."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from host.packages.text_files import write_text
from host.storage.engine import Database
from tests.packages_area.yard import Yard, make_yard

ROOT = Path(__file__).parents[2]


def kill_an_install(yard: Yard, point: str, packagename: str) -> None:
    """Let a process of its own install a package and be killed on the way."""
    url = yard.database.url.render_as_string(hide_password=False)
    process = subprocess.run(
        [sys.executable, "-m", "tests.packages_area.killed", str(yard.root), url, point, packagename],
        cwd=ROOT,
        check=False,
    )
    assert process.returncode == -signal.SIGKILL


def whole(yard: Yard) -> bool:
    """Tell whether what is on disk is exactly what the kept generations name."""
    packages = [one for generation in yard.packages.generations() for one in generation.lock]
    store = {f"store/{one.folder}" for one in packages}
    wheels = {f"files/wheels/{one.sha256}/{one.filename}" for one in packages}
    return set(yard.left) == store | wheels


@pytest.mark.parametrize("point", ["pip", "unpacking", "inspect", "on_switch"])
def test_killed_before_the_switch_the_old_generation_stays(yard: Yard, point):
    """Nothing of the new package is left after the next start, and the next install works at once."""
    yard.wheel("plug-a", requires=["dep"])
    yard.wheel("plug-b", requires=["dep"])
    yard.wheel("dep")
    yard.write("plug-a\n")
    yard.packages.sync()

    kill_an_install(yard, point, "plug-b")

    assert yard.packages.current().number == 1
    text = yard.packages.recover()
    assert text.startswith("Generation 1 is in force (2 packages).")
    assert "1 package operations had been cut off" in text
    assert (yard.file, set(yard.versions), whole(yard)) == ("plug-a\n", {"plug-a", "dep"}, True)
    assert yard.packages.operations()[0].status == "failed"


def test_killed_after_the_switch_the_new_generation_is_finished(tmp_path: Path, database: Database):
    """The plugins file, which was still to be written, is written at the next start."""
    yard = make_yard(tmp_path, database)
    yard.wheel("plug-b")
    yard.write("# ours\r\n")

    kill_an_install(yard, "writing", "plug-b")

    assert (yard.packages.current().number, yard.file) == (1, "# ours\r\n")
    assert "plugins.txt was brought up to date." in yard.packages.recover()
    assert (yard.file, yard.versions, whole(yard)) == ("# ours\r\nplug-b\r\n", {"plug-b": "1.0"}, True)
    assert yard.packages.recover() == "Generation 1 is in force (1 packages)."


def test_an_edit_between_kill_and_start_is_kept(yard: Yard):
    """Where somebody changed the file meanwhile it stays as they left it, and that is said."""
    yard.wheel("plug-b")
    yard.wheel("plug-c")
    kill_an_install(yard, "writing", "plug-b")
    yard.write("plug-c\n")

    text = yard.packages.recover()

    assert "was edited meanwhile and was left as it is" in text
    assert (yard.file, yard.versions) == ("plug-c\n", {"plug-b": "1.0"})
    yard.packages.sync()
    assert (yard.file, set(yard.versions)) == ("plug-c\n", {"plug-c"})


def test_the_next_operation_finishes_what_was_cut_off(yard: Yard):
    """No start is needed in between: the dead owner's lock is taken over and its work is finished first."""
    yard.wheel("plug-b")
    yard.wheel("plug-c")
    kill_an_install(yard, "writing", "plug-b")

    yard.install("plug-c")

    assert (yard.file, set(yard.versions), whole(yard)) == ("plug-b\nplug-c\n", {"plug-b", "plug-c"}, True)


def test_killed_while_plugins_are_loaded_everything_is_done(yard: Yard):
    """Loading the plugins comes last: the generation is in force and the file is written."""
    yard.wheel("plug-b")

    kill_an_install(yard, "after_switch", "plug-b")

    assert (yard.file, yard.versions) == ("plug-b\n", {"plug-b": "1.0"})
    assert yard.packages.recover().startswith("Generation 1 is in force (1 packages).")
    assert whole(yard)


def test_a_start_without_packages(yard: Yard):
    """A new home is in order."""
    assert yard.packages.recover() == "No packages are installed."


def test_a_start_removes_what_nobody_knows(yard: Yard):
    """Folders and wheels that no generation names go; another process that is at work is left alone."""
    home = yard.options.home
    for stray in ("store/stray-1.0-000000000000/x.py", f"files/wheels/{'0' * 64}/stray-1.0-py3-none-any.whl"):
        write_text(home / stray, "")

    yard.packages.recover()

    assert yard.left == []
