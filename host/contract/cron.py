"""Cron expressions: five fields that say at which minutes something is due."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_FIELDS: tuple[tuple[str, int, int, tuple[str, ...], int], ...] = (
    ("minute", 0, 59, (), 0),
    ("hour", 0, 23, (), 0),
    ("day of the month", 1, 31, (), 0),
    ("month", 1, 12, _MONTHS, 1),
    ("day of the week", 0, 7, _DAYS, 0),
)
_PART = re.compile(r"(\*|[0-9a-z]{1,3})(?:-([0-9a-z]{1,3}))?(?:/([0-9]{1,2}))?")
_NICKNAMES = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
}
_LENGTH = 200
_FARTHEST = 366 * 9
"""Days to look ahead: between two 29th of February lie at most eight years."""


@dataclass(frozen=True, slots=True)
class Cron:
    """A cron expression that has been understood: the allowed values of each field."""

    minutes: tuple[int, ...]
    hours: tuple[int, ...]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    """0 is Sunday."""
    either_day: bool
    """Both kinds of days are restricted: one of them has to fit, as in any cron."""

    @classmethod
    def parse(cls, text: str) -> Cron:
        """Understand an expression such as ``*/15 8-18 * * mon-fri`` or ``@daily``.

        Raises:
            ValueError: it is none, or no day can ever fit; the text says why.

        """
        fields = _NICKNAMES.get(text.strip().lower(), text).lower().split()
        if len(fields) != len(_FIELDS) or len(text) > _LENGTH:
            msg = f"'{text[:_LENGTH]}' is no cron expression: give minute, hour, day, month and day of the week"
            raise ValueError(msg)
        values = [_values(part, *spec) for part, spec in zip(fields, _FIELDS, strict=True)]
        cron = cls(
            minutes=tuple(sorted(values[0])),
            hours=tuple(sorted(values[1])),
            days=frozenset(values[2]),
            months=frozenset(values[3]),
            weekdays=frozenset(day % 7 for day in values[4]),
            either_day=not (fields[2].startswith("*") or fields[4].startswith("*")),
        )
        if cron.after(datetime(2000, 1, 1)) is None:  # noqa: DTZ001 - a calendar has no zone
            msg = f"'{text}' names a day that no month has"
            raise ValueError(msg)
        return cron

    def after(self, moment: datetime) -> datetime | None:
        """Return the first due minute after a moment of the calendar, without any zone; ``None`` if there is none."""
        return next(self.all_after(moment), None)

    def all_after(self, moment: datetime) -> Iterator[datetime]:
        """Yield the due minutes after a moment of the calendar, in order."""
        today = moment.date()
        for ahead in range(_FARTHEST):
            try:
                day = today + timedelta(days=ahead)
            except OverflowError:
                return
            if not self._fits(day):
                continue
            for hour in self.hours:
                for minute in self.minutes:
                    found = datetime.combine(day, time(hour, minute))
                    if found > moment:
                        yield found

    def _fits(self, day: date) -> bool:
        if day.month not in self.months:
            return False
        in_month, in_week = day.day in self.days, day.isoweekday() % 7 in self.weekdays
        return in_month or in_week if self.either_day else in_month and in_week


def _values(text: str, name: str, least: int, most: int, names: tuple[str, ...], first: int) -> set[int]:
    found: set[int] = set()
    for part in text.split(","):
        match = _PART.fullmatch(part)
        if match is None:
            msg = f"'{part}' is no value for the {name}"
            raise ValueError(msg)
        begin, end, step = match.groups()
        low = least if begin == "*" else _number(begin, name, least, most, names, first)
        if end is not None and begin != "*":
            high = _number(end, name, least, most, names, first)
        else:
            high = most if begin == "*" or step else low
        if high < low or step in {"0", "00"} or (begin == "*" and end is not None):
            msg = f"'{part}' is no range for the {name}"
            raise ValueError(msg)
        found.update(range(low, high + 1, int(step or 1)))
    return found


def _number(text: str, name: str, least: int, most: int, names: tuple[str, ...], first: int) -> int:
    number = names.index(text) + first if text in names else int(text) if text.isdigit() else -1
    if not least <= number <= most:
        msg = f"'{text}' is no {name}: give {least} to {most}"
        raise ValueError(msg)
    return number
