"""The limits that a child process puts on itself before it touches what it was started for.

Loaded at the start of every child, and therefore needs nothing but the standard library.
"""

from __future__ import annotations

import os
import resource
import signal
import sys

_PR_SET_PDEATHSIG = 1


def restrain(parent: int, *, memory: int, cpu: int) -> None:
    """Limit this process, and let it end with the one that started it.

    Only Linux bounds the memory and ends the process at once; the thread that started it has to live as long as it.

    Args:
        parent: number of the process that started this one; where that has ended already, this one ends here.
        memory: bytes of address space.
        cpu: seconds of processor time.

    """
    _die_with(parent)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu + 1))
    if sys.platform == "linux":
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))


def _die_with(parent: int) -> None:
    if sys.platform == "linux":
        import ctypes  # noqa: PLC0415 - only Linux has the call

        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)
