"""The workers: which processes run tasks, and which of them are lost."""

from __future__ import annotations

import os
import secrets
import socket
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import delete, insert, select, update

from host.storage.engine import Database
from host.storage.tables import now
from host.tasks.table import WORKER


class Workers:
    """Signs of life of all workers.

    Args:
        database: where they are kept.
        silence: seconds after which a worker that says nothing counts as lost.
        clock: gives the time.
        timer: counts seconds; unlike the clock it neither jumps nor differs between machines.

    """

    def __init__(
        self,
        database: Database,
        *,
        silence: float,
        clock: Callable[[], datetime] = now,
        timer: Callable[[], float] = time.monotonic,
    ) -> None:
        self._database = database
        self._silence = timedelta(seconds=silence)
        self._clock = clock
        self._timer = timer
        self._seen: dict[str, tuple[datetime, float]] = {}
        self._surveyed = timer()
        self.place = _place()
        self.name = f"{socket.gethostname()[:100]}:{os.getpid()}:{secrets.token_hex(4)}"

    def beat(self, threads: int) -> None:
        """Say that this process runs tasks, and how many at once."""
        moment = self._clock()
        with self._database.write() as session:
            connection = session.connection()
            mine = update(WORKER).where(WORKER.c.name == self.name).values(last_seen=moment)
            if connection.execute(mine).rowcount:
                return
            values = {"name": self.name, "place": self.place, "pid": os.getpid(), "threads": threads}
            connection.execute(insert(WORKER).values(**values, started=moment, last_seen=moment))

    def leave(self) -> None:
        """Say that this process runs tasks no more."""
        with self._database.write() as session:
            session.connection().execute(delete(WORKER).where(WORKER.c.name == self.name))

    def count(self) -> tuple[int, int]:
        """Return how many workers are alive, and how many tasks they can run at once."""
        since = self._clock() - self._silence
        threads = [row["threads"] for row in self._rows() if row["last_seen"] >= since and self._has_process(row)]
        return len(threads), sum(threads)

    def survey(self) -> tuple[list[str], list[str]]:
        """Return the names of the workers that are alive, and of those that are gone without a word.

        Called again and again: a worker is gone when no new sign of life was seen for long enough. What the signs say
        themselves is not believed, since clocks of machines differ, and jump where a machine was suspended.
        """
        moment, silence = self._timer(), self._silence.total_seconds()
        if moment - self._surveyed > silence / 2:
            self._seen.clear()  # this process was held up, and others may have been with it
        self._surveyed = moment
        rows, before = self._rows(), self._seen
        self._seen = {row["name"]: (row["last_seen"], moment) for row in rows}
        for name, seen in before.items():
            if name in self._seen and self._seen[name][0] == seen[0]:
                self._seen[name] = seen
        lost = [
            row["name"] for row in rows if moment - self._seen[row["name"]][1] > silence or not self._has_process(row)
        ]
        return [row["name"] for row in rows if row["name"] not in lost], lost

    def bury(self, names: list[str]) -> None:
        """Delete workers of which nothing is left to be found."""
        with self._database.write() as session:
            session.connection().execute(delete(WORKER).where(WORKER.c.name.in_(names), WORKER.c.name != self.name))

    def _rows(self) -> list[dict[str, Any]]:
        with self._database.read() as connection:
            return [dict(row) for row in connection.execute(select(WORKER)).mappings()]

    def _has_process(self, row: dict[str, Any]) -> bool:
        if not self.place or row["place"] != self.place:
            return True
        try:
            os.kill(row["pid"], 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            return True
        return True


def _place() -> str:
    """Name where a process id means one process: this start of this machine and its set of process ids.

    Empty where the system does not tell; then only silence says that a worker is lost.
    """
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
        return f"{boot}:{os.readlink('/proc/self/ns/pid')}"[:200]  # noqa: PTH115 - this link leads to no path
    except OSError:
        return ""
