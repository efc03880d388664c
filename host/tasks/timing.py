"""When something that is done again and again is due next."""

from __future__ import annotations

from calendar import monthrange
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from host.contract.cron import Cron

ONCE = "O"
CRON = "C"
_MINUTES = {"I": 1, "H": 60, "D": 24 * 60, "W": 7 * 24 * 60, "BW": 14 * 24 * 60}
_MONTHS = {"M": 1, "BM": 2, "Q": 3, "Y": 12}
_FAR = datetime(9000, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """How often something is due."""

    kind: str
    """One of ``ScheduleType`` of the contract."""
    minutes: int = 1
    """For ``I``."""
    cron: str = ""
    """For ``C``."""

    def __str__(self) -> str:
        return f"{self.kind} {self.minutes if self.kind == 'I' else self.cron}".rstrip()

    def first(self, moment: datetime) -> datetime | None:
        """Return when something new is due first: at once, but for ``C``, whose times are fixed."""
        return self.following(moment, moment) if self.kind == CRON else moment

    def following(self, due: datetime, moment: datetime) -> datetime | None:
        """Return the next due time after ``moment``, when the last one was ``due``; ``None`` when there is none.

        Times that passed while nobody was there are left out.
        """
        if self.kind == ONCE:
            return None
        if self.kind == CRON:
            return _after(Cron.parse(self.cron), moment)
        if self.kind in _MONTHS:
            return _months_after(due, _MONTHS[self.kind], moment)
        step = timedelta(minutes=_MINUTES[self.kind] * (self.minutes if self.kind == "I" else 1))
        found = due + step * max(1, (moment - due) // step + 1)
        return min(found, _FAR)


def _after(cron: Cron, moment: datetime) -> datetime | None:
    # In the server's time zone. Where clocks are put back, an hour is there twice: its first time counts.
    local = moment.astimezone().replace(tzinfo=None)
    for found in cron.all_after(local):
        aware = found.astimezone(UTC)
        if aware > moment:
            return aware
    return None


def _months_after(due: datetime, months: int, moment: datetime) -> datetime:
    count = 0
    while True:
        count += months
        year, month = divmod(due.month - 1 + count, 12)
        last = monthrange(due.year + year, month + 1)[1]
        found = due.replace(year=due.year + year, month=month + 1, day=min(due.day, last))
        if found > moment:
            return found
