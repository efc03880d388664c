"""pip, run as a child process with a time limit, its output passed on line by line."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from host.errors import UnavailableError
from host.packages.masking import mask

_SCRIPT = Path(__file__).with_name("pip_child.py")

# These would turn a dry run, a download or a build into something else. All other settings are the administrator's.
_NOT_PASSED_ON = frozenset(
    f"PIP_{name}"
    for name in (
        "DRY_RUN", "EDITABLE", "FORCE_REINSTALL", "IGNORE_INSTALLED", "LOG", "NO_DEPS", "NO_DEPENDENCIES", "PREFIX",
        "PYTHON", "QUIET", "REPORT", "REQUIREMENT", "REQUIRE_VIRTUALENV", "ROOT", "TARGET", "UPGRADE", "USER",
    )
)  # fmt: skip

OnLine = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class PipRun:
    """What one run of pip did."""

    code: int
    lines: tuple[str, ...]
    """What it printed, without credentials."""
    timed_out: bool = False

    @property
    def output(self) -> str:
        """The printed lines as one text."""
        return "\n".join(self.lines)


class Pip:
    """Runs the pip of the host's own environment, which it never changes.

    Args:
        limit: seconds that one run may take.
        allow_builds: whether pip may start other processes: version control, and the build of a source distribution.
        environment: variables to run with instead of this process's.

    """

    def __init__(
        self, *, limit: float = 300.0, allow_builds: bool = False, environment: Mapping[str, str] | None = None
    ) -> None:
        self.limit = limit
        self.allow_builds = allow_builds
        self._environment = environment

    def run(self, arguments: Sequence[str], *, on_line: OnLine) -> PipRun:
        """Run pip and pass on each line that it prints.

        Raises:
            UnavailableError: pip could not be started.

        """
        mode = "builds" if self.allow_builds else "wheels"
        command = [sys.executable, "-I", "-X", "utf8", "-u", str(_SCRIPT), str(os.getpid()), mode, *arguments]
        try:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env=self._variables(),
                start_new_session=True,
            )
        except OSError as error:
            raise UnavailableError(f"pip cannot be started: {error}.") from error
        return _follow(process, self.limit, on_line)

    def _variables(self) -> dict[str, str]:
        given = os.environ if self._environment is None else self._environment
        kept = {
            name: value
            for name, value in given.items()
            if not name.upper().startswith("PLUGYARD_") and name.upper() not in _NOT_PASSED_ON
        }
        return kept | {
            "GIT_TERMINAL_PROMPT": "0",
            "NO_COLOR": "1",
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "PIP_NO_INPUT": "1",
            "PIP_PROGRESS_BAR": "off",
        }


def _follow(process: subprocess.Popen[bytes], limit: float, on_line: OnLine) -> PipRun:
    expired = threading.Event()

    def end() -> None:
        if process.poll() is None:
            expired.set()
            _kill(process)

    timer = threading.Timer(limit, end)
    timer.daemon = True
    timer.start()
    lines: list[str] = []
    assert process.stdout is not None  # noqa: S101 - it was asked for above
    try:
        for raw in process.stdout:
            line = mask(raw.decode("utf-8", "replace").rstrip())
            lines.append(line)
            on_line(line)
        process.wait()
    finally:
        timer.cancel()
        process.stdout.close()
        if process.poll() is None:
            _kill(process)
            process.wait()
    return PipRun(process.returncode, tuple(lines), expired.is_set())


def _kill(process: subprocess.Popen[bytes]) -> None:
    try:
        if os.name == "posix":
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    except ProcessLookupError:
        pass
