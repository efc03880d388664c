"""Requests per second, against endpoints that were written by hand for nothing else."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.bare_app import VARIABLE
from benchmarks.capture import ACTION, ACTION_BODY, EVERYTHING, PAGE
from benchmarks.figures import Figure, Target, interleaved, median_ratio
from benchmarks.load import Job, Load
from benchmarks.serving import PLUGYARD, Served, exchange
from tests.e2e.hosts import environment

PLUGINS = 60
CONNECTIONS = 12
ROUNDS = 7
SECONDS = 1.5
WARM_UP_SECONDS = 0.5
LEAST_SHARE = 60.0

_ROOT = Path(__file__).parent.parent
_OURS = [PLUGYARD, "serve", "--port", "{port}"]
_BARE = [sys.executable, "-m", "uvicorn", "--factory", "benchmarks.bare_app:application", "--port", "{port}"]
_BARE += ["--http", "httptools", "--loop", "uvloop", "--ws", "none", "--no-access-log", "--no-server-header"]
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


def _requests(token: str) -> dict[str, bytes]:
    body = json.dumps(ACTION_BODY)
    head = f"Host: bench\r\nAuthorization: Token {token}\r\nAccept: application/json\r\nUser-Agent: bench\r\n"
    post = f"{head}Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
    return {
        "page": f"GET {PAGE} HTTP/1.1\r\n{head}\r\n".encode(),
        "everything": f"GET {EVERYTHING} HTTP/1.1\r\n{head}\r\n".encode(),
        "action": f"POST {ACTION} HTTP/1.1\r\n{post}\r\n{body}".encode(),
    }


_NAMES = {"page": f"GET {PAGE}", "everything": f"GET {EVERYTHING}", "action": f"POST {ACTION}"}


def run() -> list[Figure]:
    """Load both servers in turn."""
    with TemporaryDirectory(prefix="plugyard-bench-") as name, ExitStack() as running:
        root = Path(name)
        home = root / "home"
        home.mkdir()
        variables = environment(home, sample_plugins="1")
        variables["PYTHONPATH"] = f"{_distribution(root / 'site')}{os.pathsep}{_ROOT}"
        known = _captured(variables, home, root / "captured.json")
        servers = {
            "ours": running.enter_context(Served(_OURS, variables, "/health", home)),
            "bare": running.enter_context(
                Served(_BARE, variables | {VARIABLE: str(root / "captured.json")}, "/", root)
            ),
        }
        requests = _requests(known["token"])
        for request in requests.values():
            _check_answers(servers, request)
        return _measure(running.enter_context(Load()), servers, requests)


def _captured(variables: Mapping[str, str], home: Path, file: Path) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.capture"]
    file.write_bytes(subprocess.run(command, env=variables, cwd=home, check=True, stdout=subprocess.PIPE).stdout)
    known: dict[str, Any] = json.loads(file.read_bytes())
    # The bare endpoints could not answer from other queries than these.
    shapes = {kind: [len(statements) for statements in parts] for kind, parts in known["sql"].items()}
    assert shapes == {"page": [1, 2], "everything": [1, 1], "action": [1]}, shapes
    return known


def _check_answers(servers: Mapping[str, Served], request: bytes) -> None:
    head, _, body = request.partition(b"\r\n\r\n")
    once = head + b"\r\nConnection: close\r\n\r\n" + body
    answers = {name: exchange(served.port, once) for name, served in servers.items()}
    bodies = [answer.partition(b"\r\n\r\n")[2] for answer in answers.values()]
    assert bodies[0] == bodies[1], answers


def _measure(load: Load, servers: Mapping[str, Served], requests: Mapping[str, bytes]) -> list[Figure]:
    return [figure for kind, name in _NAMES.items() for figure in _compared(load, servers, requests[kind], name)]


def _compared(load: Load, servers: Mapping[str, Served], request: bytes, name: str) -> list[Figure]:
    slow: dict[str, list[float]] = {server: [] for server in servers}

    def ask(server: str, seconds: float = SECONDS) -> float:
        port = servers[server].port
        result = load.run(Job(port=port, request=request.decode(), connections=CONNECTIONS, seconds=seconds))
        slow[server].append(result.slow_ms)
        return result.per_second

    for server in servers:
        ask(server, WARM_UP_SECONDS)
    found = interleaved({server: partial(ask, server) for server in servers}, ROUNDS)
    share = median_ratio(found["ours"], found["bare"]) * 100
    return [
        Figure(f"{name}, bare", statistics.median(found["bare"]), "req/s"),
        Figure(f"{name}, ours", statistics.median(found["ours"]), "req/s"),
        Figure(f"{name}, ours of bare", share, "%", Target(LEAST_SHARE, at_least=True)),
        Figure(f"{name}, bare, 99 % within", statistics.median(slow["bare"][1:]), "ms"),
        Figure(f"{name}, ours, 99 % within", statistics.median(slow["ours"][1:]), "ms"),
    ]
