"""What the host does by itself, again and again, and what it puts off until after the answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from sqlalchemy.orm import Session

from host.contract.values import Json

ATTEMPTS = 5
PAUSE = 300.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """Work of the host that is done again and again.

    ``run`` may be called by any worker process, never by two at once, and again after one was killed in it.
    ``minutes`` is asked before each run, since settings may change it; 0 leaves the job out.
    """

    name: str
    """As ``news.refresh``; unique."""
    run: Callable[[], object]
    minutes: Callable[[], int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """How one kind of task is done."""

    run: Callable[..., Any]
    """Gets the data of the task as keyword arguments; what it returns is noted as the result."""
    attempts: int = ATTEMPTS
    """How often it is run before it is given up."""
    pause: float = PAUSE
    """Seconds between two runs."""
    is_repeatable: bool = True
    """Whether it may run again after a worker was lost while running it, when nobody knows how far it came."""


class GiveUpError(Exception):
    """Raised by a task that cannot succeed by being run again: it has failed for good."""


class Enqueue(Protocol):
    """Puts work off until the session's transaction is committed; it is forgotten when that is rolled back."""

    def __call__(self, session: Session, name: str, data: Mapping[str, Json]) -> str:
        """Return the identifier of the new task.

        Args:
            session: the caller's.
            name: of the task, as ``attachments.thumbnail``: see :mod:`host.upkeep`.
            data: keyword arguments of its function, as JSON.

        """


def daily() -> int:
    """Return the minutes of a day: how often most jobs run."""
    return 24 * 60
