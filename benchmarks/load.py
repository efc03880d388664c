"""Load from a process of its own: many connections that each ask again as soon as they are answered.

Reads jobs from standard input and prints their results, both one JSON object a line. It speaks just enough HTTP/1.1 to
send the same bytes again and again, and to see where an answer ends, so that the server is busy and not this process.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from collections import Counter
from dataclasses import asdict, dataclass
from functools import partial
from types import TracebackType
from typing import Any, Self

import uvloop


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What to ask, and for how long."""

    port: int
    request: str
    """The whole request, as it goes over the wire."""
    connections: int
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What came of a job."""

    answers: int
    seconds: float
    statuses: dict[str, int]
    median_ms: float
    slow_ms: float
    """99 of 100 answers took less."""

    @property
    def per_second(self) -> float:
        """Answers in a second."""
        return self.answers / self.seconds


class Load:
    """The process that loads servers; use it in a ``with`` statement."""

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.load"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.communicate()

    def run(self, job: Job) -> Result:
        """Let it do a job, and return what came of it."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(asdict(job)) + "\n")
        self._process.stdin.flush()
        result = Result(**json.loads(self._process.stdout.readline()))
        assert list(result.statuses) == ["200"], result
        return result


class _Connection(asyncio.Protocol):
    def __init__(self, request: bytes, until: float, closed: asyncio.Future[None]) -> None:
        self._request = request
        self._until = until
        self._closed = closed
        self._received = b""
        self._sent = 0.0
        self.statuses: Counter[str] = Counter()
        self.times: list[float] = []

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        self._ask()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002  # the name is the base class's
        if not self._closed.done():
            self._closed.set_result(None)

    def data_received(self, data: bytes) -> None:
        received = self._received + data if self._received else data
        head = received.find(b"\r\n\r\n")
        if head < 0 or len(received) < head + 4 + _length(received):
            self._received = received
            return
        self._received = b""
        self.times.append(time.perf_counter() - self._sent)
        self.statuses[received[9:12].decode()] += 1
        if time.perf_counter() < self._until:
            self._ask()
        else:
            self._transport.close()

    def _ask(self) -> None:
        self._sent = time.perf_counter()
        self._transport.write(self._request)


def _length(answer: bytes) -> int:
    start = answer.index(b"content-length: ") + 16
    return int(answer[start : answer.index(b"\r", start)])


async def _run(job: Job) -> Result:
    loop = asyncio.get_running_loop()
    request = job.request.encode("latin-1")
    began = time.perf_counter()
    connections, ends = [], []
    for _ in range(job.connections):
        closed = loop.create_future()
        made = partial(_Connection, request, began + job.seconds, closed)
        _, connection = await loop.create_connection(made, "127.0.0.1", job.port)
        connections.append(connection)
        ends.append(closed)
    await asyncio.gather(*ends)
    seconds = time.perf_counter() - began
    times = sorted(one for connection in connections for one in connection.times)
    statuses = sum((connection.statuses for connection in connections), Counter[str]())
    return Result(
        answers=len(times),
        seconds=seconds,
        statuses=dict(statuses),
        median_ms=times[len(times) // 2] * 1000,
        slow_ms=times[len(times) * 99 // 100] * 1000,
    )


def main() -> None:
    """Do the jobs that come in, one after the other."""
    for line in sys.stdin:
        print(json.dumps(asdict(uvloop.run(_run(Job(**json.loads(line)))))), flush=True)


if __name__ == "__main__":
    main()
