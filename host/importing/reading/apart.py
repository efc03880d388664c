"""Read a file in a child process with limits, line by line."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final

from host.children.environment import child_environment
from host.importing.reading.table import DataFileError

# What an interpreter needs; everything else may hold secrets.
_KEPT_VARIABLES: Final = frozenset({"PATH", "HOME", "TZ", "TMPDIR", "PYTHONHOME", "LD_LIBRARY_PATH"})
_LONGEST_LINE: Final = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class ChildLimits:
    """What a child may use."""

    cpu_seconds: int = 60
    memory: int = 768 * 1024**2
    """Bytes of address space."""


def read_apart(path: Path, kind: str, columns: int, limits: ChildLimits | None = None) -> Generator[Sequence[str]]:
    """Iterate over the lines of the table in a spreadsheet or JSON file.

    Args:
        path: of the file, on this machine.
        kind: ``xlsx``, ``ods`` or ``json``.
        columns: how many there may be; the rest of a wider table is not read.
        limits: of the child.

    Raises:
        DataFileError: the file cannot be read.

    """
    limits = limits or ChildLimits()
    question = {
        "path": str(path),
        "format": kind,
        "columns": columns,
        "parent": os.getpid(),
        "memory": limits.memory,
        "cpu": limits.cpu_seconds,
    }
    with _started() as child:
        try:
            _ask(child, question)
            yield from _answers(child)
        finally:
            child.kill()


def _started() -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            [sys.executable, "-P", "-m", "host.importing.reading.child"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=tempfile.gettempdir(),
            env=child_environment(_KEPT_VARIABLES),
        )
    except OSError as error:
        raise DataFileError(f"The process that reads files cannot be started ({type(error).__name__}).") from None


def _ask(child: subprocess.Popen[bytes], question: dict[str, Any]) -> None:
    if child.stdin is not None:
        try:
            child.stdin.write(json.dumps(question).encode())
            child.stdin.close()
        except BrokenPipeError:  # it has ended already; how says its answer
            return


def _answers(child: subprocess.Popen[bytes]) -> Iterator[list[str]]:
    stdout: BinaryIO | None = child.stdout  # type: ignore[assignment]  # a pipe, as asked for
    while stdout is not None and (line := stdout.readline(_LONGEST_LINE)):
        answer = _loaded(line)
        if isinstance(answer, list):
            yield answer
        elif isinstance(answer, dict):
            if "error" in answer:
                raise DataFileError(answer["error"])
            return
    raise DataFileError(_end(child.wait()))


def _loaded(line: bytes) -> Any:
    try:
        return json.loads(line)
    except ValueError:  # it ended in the middle
        return None


def _end(code: int) -> str:
    if code in {-signal.SIGXCPU, -signal.SIGKILL}:
        return "Reading the file takes too long. Import it in parts, or save the table as CSV."
    if code in {-signal.SIGABRT, -signal.SIGSEGV}:  # how readers end that get no more of it
        return "The file needs too much memory to be read. Import it in parts, or save the table as CSV."
    return f"The file cannot be read: its reader ended with code {code}. Save the table as CSV and try again."
