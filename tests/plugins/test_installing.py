"""Installing packages together with what becomes of their plugins."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from host.config import Config
from host.packages.requests import InstallRequest
from host.server import Host
from tests.packages_area.wheelhouse import write_wheel

_CODE = """
from sqlmodel import Field
from host import hookimpl, table_base

class Shade(table_base(), table=True):
    __tablename__ = "shade"
    id: int | None = Field(default=None, primary_key=True)
    name: str | None = None
    {column}

class Plugin:
    @hookimpl
    def models(self):
        return [Shade]
"""


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Host]:
    for name in [*os.environ]:
        if name.startswith("PIP_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    settings = {"HOME": tmp_path / "home", "PLUGINS_FILE": tmp_path / "plugins.txt", "FIND_LINKS": tmp_path / "wheels"}
    host = Host(Config.load({f"PLUGYARD_{name}": str(value) for name, value in settings.items()}))
    host.open()
    yield host
    host.close()


def test_an_upgrade_after_which_a_plugin_in_use_cannot_be_loaded_warns_of_it(host: Host, tmp_path: Path):
    """A probe has no database, so what the tables forbid shows only once the package is in force."""
    for version, column in (("1.0", ""), ("2.0", "must: str")):
        code = {"plug_shade.py": _CODE.format(column=column)}
        write_wheel(tmp_path / "wheels", "plug-shade", version, plugin=True, files=code)
    assert host.plugin_packages.install(InstallRequest(packagename="plug-shade", version="1.0")).warnings == ()
    host.plugins.activate("plug-shade", active=True)

    outcome = host.plugin_packages.install(InstallRequest(packagename="plug-shade", version="2.0"))

    (warning,) = outcome.warnings
    assert warning.startswith("Plugin 'plug-shade' was in use and could not be loaded again (init): ")
    assert "column 'must' of table 'shade'" in warning
    assert host.plugin_packages.install(InstallRequest(packagename="plug-shade", version="1.0")).warnings == ()
    assert "plug-shade" in host.registries.current.plugins


def test_a_package_that_hides_the_code_of_another_plugin_in_use_warns_of_it(host: Host, tmp_path: Path):
    """Two distributions share a folder, and only one of them makes it a package."""
    plain = "class Plugin:\n    pass\n"
    for name, files in (
        ("plug-one", {"shared_top/one.py": plain}),
        ("plug-two", {"shared_top/__init__.py": "", "shared_top/two.py": plain}),
    ):
        points = f"[plugyard]\n{name} = shared_top.{name[5:]}:Plugin\n"
        write_wheel(tmp_path / "wheels", name, files=files, entry_points=points)
    host.plugin_packages.install(InstallRequest(packagename="plug-one"))
    host.plugins.activate("plug-one", active=True)

    outcome = host.plugin_packages.install(InstallRequest(packagename="plug-two"))

    (warning,) = outcome.warnings
    assert warning.startswith("Plugin 'plug-one' was in use and could not be loaded again (import): ")
