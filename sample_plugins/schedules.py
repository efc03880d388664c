"""Sample: do something again and again, outside of requests."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from host import Json, Plugin, ScheduledTask, hookimpl, report_progress

_SHELVES = 40


class SampleSchedules(Plugin):
    """Counts its shelves once a day."""

    title = "Sample: schedules"
    description = "Counts shelves once a day, outside of requests"

    @hookimpl
    def scheduled_tasks(self) -> Sequence[ScheduledTask]:
        # Every process of the host is asked, but each due time runs in one worker only.
        return [
            ScheduledTask(name="tick", function=self.tick, schedule="I", minutes=1),
            # Counting again does no harm: let it run again when the process dies in the middle.
            ScheduledTask(name="count", function=self.count, schedule="C", cron="30 4 * * *", repeatable=True),
            ScheduledTask(name="hello", function=self.hello, schedule="O"),
        ]

    def tick(self) -> str:
        """Do next to nothing; what a function returns is noted with the task."""
        return date.today().isoformat()  # noqa: DTZ011 - the day of the server

    def count(self) -> Json:
        """Count, and say how far it is."""
        for shelf in range(_SHELVES):
            report_progress(shelf + 1, _SHELVES)
        # Others hear of it as "sample-schedules.counted".
        self.emit("counted", {"shelves": _SHELVES})
        return _SHELVES

    async def hello(self) -> None:
        """Functions may be asynchronous too."""
        self.log.info("hello, once")
