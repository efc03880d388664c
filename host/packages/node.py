"""Which process on which machine is at work, and whether it is still alive."""

from __future__ import annotations

import os
import socket
from functools import cache
from hashlib import sha256
from pathlib import Path
from uuid import uuid4


@cache
def node_id() -> str:
    """Name this machine, or this container of it, so that process numbers mean the same within one name."""
    parts = [socket.gethostname()]
    for read in (_boot, _namespace):
        try:
            parts.append(read())
        except OSError:
            parts.append("")
    return sha256("\n".join(parts).encode()).hexdigest()[:16]


def new_owner() -> str:
    """Return a name for one piece of work of this process, unlike any other."""
    return f"{node_id()}/{os.getpid()}/{_started(os.getpid()) or 0}/{uuid4().hex}"


def is_gone(owner: str) -> bool:
    """Tell whether the process behind an owner's name is surely gone; False where it cannot be known."""
    node, _, rest = owner.partition("/")
    pid_text, _, rest = rest.partition("/")
    if node != node_id() or not pid_text.isdigit() or os.name != "posix":
        return False
    pid = int(pid_text)
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    started = _started(pid)
    recorded = rest.partition("/")[0]
    if started is None:
        return Path("/proc/self/stat").exists()  # a zombie, or gone since the line above
    return recorded not in {"0", str(started)}


def _started(pid: int) -> int | None:
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    fields = text.rpartition(")")[2].split()
    return None if fields[0] in {"Z", "X"} else int(fields[19])


def _boot() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()


def _namespace() -> str:
    return str(Path("/proc/self/ns/pid").readlink())
