"""Writing plugins, and looking at them as the host would."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from hatchling.builders.wheel import WheelBuilder

from host.cli.scaffold import Kind
from tests.packages_area.wheelhouse import write_wheel


def _python(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    # The plugins of this environment's pytest are no concern of a plugin's author.
    environment = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=100, check=False, env=environment)


def _build(project: Path) -> Path:
    return Path(next(WheelBuilder(str(project)).build(directory=str(project / "dist"), versions=["standard"])))


@pytest.mark.parametrize("kind", list(Kind))
def test_a_new_plugin_is_complete(kind, run, tmp_path):
    """The project of each kind builds, is understood by the host without a problem, and its own test passes."""
    project = Path(run("plugin", "new", f"desk-{kind}", "--kind", kind, "--json").ok().document["folder"])

    examined = run("plugin", "check", _build(project), "--json").ok().document
    tested = _python("-m", "pytest", "-q", "-p", "no:cacheprovider", cwd=project)

    (plugin,) = examined["plugins"]
    assert (plugin["key"], plugin["title"]) == (f"desk-{kind}", f"Desk {kind}")
    assert kind in plugin["mixins"]
    assert examined["problems"] == []
    assert tested.returncode == 0, tested.stdout


def test_new_plugins_have_exact_types(run, tmp_path):
    """``mypy --strict`` and the linter find nothing in a project of any kind."""
    sources = []
    for kind in Kind:
        project = tmp_path / run("plugin", "new", kind, "--kind", kind, "--json").ok().document["folder"]
        # Modules of the same name cannot be checked together.
        (project / "tests" / "test_plugin.py").rename(project / "tests" / f"test_{kind}.py")
        sources += [str(project / "src"), str(project / "tests" / f"test_{kind}.py")]

    typed = _python("-m", "mypy", "--strict", "--cache-dir", os.devnull, *sources, cwd=tmp_path)

    assert typed.returncode == 0, typed.stdout


def test_the_templates_are_part_of_the_distribution(tmp_path):
    """Whoever installed the wheel can write plugins too."""
    root = Path(__file__).parents[2]
    templates = {str(file.relative_to(root)) for file in (root / "host/cli/templates").rglob("*.in")}

    wheel = next(WheelBuilder(str(root)).build(directory=str(tmp_path), versions=["standard"]))

    with zipfile.ZipFile(wheel) as archive:
        assert templates
        assert templates <= set(archive.namelist())


def test_a_new_plugin_uses_public_names_only(run, tmp_path):
    """Authors see from the first line what the contract is."""
    for kind in Kind:
        run("plugin", "new", kind, "--kind", kind).ok()

    for file in tmp_path.rglob("*.py"):
        assert not re.search(r"(from|import) host\.", file.read_text("utf-8")), file


def test_the_next_commands_are_named(run, tmp_path):
    """What was written, and what to do with it."""
    answer = run("plugin", "new", "plugyard-shelf_lamp", "--path", tmp_path / "work").ok()

    folder = tmp_path / "work" / "plugyard-shelf-lamp"
    assert (folder / "src" / "plugyard_shelf_lamp" / "plugin.py").is_file()
    assert f"cd {folder}\n" in answer.out
    assert "plugyard plugin activate shelf_lamp" in answer.out
    assert 'shelf_lamp = "plugyard_shelf_lamp.plugin:ShelfLampPlugin"' in (folder / "pyproject.toml").read_text("utf-8")


def test_nothing_is_overwritten(run, tmp_path):
    """A folder of that name stays as it is."""
    (tmp_path / "plugyard-lamp").mkdir()

    answer = run("plugin", "new", "lamp")

    assert answer.code == 1
    assert "exists already" in answer.err
    assert list((tmp_path / "plugyard-lamp").iterdir()) == []


@pytest.mark.parametrize(
    "name", ["", "Lamp", "1lamp", "lamp-", "la--mp", "../lamp", "lamp/desk", "plugyard-", "l" * 101]
)
def test_a_name_that_is_no_key_is_refused(name, run, tmp_path):
    """The rule and an example are given, and nothing is written."""
    answer = run("plugin", "new", "--", name)

    assert answer.code == 1
    assert "shelf-lamp" in answer.err
    assert list(tmp_path.iterdir()) == []


def test_a_project_is_built_for_the_check(run, tmp_path):
    """A folder will do; nothing is left in it."""
    project = Path(run("plugin", "new", "lamp", "--json").ok().document["folder"])
    before = sorted(project.rglob("*"))

    answer = run("plugin", "check", project, "--no-isolation").ok()

    assert answer.out.startswith("plugyard-lamp 0.1.0\n")
    assert answer.out.endswith("No problems.\n")
    assert sorted(project.rglob("*")) == before


@pytest.mark.parametrize(
    ("package", "words"),
    [
        pytest.param("misspelt-hook", "perform_action", id="misspelt hook"),
        pytest.param("wrong-signature", "expected", id="wrong signature"),
        pytest.param("constructor-raises", "", id="constructor raises"),
        pytest.param("dies-at-import", "exit code 7", id="dies at import"),
        pytest.param("no-plugin", "declares no plugin", id="no plugin"),
        pytest.param("takes-key", "is taken by", id="key of another"),
        pytest.param("wants-old-starlette", "starlette", id="other versions than the host's"),
        pytest.param("wants-newer-python", "Python", id="another Python"),
    ],
)
def test_every_problem_is_shown(package, words, run, wheels):
    """Whatever would go wrong at the host is told to the author, and makes the exit code 1."""
    answer = run("plugin", "check", wheels[package], "--json")
    shown = run("plugin", "check", wheels[package])

    messages = " ".join(problem["message"] for problem in answer.document["problems"])
    assert (answer.code, shown.code) == (1, 1)
    assert words.lower() in messages.lower()
    assert "problem" in shown.out


def test_a_wheel_for_another_platform_is_a_problem(run, tmp_path):
    """Pip would refuse it."""
    wheel = write_wheel(tmp_path, "plugyard-lamp", plugin=True)
    other = wheel.rename(wheel.with_name("plugyard_lamp-1.0-cp27-cp27m-win32.whl"))

    answer = run("plugin", "check", other, "--json")

    assert "is not made for" in answer.document["problems"][0]["message"]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        pytest.param("nothing", "neither a wheel nor", id="nothing there"),
        pytest.param("empty", "neither a wheel nor", id="no project"),
        pytest.param("broken-1.0-py3-none-any.whl", "is broken", id="no wheel"),
        pytest.param("project", "could not build", id="cannot be built"),
    ],
)
def test_what_cannot_be_checked_says_why(name, words, run, tmp_path):
    """An error rather than a finding: nothing was examined."""
    (tmp_path / "empty").mkdir()
    (tmp_path / "broken-1.0-py3-none-any.whl").write_bytes(b"nonsense")
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "pyproject.toml").write_text("[build-system]\nrequires = []\nbuild-backend = 'nowhere'\n")

    answer = run("plugin", "check", tmp_path / name, "--no-isolation", "--json")

    assert answer.code == 1
    assert words in answer.document["error"]
