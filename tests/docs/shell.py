"""A shell in which the commands of one page run, one after the other, as a reader would type them."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

_PROMPT = "$ "
_CONTINUED = "> "


@dataclass(frozen=True, slots=True)
class Command:
    """A command of a page, and the output that the page shows after it."""

    text: str
    expected: str


def commands_in(text: str) -> Iterator[Command]:
    """Iterate over the commands of a block: each begins with ``$``, goes on with ``>``, and its output follows."""
    typed: list[str] = []
    shown: list[str] = []
    for line in text.splitlines():
        if line.startswith(_PROMPT):
            if typed:
                yield Command("\n".join(typed), "\n".join(shown))
            typed, shown = [line.removeprefix(_PROMPT)], []
        elif line.startswith(_CONTINUED) and typed and not shown:
            typed.append(line.removeprefix(_CONTINUED))
        else:
            shown.append(line)
    if typed:
        yield Command("\n".join(typed), "\n".join(shown))


class Shell:
    """A running ``bash``; use it in a ``with`` statement."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self._folder = folder
        self._environment = environment
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            ["bash", "--noprofile", "--norc"],
            cwd=self._folder,
            env=dict(self._environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        return self

    def __exit__(self, *_: object) -> None:
        process = self._running()
        os.killpg(process.pid, signal.SIGKILL)
        for pipe in (process.stdin, process.stdout):
            assert pipe is not None
            pipe.close()
        process.wait(10)

    def run(self, command: str, *, seconds: float = 90) -> tuple[int, str]:
        """Run a command and return its exit code and what it printed, errors included."""
        process = self._running()
        assert process.stdin is not None
        assert process.stdout is not None
        end = f"--end-of-{time.monotonic_ns()}--"
        process.stdin.write(f"{{ {command}\n}} </dev/null\nprintf '\\n%s %s\\n' '{end}' $?\n".encode())
        process.stdin.flush()
        printed, deadline = b"", time.monotonic() + seconds
        while end.encode() not in printed or not printed.endswith(b"\n"):
            ready, _, _ = select.select([process.stdout], [], [], max(0.0, deadline - time.monotonic()))
            data = os.read(process.stdout.fileno(), 65536) if ready else b""
            assert data, f"'{command}' did not end within {seconds:g} s; so far:\n{printed.decode()}"
            printed += data
        text, _, code = printed.decode().rpartition(end)
        return int(code), text.removesuffix("\n")

    def _running(self) -> subprocess.Popen[bytes]:
        assert self._process is not None, "the shell was not started"
        return self._process
