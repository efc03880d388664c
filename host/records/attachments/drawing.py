"""Asking the child process that makes small pictures."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from typing import BinaryIO, Final

from host.children.environment import child_environment

_LOG = logging.getLogger("plugyard.attachments")

# What an interpreter needs; everything else may hold secrets.
_KEPT_VARIABLES: Final = frozenset({"PATH", "HOME", "TMPDIR", "PYTHONHOME", "LD_LIBRARY_PATH"})


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawingLimits:
    """What a child may use."""

    seconds: float = 60.0
    cpu_seconds: int = 30
    memory: int = 1024**3
    """Bytes of address space."""


def draw_apart(image: BinaryIO, limits: DrawingLimits | None = None) -> bytes | None:
    """Return a small PNG of an image, made by a child process; ``None`` of what none can be made of.

    Args:
        image: a file of this machine, read from where it stands.
        limits: of the child.

    Raises:
        OSError: the child cannot be started.

    """
    limits = limits or DrawingLimits()
    numbers = (os.getpid(), limits.memory, limits.cpu_seconds)
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-m", "host.records.attachments.thumbnail_child", *map(str, numbers)],
            stdin=image,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=tempfile.gettempdir(),
            env=child_environment(_KEPT_VARIABLES),
            timeout=limits.seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        _LOG.info("no thumbnail: making it takes more than %g seconds", limits.seconds)
        return None
    if done.returncode:
        _LOG.info("no thumbnail: the process that was to make it ended with code %s", done.returncode)
        return None
    return done.stdout or None
