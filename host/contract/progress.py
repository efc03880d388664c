"""Progress: let a background task say how far it is."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar

PROGRESS: ContextVar[Callable[[int, int], None] | None] = ContextVar("plugyard_progress", default=None)
"""What notes the progress of the task that runs in this context."""

_MOST = 2**63 - 1


def report_progress(progress: int, total: int = 0) -> None:
    """Say how far the background task is that runs here: ``progress`` of ``total``, 0 for a total that is not known.

    Cheap enough for every step of a loop, and without effect where no background task runs.
    """
    note = PROGRESS.get()
    if note is not None:
        note(*(min(max(int(number), 0), _MOST) for number in (progress, total)))
