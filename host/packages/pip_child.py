"""Run pip in a process of its own. Started as a script with ``python -I``; imports nothing of the host.

The first argument is the number of the parent process, the second ``wheels`` (nothing may be built, so no further
process may start) or ``builds``; the others are pip's.
"""

from __future__ import annotations

import os
import runpy
import signal
import sys
from types import FrameType

_PR_SET_PDEATHSIG = 1
# Asks the administrator's key ring for the password of an index, if they configured pip to do so.
_ALLOWED = {"keyring"}


def _end_group(_signal: int, _frame: FrameType | None) -> None:
    os.killpg(0, signal.SIGKILL)


def _die_with(parent: int) -> None:
    if sys.platform != "linux":
        return
    import ctypes  # noqa: PLC0415 - only Linux has the call

    signal.signal(signal.SIGTERM, _end_group)
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        sys.exit("The process that started pip is gone.")


def _refuse_processes(event: str, arguments: tuple[object, ...]) -> None:
    if event not in {"subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn"}:
        return
    program = os.path.basename(str(arguments[0]))  # noqa: PTH119 - runs for every audit event; pathlib audits too
    if program not in _ALLOWED:
        message = f"Building from source is switched off, and {program} would have been started for it."
        raise PermissionError(message)


if __name__ == "__main__":
    _die_with(int(sys.argv[1]))
    if sys.argv[2] == "wheels":
        sys.addaudithook(_refuse_processes)
    sys.argv = ["pip", *sys.argv[3:]]
    runpy.run_module("pip", run_name="__main__", alter_sys=True)
