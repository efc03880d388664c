"""The service and the bare application, run beside each other and loaded in turn."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self, TypeAlias

from benchmarks.bare_app import VARIABLE
from benchmarks.figures import interleaved
from benchmarks.load import Job, Load
from benchmarks.serving import PLUGYARD, Served, exchange
from tests.e2e.hosts import environment

Side: TypeAlias = Literal["ours", "bare"]

PLUGINS = 60
CONNECTIONS = 12
ROUNDS = 7
SECONDS = 1.5
WARM_UP_SECONDS = 0.5
LEAST_SHARE = 60.0
"""Of the requests per second of the bare application, in percent."""

_OURS = [PLUGYARD, "serve", "--port", "{port}"]
_BARE = [sys.executable, "-m", "uvicorn", "--factory", "benchmarks.bare_app:application", "--port", "{port}"]
_BARE += ["--http", "httptools", "--loop", "uvloop", "--ws", "none", "--no-access-log", "--no-server-header"]
_ROOT = Path(__file__).parent.parent
_MODULE = '''"""Plugins to list."""

from host import Plugin


class Bench(Plugin):
    """Bench"""
'''


def _distribution(folder: Path) -> Path:
    """Write one distribution with many plugins, so that lists have something to show."""
    info = folder / "plugyard_bench_plugins-1.0.dist-info"
    info.mkdir(parents=True)
    (folder / "plugyard_bench_plugins.py").write_text(_MODULE)
    (info / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: plugyard-bench-plugins\nVersion: 1.0\nSummary: Plugins to list\n"
        "Author: Somebody\nLicense: MIT\nHome-page: https://example.org/bench\n"
    )
    lines = [f"bench-{number:02} = plugyard_bench_plugins:Bench" for number in range(PLUGINS)]
    (info / "entry_points.txt").write_text("\n".join(["[plugyard]", *lines, ""]))
    (info / "RECORD").write_text("plugyard_bench_plugins.py,,\nplugyard_bench_plugins-1.0.dist-info/RECORD,,\n")
    return folder


@dataclass(frozen=True, slots=True)
class Speed:
    """What each round measured."""

    per_second: list[float]
    slow_ms: list[float] = field(default_factory=list)


class SideBySide:
    """Both servers and the process that loads them; use it in a ``with`` statement.

    Args:
        root: an empty folder for what they keep.

    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._running = ExitStack()
        self.known: dict[str, Any] = {}
        """What ``benchmarks.capture`` printed."""

    def __enter__(self) -> Self:
        home = self._root / "home"
        home.mkdir()
        variables = environment(home, sample_plugins="1")
        variables["PYTHONPATH"] = f"{_distribution(self._root / 'site')}{os.pathsep}{_ROOT}"
        file = self._root / "captured.json"
        capture = [sys.executable, "-m", "benchmarks.capture"]
        printed = subprocess.run(capture, env=variables, cwd=home, check=True, stdout=subprocess.PIPE).stdout
        file.write_bytes(printed)
        self.known = json.loads(printed)
        with ExitStack() as running:
            bare = Served(_BARE, {**variables, VARIABLE: str(file)}, "/", self._root)
            self._servers: dict[Side, Served] = {
                "ours": running.enter_context(Served(_OURS, variables, "/health", home)),
                "bare": running.enter_context(bare),
            }
            self._load = running.enter_context(Load())
            self._running = running.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._running.close()

    def check_sql(self, expected: Mapping[str, list[int]]) -> None:
        """Check how many statements the transactions of endpoints have: bare ones know no others."""
        shapes = {kind: [len(statements) for statements in self.known["sql"][kind]] for kind in expected}
        assert shapes == expected, shapes

    def check_answers(self, request: bytes) -> None:
        """Check that both answer a request alike, to the byte."""
        head, _, body = request.partition(b"\r\n\r\n")
        once = head + b"\r\nConnection: close\r\n\r\n" + body
        answers = {side: exchange(served.port, once) for side, served in self._servers.items()}
        assert all(answer.startswith(b"HTTP/1.1 200 ") for answer in answers.values()), answers
        bodies = [answer.partition(b"\r\n\r\n")[2] for answer in answers.values()]
        assert bodies[0] == bodies[1], answers

    def measure(self, asked: Mapping[str, tuple[Side, bytes]]) -> Mapping[str, Speed]:
        """Ask in turn, each request of its side; what one round measured can be compared."""
        slow: dict[str, list[float]] = {name: [] for name in asked}

        def ask(name: str, seconds: float = SECONDS) -> float:
            side, request = asked[name]
            port = self._servers[side].port
            job = Job(port=port, request=request.decode(), connections=CONNECTIONS, seconds=seconds)
            result = self._load.run(job)
            slow[name].append(result.slow_ms)
            return result.per_second

        for name in asked:
            ask(name, WARM_UP_SECONDS)
        found = interleaved({name: partial(ask, name) for name in asked}, ROUNDS)
        return {name: Speed(found[name], slow[name][1:]) for name in asked}
