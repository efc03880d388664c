"""An installation to try things on: a home, a folder of wheels to install from, and what the host was told."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from host.packages.install import Packages
from host.packages.options import Outcome, PackageCallbacks, PackageOptions
from host.packages.policy import Policy
from host.packages.requests import InstallRequest
from host.storage.engine import Database
from tests.packages_area.warm_pip import WarmPip
from tests.packages_area.wheelhouse import write_wheel

# Nothing of the machine's own pip configuration may reach a test.
HERMETIC = {
    **{name: value for name, value in os.environ.items() if not name.startswith("PIP_")},
    "PIP_CONFIG_FILE": os.devnull,
    "PIP_NO_CACHE_DIR": "1",
    "PIP_RETRIES": "0",
    "PIP_DEFAULT_TIMEOUT": "5",
}
OFFLINE = HERMETIC | {"PIP_NO_INDEX": "1"}


@dataclass
class Yard:
    """One installation."""

    root: Path
    database: Database
    options: PackageOptions
    pip: WarmPip | None = None
    """Runs pip; without it the host starts it."""
    problems: list[str] = field(default_factory=list)
    inspected: list[str] = field(default_factory=list)
    switches: list[int] = field(default_factory=list)
    reports: list[tuple[str, str, str]] = field(default_factory=list)

    @property
    def wheelhouse(self) -> Path:
        return self.root / "wheelhouse"

    @property
    def packages(self) -> Packages:
        packages = Packages(self.database, self.options, self.callbacks)
        if self.pip:
            for part in (packages._planner._resolver, packages._applier._fetcher):
                part._pip = self.pip.instead_of(part._pip)
        return packages

    @property
    def callbacks(self) -> PackageCallbacks:
        return PackageCallbacks(
            inspect=self._inspect,
            on_switch=lambda _session, number: self.switches.append(number),
            report=lambda *report: self.reports.append(report),
        )

    def wheel(self, name: str, version: str = "1.0", **details: Any) -> Path:
        details.setdefault("plugin", name.startswith("plug"))
        return write_wheel(self.wheelhouse, name, version, **details)

    def install(self, packagename: str = "", **members: Any) -> Outcome:
        return self.packages.install(InstallRequest(packagename=packagename, **members))

    def configure(self, **changes: Any) -> None:
        self.options = replace(self.options, **changes)

    @property
    def file(self) -> str:
        path = self.options.plugins_file
        return path.read_bytes().decode() if path.exists() else ""

    def write(self, text: str) -> None:
        self.options.plugins_file.write_bytes(text.encode())

    @property
    def versions(self) -> dict[str, str]:
        current = self.packages.current()
        return (
            {one.name: one.version for one in self.packages.generation(current.number).lock} if current.number else {}
        )

    @property
    def left(self) -> list[str]:
        """Everything that an operation may have left on disk, relative to the home."""
        home = self.options.home
        places = [*home.glob("store/*"), *home.glob("files/wheels/*/*"), *home.glob("tmp/*")]
        return sorted(str(path.relative_to(home)) for path in places)

    def _inspect(self, folders: Sequence[Path], name: str) -> list[str]:
        assert all(folder.is_dir() for folder in folders)
        self.inspected.append(name)
        return list(self.problems)


def make_yard(root: Path, database: Database, *, pip: WarmPip | None = None, **changes: Any) -> Yard:
    """Make an installation below a folder, whose only index is a folder of wheels."""
    (root / "wheelhouse").mkdir(parents=True, exist_ok=True)
    values: dict[str, Any] = {
        "home": root / "home",
        "plugins_file": root / "plugins.txt",
        "find_links": [str(root / "wheelhouse")],
        "environment": OFFLINE,
        "policy": Policy(),
        "wait_seconds": 0.5,
    }
    return Yard(root, database, PackageOptions(**(values | changes)), pip)
