"""Servers as processes of their own, reached over a socket of this machine."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

PLUGYARD = str(Path(sys.executable).with_name("plugyard"))
_PATIENCE = 60.0
_PAUSE = 0.005


class Served:
    """A server that runs; use it in a ``with`` statement.

    Args:
        command: starts it; ``{port}`` in it stands for the port.
        environment: of the process.
        path: what is asked to learn whether it is ready; any answer will do, but for errors of the server.
        folder: where it runs.

    """

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], path: str, folder: Path) -> None:
        self.port = _free_port()
        self._command = [part.format(port=self.port) for part in command]
        self._environment = environment
        self._path = path
        self._folder = folder
        self._log = folder / f"server-{self.port}.log"
        self.seconds = 0.0
        """From the start of the process to its first answer."""

    def __enter__(self) -> Self:
        began = time.perf_counter()
        with self._log.open("ab") as output:
            self._process = subprocess.Popen(
                self._command,
                env=dict(self._environment),
                cwd=self._folder,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        request = f"GET {self._path} HTTP/1.1\r\nHost: bench\r\nConnection: close\r\n\r\n".encode()
        while not exchange(self.port, request).startswith((b"HTTP/1.1 2", b"HTTP/1.1 4")):
            assert self._process.poll() is None, self._log.read_text("utf-8", "replace")
            assert time.perf_counter() - began < _PATIENCE, self._log.read_text("utf-8", "replace")
            time.sleep(_PAUSE)
        self.seconds = time.perf_counter() - began
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.send_signal(signal.SIGINT)
        try:
            self._process.wait(20)
        finally:
            self._process.kill()

    @property
    def megabytes(self) -> float | None:
        """Memory that the process holds (RSS); ``None`` where the system does not tell."""
        status = Path(f"/proc/{self._process.pid}/status")
        if not status.exists():
            return None
        found = re.search(r"^VmRSS:\s+(\d+) kB$", status.read_text(), re.MULTILINE)
        return None if found is None else int(found[1]) / 1024


def exchange(port: int, request: bytes) -> bytes:
    """Send a request on a connection of its own, and return the whole answer; nothing where nobody listens.

    The request must ask for the connection to be closed.
    """
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=_PATIENCE) as connection:
            connection.sendall(request)
            return b"".join(iter(lambda: connection.recv(65536), b""))
    except ConnectionError:
        return b""


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
