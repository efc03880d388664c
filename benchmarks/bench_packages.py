"""How long package operations take against an index on this machine: plan, install, install again, roll back, start."""

from __future__ import annotations

import base64
import hashlib
import os
import statistics
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter

from benchmarks.figures import Figure
from host.packages.install import InstallRequest, PackageCallbacks, PackageOptions, Packages
from host.storage.engine import Database
from host.storage.tables import METADATA

ROUNDS = 5
INSTALLED = 20
FILES = 200


def _wheel(folder: Path, name: str, version: str, *, requires: str = "", files: int = 5) -> None:
    module = name.replace("-", "_")
    info = f"{module}-{version}.dist-info"
    contents = {f"{module}/module_{number}.py": f"VALUE = {number}\n" * 20 for number in range(files)}
    contents[f"{module}/__init__.py"] = "class Plugin:\n    pass\n"
    needs = f"Requires-Dist: {requires}\n" if requires else ""
    contents[f"{info}/METADATA"] = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{needs}"
    contents[f"{info}/WHEEL"] = "Wheel-Version: 1.0\nGenerator: bench\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    contents[f"{info}/entry_points.txt"] = f"[plugyard]\n{name} = {module}:Plugin\n"
    lines = []
    for path, text in contents.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
        lines.append(f"{path},sha256={digest},{len(text.encode())}\n")
    contents[f"{info}/RECORD"] = "".join([*lines, f"{info}/RECORD,,\n"])
    with zipfile.ZipFile(folder / f"{module}-{version}-py3-none-any.whl", "w", zipfile.ZIP_DEFLATED) as archive:
        for path, text in contents.items():
            archive.writestr(path, text)


def _packages(home: Path, links: Path) -> Packages:
    database = Database(f"sqlite:///{home / 'plugyard.db'}")
    METADATA.create_all(database.engine)
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("PIP_")},
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_NO_INDEX": "1",
    }
    options = PackageOptions(
        home=home, plugins_file=home / "plugins.txt", find_links=[str(links)], environment=environment
    )
    callbacks = PackageCallbacks(inspect=lambda _folders, _name: [], on_switch=lambda _session, _number: None)
    return Packages(database, options, callbacks)


def _median(function: Callable[[int], object], *, rounds: int = ROUNDS) -> float:
    times = []
    for number in range(rounds):
        start = perf_counter()
        function(number)
        times.append((perf_counter() - start) * 1000)
    return statistics.median(times)


def _figures(packages: Packages, plugins_file: Path) -> Iterator[Figure]:
    def wanted(name: str) -> InstallRequest:
        return InstallRequest(packagename=name)

    beside = f"beside {INSTALLED} plugins"
    yield Figure("plan, nothing installed", _median(lambda _: packages.plan(wanted("plug-0"))), "ms")
    plugins_file.write_text("".join(f"plug-{number}\n" for number in range(INSTALLED)), encoding="utf-8")
    yield Figure(f"follow a file of {INSTALLED} plugins", _median(lambda _: packages.sync(), rounds=1), "ms")
    base = packages.current().number
    yield Figure(f"plan, {beside}", _median(lambda one: packages.plan(wanted(f"new-{one}"))), "ms")
    yield Figure(f"install {FILES} files, {beside}", _median(lambda one: packages.install(wanted(f"new-{one}"))), "ms")
    yield Figure("install again", _median(lambda one: packages.install(wanted(f"new-{one}"))), "ms")
    newest = packages.current().number
    yield Figure("roll back and forth", _median(lambda one: packages.restore(newest if one % 2 else base)), "ms")
    yield Figure("uninstall", _median(lambda one: packages.uninstall(f"plug-{one}")), "ms")
    yield Figure("start, everything in order", _median(lambda _: packages.recover()), "ms")
    assert len(packages.current().folders) == INSTALLED + 1 - ROUNDS


def run() -> list[Figure]:
    """Change packages again and again, from a folder of wheels; what plugins do when they are loaded is left out."""
    with tempfile.TemporaryDirectory() as folder:
        home, links = Path(folder) / "home", Path(folder) / "links"
        home.mkdir()
        links.mkdir()
        _wheel(links, "shared", "1.0")
        for name in (*(f"plug-{one}" for one in range(INSTALLED)), *(f"new-{one}" for one in range(ROUNDS))):
            _wheel(links, name, "1.0", requires="shared", files=FILES)
        return list(_figures(_packages(home, links), home / "plugins.txt"))
