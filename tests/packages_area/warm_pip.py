"""The host's pip in processes that have loaded it already; run as a script, the process that they are copies of.

Nine tenths of the time that pip takes in a test go into its imports. What runs is ``host/packages/pip_child.py``
itself, with the arguments and variables that the host gives it. Reading along, the time limit and the end with the host
are left to the tests that start pip as the host does.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import runpy
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from host.packages.pip_process import OnLine, Pip, PipRun

_LOADED = (
    "_internal.cli.main",
    "_internal.cli.main_parser",
    "_internal.commands.download",
    "_internal.commands.install",
    "_internal.metadata.importlib",
    "_internal.resolution.resolvelib.resolver",
    "_internal.utils.wheel",
    "_vendor.distro",
    "_vendor.truststore",
)
"""What pip is slow to load; where another version has no such module it loads the others later."""
_CHILD = Path(__file__).parents[2] / "host" / "packages" / "pip_child.py"


class WarmPip:
    """Runs pip as ``Pip`` does."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self._turn = threading.Lock()

    def instead_of(self, pip: Pip) -> Pip:
        """Return a pip with the same settings that needs no start."""
        # Loaded here, for the script is to load nothing but pip.
        from host.packages.masking import mask  # noqa: PLC0415
        from host.packages.pip_process import Pip, PipRun  # noqa: PLC0415

        warm = self

        class Warmed(Pip):
            def run(self, arguments: Sequence[str], *, on_line: OnLine) -> PipRun:
                mode = "builds" if self.allow_builds else "wheels"
                code, text = warm.ask([mode, *arguments], self._variables())
                lines = tuple(mask(line.rstrip()) for line in text.splitlines())
                for line in lines:
                    on_line(line)
                return PipRun(code, lines)

        return Warmed(limit=pip.limit, allow_builds=pip.allow_builds, environment=pip._environment)

    def ask(self, arguments: Sequence[str], variables: dict[str, str]) -> tuple[int, str]:
        """Run pip, and return its exit code and what it printed."""
        assert self._process.stdin
        assert self._process.stdout
        with self._turn, tempfile.NamedTemporaryFile() as output:
            self._process.stdin.write(json.dumps([output.name, arguments, variables]) + "\n")
            self._process.stdin.flush()
            code = int(self._process.stdout.readline())
            return code, output.read().decode("utf-8", "replace")


@contextmanager
def running_pip() -> Iterator[WarmPip]:
    """Load pip once."""
    command = [sys.executable, "-I", "-X", "utf8", "-u", __file__]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield WarmPip(process)
        assert process.stdin
        process.stdin.close()


def _serve() -> None:
    for name in _LOADED:
        with suppress(ImportError):
            importlib.import_module(f"pip.{name}")
    gc.freeze()
    for line in sys.stdin:
        output, arguments, variables = json.loads(line)
        parent = os.getpid()
        if child := os.fork():
            _, status = os.waitpid(child, 0)
            sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
            continue
        _become_pip(output, [str(parent), *arguments], variables)


def _become_pip(output: str, arguments: Sequence[str], variables: dict[str, str]) -> None:
    os.setsid()
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(os.open(output, os.O_WRONLY), 1)
    os.dup2(1, 2)
    os.environ.clear()
    os.environ.update(variables)
    sys.argv = [str(_CHILD), *arguments]
    runpy.run_path(str(_CHILD), run_name="__main__")


if __name__ == "__main__":
    _serve()
