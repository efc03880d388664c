"""Requests per second of callers who prove who they are, by each of the ways."""

from __future__ import annotations

import base64
import statistics
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.capture import ME
from benchmarks.figures import Figure, Target, median_ratio
from benchmarks.side_by_side import LEAST_SHARE, SideBySide, Speed
from tests.e2e.hosts import ADMIN

MOST_FOR_BASIC = 3.0
"""Requests with a token for each with the same password once more."""


def _requests(known: Mapping[str, Any]) -> dict[str, bytes]:
    pair = base64.b64encode(":".join(ADMIN).encode()).decode()
    proofs = {
        "token": f"Authorization: Token {known['token']}",
        "session": f"Cookie: sessionid={known['session']}",
        "basic": f"Authorization: Basic {pair}",
    }
    head = f"GET {ME} HTTP/1.1\r\nHost: bench\r\nAccept: application/json\r\nUser-Agent: bench\r\n"
    return {name: f"{head}{proof}\r\n\r\n".encode() for name, proof in proofs.items()}


def run() -> list[Figure]:
    """Load both servers in turn, with every way to prove who one is in each round."""
    with TemporaryDirectory(prefix="plugyard-bench-") as folder, SideBySide(Path(folder)) as both:
        # The account comes with its groups: one query for the caller, one for what is shown.
        both.check_sql({"me": [1, 1], "me in a session": [1, 1]})
        requests = _requests(both.known)
        both.check_answers(requests["token"])
        both.check_answers(requests["session"])
        speeds = both.measure(
            {
                "token": ("ours", requests["token"]),
                "token, bare": ("bare", requests["token"]),
                "session": ("ours", requests["session"]),
                "session, bare": ("bare", requests["session"]),
                "basic": ("ours", requests["basic"]),
            }
        )
    return [*_compared(speeds, "token"), *_compared(speeds, "session"), *_basic(speeds)]


def _compared(speeds: Mapping[str, Speed], way: str) -> list[Figure]:
    ours, bare = speeds[way], speeds[f"{way}, bare"]
    share = median_ratio(ours.per_second, bare.per_second) * 100
    return [
        Figure(f"GET {ME}, {way}, bare", statistics.median(bare.per_second), "req/s"),
        Figure(f"GET {ME}, {way}, ours", statistics.median(ours.per_second), "req/s"),
        Figure(f"GET {ME}, {way}, ours of bare", share, "%", Target(LEAST_SHARE, at_least=True)),
        Figure(f"GET {ME}, {way}, bare, 99 % within", statistics.median(bare.slow_ms), "ms"),
        Figure(f"GET {ME}, {way}, ours, 99 % within", statistics.median(ours.slow_ms), "ms"),
    ]


def _basic(speeds: Mapping[str, Speed]) -> list[Figure]:
    basic = speeds["basic"]
    ratio = median_ratio(speeds["token"].per_second, basic.per_second)
    return [
        Figure(f"GET {ME}, basic, ours", statistics.median(basic.per_second), "req/s"),
        Figure(f"GET {ME}, token to basic", ratio, "times", Target(MOST_FOR_BASIC)),
        Figure(f"GET {ME}, basic, ours, 99 % within", statistics.median(basic.slow_ms), "ms"),
    ]
