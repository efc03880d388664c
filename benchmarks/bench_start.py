"""How long a start takes until the first answer, and how much memory the service then holds."""

from __future__ import annotations

import statistics
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.figures import Figure, Target
from benchmarks.serving import PLUGYARD, Served
from tests.e2e.hosts import environment

HOMES = 3
LATER_STARTS = 2
MOST_SECONDS = 2.0


def run() -> list[Figure]:
    """Start with new homes, and with homes that have been used."""
    first: list[float] = []
    later: list[float] = []
    memory: list[float] = []
    with TemporaryDirectory(prefix="plugyard-bench-") as name:
        for number in range(HOMES):
            home = Path(name) / f"home-{number}"
            home.mkdir()
            first.append(_start(home, memory))
            later += [_start(home, memory) for _ in range(LATER_STARTS)]
    figures = [
        Figure("first start: database, administrator, probing", statistics.median(first), "s"),
        Figure("later start", statistics.median(later), "s", Target(MOST_SECONDS)),
    ]
    if memory:
        figures.append(Figure("memory after the start", statistics.median(memory), "MiB"))
    return figures


def _start(home: Path, memory: list[float]) -> float:
    with Served([PLUGYARD, "serve", "--port", "{port}"], environment(home), "/api/", home) as served:
        if served.megabytes is not None:
            memory.append(served.megabytes)
        return served.seconds
