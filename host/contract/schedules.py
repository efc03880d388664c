"""Schedules: do something again and again, outside of requests."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from host.contract.cron import Cron
from host.contract.markers import Asked, MaybeAwaitable, hookspec

ScheduleType: TypeAlias = Literal["I", "H", "D", "W", "BW", "M", "BM", "Q", "Y", "C", "O"]
"""Every so many minutes; hourly, daily, weekly, every two weeks; monthly, every two months, quarterly, yearly; by a
cron expression; once."""

_TYPES = frozenset({"I", "H", "D", "W", "BW", "M", "BM", "Q", "Y", "C", "O"})
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")
_MOST_MINUTES = 366 * 24 * 60
_MOST_ATTEMPTS = 100
_MOST_REPEATS = 2**31 - 1
_MOST_SECONDS = 24 * 60 * 60


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduledTask:
    """Something a plugin does again and again.

    The first run is at once, but for ``C``, which runs when the expression says, in the server's time zone. A run that
    is due while the one before still goes on is left out.
    """

    name: str
    """Unique within the plugin; the task appears as ``plugin.<key>.<name>``."""
    function: Callable[[], MaybeAwaitable[object]]
    """What to do; what it returns is noted as the result."""
    schedule: ScheduleType = "I"
    minutes: int | None = None
    """For ``I``."""
    cron: str = ""
    """For ``C``: minute, hour, day of the month, month, day of the week."""
    repeats: int = -1
    """How many runs; -1 for ever."""
    timeout: float = 300.0
    """Seconds that one run may take."""
    attempts: int = 5
    """How often a run is tried, five minutes apart, until the next one is due."""
    repeatable: bool = False
    """Whether a run may be done again when its process died in it, and nobody knows how far it came."""

    def __post_init__(self) -> None:
        """Refuse what could never run.

        Raises:
            ValueError: naming what is wrong.

        """
        _require(
            self.name,
            (_is_name(self.name), f"the name must fit {_NAME.pattern}"),
            (callable(self.function), "function must be callable"),
            (self.schedule in _TYPES, f"schedule must be one of {', '.join(sorted(_TYPES))}"),
            (
                self.schedule != "I" or _is_number(self.minutes, 1, _MOST_MINUTES),
                f"minutes must be a whole number from 1 to {_MOST_MINUTES}",
            ),
            (isinstance(self.cron, str), "cron must be a text"),
            (
                _is_number(self.repeats, -1, _MOST_REPEATS) and self.repeats != 0,
                f"repeats must be -1 or a whole number from 1 to {_MOST_REPEATS}",
            ),
            (
                _is_number(self.attempts, 1, _MOST_ATTEMPTS),
                f"attempts must be a whole number from 1 to {_MOST_ATTEMPTS}",
            ),
            (
                _is_seconds(self.timeout),
                f"timeout must be more than 0 and at most {_MOST_SECONDS} seconds",
            ),
        )
        if self.schedule == "C":
            Cron.parse(self.cron)


def _require(name: object, *checks: tuple[object, str]) -> None:
    for is_right, text in checks:
        if not is_right:
            msg = f"scheduled task {str(name)[:100]!r}: {text}"
            raise ValueError(msg)


def _is_name(value: object) -> bool:
    return isinstance(value, str) and _NAME.fullmatch(value) is not None


def _is_seconds(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= _MOST_SECONDS


def _is_number(value: object, least: int, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


class ScheduleHooks:
    """Hooks of plugins that do something again and again."""

    key = "schedule"
    human_name = "Schedule"

    @hookspec(asked=Asked.ONCE, returns=ScheduledTask, many=True)
    def scheduled_tasks(self) -> MaybeAwaitable[Sequence[ScheduledTask]]:
        """Give what this plugin does again and again.

        When: once, as the plugin is loaded, after ``start``. The functions are called by one worker process at each
        due time, however many there are, and no more once the plugin is deactivated.
        Return: the tasks.
        Failure: the plugin is not loaded and the registry status says why. A function that fails or takes too long is
        reported, and called again after five minutes, at most ``attempts`` times.
        Since: 0.1.
        """
        raise NotImplementedError
