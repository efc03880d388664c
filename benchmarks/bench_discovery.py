"""How long discovery takes: the first look, a look when nothing has changed, and the first look after a restart."""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from time import perf_counter

from benchmarks.figures import Figure, Target, interleaved, median_ratio
from host.contract.markers import ENTRY_POINT_GROUP
from host.plugins.convergence import Convergence
from host.plugins.discovery import Discovery
from host.storage.engine import Database

SIZES = (50, 200, 1000)
PLUGINS_IN = 20
STORE_FOLDERS = 200
WARM_LIMIT_MS = 2.0
_ROUNDS = 7


def _write(folder: Path, number: int, *, plugin: bool) -> None:
    info = folder / f"package_{number:04}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: package-{number:04}\nVersion: 1.0\n\n" + "text\n" * 50
    )
    (info / "RECORD").write_text("".join(f"package_{number:04}/module_{one}.py,sha256=x,1\n" for one in range(40)))
    group = ENTRY_POINT_GROUP if plugin else "console_scripts"
    if plugin or number % 3 == 0:
        (info / "entry_points.txt").write_text(f"[{group}]\nplugin-{number} = package_{number:04}:Plugin\n")


def _milliseconds(function: Callable[[], object], repeat: int) -> Callable[[], float]:
    def measure() -> float:
        start = perf_counter()
        for _ in range(repeat):
            function()
        return (perf_counter() - start) / repeat * 1000

    return measure


def _settle(*folders: Path) -> None:
    # A folder that was changed just now is read again each time.
    for folder in folders:
        os.utime(folder, ns=(10**18, 10**18))


def _usual(folder: Path) -> Callable[[], object]:
    def look() -> metadata.EntryPoints:
        before = sys.path
        sys.path = [str(folder)]
        try:
            return metadata.entry_points(group=ENTRY_POINT_GROUP)
        finally:
            sys.path = before

    assert len(look()) == PLUGINS_IN
    return look


def _of_size(root: Path, size: int) -> list[Figure]:
    folder = root / f"site-{size}"
    for number in range(size):
        _write(folder, number, plugin=number < PLUGINS_IN)
    _settle(folder)
    cache = root / f"cache-{size}.json"

    def discovery() -> Discovery:
        return Discovery(store_folders=tuple, cache=cache, environment=[folder])

    finder = discovery()
    assert len(finder.find().distributions) == PLUGINS_IN
    found = interleaved(
        {
            "usual": _milliseconds(_usual(folder), 1),
            "cold": _milliseconds(lambda: finder.find(fresh=True), 1),
            "warm": _milliseconds(finder.find, 100),
            "restart": _milliseconds(lambda: discovery().find(), 10),
        },
        _ROUNDS,
    )
    values = {name: statistics.median(times) for name, times in found.items()}
    target = Target(WARM_LIMIT_MS) if size == max(SIZES) else None
    return [
        Figure(f"{size} distributions, importlib.metadata", values["usual"], "ms"),
        Figure(f"{size} distributions, first look", values["cold"], "ms"),
        Figure(f"{size} distributions, nothing changed", values["warm"], "ms", target),
        Figure(f"{size} distributions, after a restart", values["restart"], "ms"),
        Figure(f"{size} distributions, nothing changed : importlib", median_ratio(found["warm"], found["usual"]), "x"),
    ]


def _of_store(root: Path) -> Figure:
    store = [root / "store" / f"package_{number:04}-1.0-0" for number in range(STORE_FOLDERS)]
    for number, folder in enumerate(store):
        _write(folder, number, plugin=number < PLUGINS_IN)
    _settle(*store)
    finder = Discovery(store_folders=lambda: store, cache=root / "cache-store.json", environment=[])
    finder.find()
    times = interleaved({"warm": _milliseconds(finder.find, 50)}, _ROUNDS)["warm"]
    return Figure(f"{STORE_FOLDERS} store folders, nothing changed", statistics.median(times), "ms")


def _of_staleness(root: Path) -> Figure:
    signal = root / "registry.generation"
    convergence = Convergence(database=Database(f"sqlite:///{root}/bench.db"), file=signal, kind="web")
    signal.touch()
    convergence.settle(convergence.mark())
    times = interleaved({"check": _milliseconds(convergence.is_stale, 10_000)}, _ROUNDS)["check"]
    return Figure("look for changes at each request", statistics.median(times) * 1000, "µs")


def run() -> list[Figure]:
    """Look for plugins in folders of several sizes, as the host does and as the standard library does."""
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        figures = [figure for size in SIZES for figure in _of_size(root, size)]
        return [*figures, _of_store(root), _of_staleness(root)]
