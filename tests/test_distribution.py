"""The built wheel: everything the host needs is in it."""

from __future__ import annotations

import configparser
import zipfile
from pathlib import Path

import pytest
from hatchling.builders.wheel import WheelBuilder

_ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    folder = tmp_path_factory.mktemp("dist")
    built = next(WheelBuilder(str(_ROOT)).build(directory=str(folder), versions=["standard"]))
    return zipfile.ZipFile(built)


def test_every_file_of_the_packages_is_in_the_wheel(wheel: zipfile.ZipFile):
    """Modules, templates, migrations, scripts of plugins and pages are shipped; tests are not."""
    shipped = set(wheel.namelist())
    for package in ("api", "builtin_plugins", "host", "sample_plugins"):
        files = {
            path.relative_to(_ROOT).as_posix()
            for path in (_ROOT / package).rglob("*")
            if path.is_file() and "__pycache__" not in path.parts
        }
        assert files - shipped == set()
    assert not [name for name in shipped if name.startswith(("tests/", "benchmarks/"))]


def test_entry_points_name_what_exists(wheel: zipfile.ZipFile):
    """The command and each plugin that comes with the host point to a module of the wheel."""
    (name,) = [one for one in wheel.namelist() if one.endswith(".dist-info/entry_points.txt")]
    parser = configparser.ConfigParser(delimiters=("=",))
    parser.optionxform = str  # type: ignore[assignment, method-assign]  # keys keep their case
    parser.read_string(wheel.read(name).decode())
    shipped = set(wheel.namelist())

    assert set(parser.sections()) == {"console_scripts", "plugyard"}
    for section in parser.sections():
        for value in parser[section].values():
            module = value.partition(":")[0].strip().replace(".", "/")
            assert {f"{module}.py", f"{module}/__init__.py"} & shipped, value
