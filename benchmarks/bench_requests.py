"""Requests per second, against endpoints that were written by hand for nothing else."""

from __future__ import annotations

import json
import statistics
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.capture import ACTION, ACTION_BODY, EVERYTHING, PAGE
from benchmarks.figures import Figure, Target, median_ratio
from benchmarks.side_by_side import LEAST_SHARE, SideBySide


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
    with TemporaryDirectory(prefix="plugyard-bench-") as folder, SideBySide(Path(folder)) as both:
        both.check_sql({"page": [1, 2], "everything": [1, 1], "action": [1]})
        requests = _requests(both.known["token"])
        for request in requests.values():
            both.check_answers(request)
        return [figure for kind, name in _NAMES.items() for figure in _compared(both, requests[kind], name)]


def _compared(both: SideBySide, request: bytes, name: str) -> list[Figure]:
    speeds = both.measure({"ours": ("ours", request), "bare": ("bare", request)})
    ours, bare = speeds["ours"], speeds["bare"]
    share = median_ratio(ours.per_second, bare.per_second) * 100
    return [
        Figure(f"{name}, bare", statistics.median(bare.per_second), "req/s"),
        Figure(f"{name}, ours", statistics.median(ours.per_second), "req/s"),
        Figure(f"{name}, ours of bare", share, "%", Target(LEAST_SHARE, at_least=True)),
        Figure(f"{name}, bare, 99 % within", statistics.median(bare.slow_ms), "ms"),
        Figure(f"{name}, ours, 99 % within", statistics.median(ours.slow_ms), "ms"),
    ]
