"""A worker process for tests: runs the tasks ``mark``, which count how often each of them ran, until it is killed.

Run it as ``python -m tests.tasks.worker_process DATABASE_URL QUEUE_URL HOME THREADS``.
"""

from __future__ import annotations

import signal
import sys
import threading
import time
from pathlib import Path

from sqlalchemy import Column, Integer, MetaData, Table, text

from host.storage.engine import Database
from host.tasks.background import BackgroundTasks, TaskOptions, TaskSources
from host.tasks.jobs import Work
from host.tasks.keeper import Pace

MARKS = Table("task_mark", MetaData(), Column("number", Integer, primary_key=True), Column("times", Integer))
_MARK = text(
    "INSERT INTO task_mark (number, times) VALUES (:number, 1) "
    "ON CONFLICT (number) DO UPDATE SET times = task_mark.times + 1"
)
PACE = Pace(look=0.1, beat=0.3, lease=10.0, lost=0.5, doubted=5.0)


def tasks_of(database: Database, queue_url: str, home: Path, *, threads: int = 2) -> BackgroundTasks:
    """Return background tasks that know ``mark`` and ``linger``, and forgive lost workers soon."""

    def mark(number: int) -> int:
        with database.write() as session:
            session.execute(_MARK, {"number": number})
        return number

    def linger(number: int, seconds: float) -> None:
        mark(number)
        time.sleep(seconds)

    return BackgroundTasks(
        database,
        TaskOptions(queue_url=queue_url, home=home, threads=threads, stop_seconds=0.3, pace=PACE),
        sources=TaskSources(
            work=lambda: {"mark": mark, "linger": linger, "fragile": Work(run=linger, is_repeatable=False)}
        ),
        report=lambda *_: None,
        scrub=lambda given: given,
    )


def main() -> None:
    """Run tasks until a signal comes."""
    database_url, queue_url, home, threads = sys.argv[1:]
    tasks = tasks_of(Database(database_url), queue_url, Path(home), threads=int(threads))
    stopping = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stopping.set())
    tasks.start(run=True)
    sys.stdout.write(f"{tasks.worker}\n")
    sys.stdout.flush()
    stopping.wait()
    tasks.stop()


if __name__ == "__main__":
    main()
