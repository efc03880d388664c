"""The queue on each of its storages: everything runs once, whatever is lost, doubled or foreign in it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import redis
from sqlalchemy import func, select

from host.storage.endings import at_end
from host.storage.engine import Database
from host.storage.tables import METADATA
from host.tasks.background import BackgroundTasks
from host.tasks.broker import Broker, QueueError, storage_of
from host.tasks.table import TASK
from tests.tasks.worker_process import MARKS, tasks_of

# Tests that run at the same time use databases of their own: 4 and the following ones.
REDIS = os.environ.get("PLUGYARD_TEST_REDIS_URL", "redis://127.0.0.1:6379")
REDIS += f"/{4 + int('0' + os.environ.get('PYTEST_XDIST_WORKER', '').removeprefix('gw')) % 12}"
COUNT = int(os.environ.get("PLUGYARD_TEST_TASKS", "60"))
ROOT = Path(__file__).parents[2]


def _until(condition: Callable[[], object], seconds: float = 30.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.02)


class Queue:
    """A queue on one of the storages, and who uses it."""

    def __init__(self, database_url: str, url: str, home: Path) -> None:
        self.database_url, self.url, self.home = database_url, url, home
        self.database = Database(database_url)
        METADATA.create_all(self.database.engine)
        MARKS.metadata.create_all(self.database.engine)

    def enqueue(self, tasks: BackgroundTasks, name: str, *data: dict[str, Any]) -> list[str]:
        """Enqueue tasks in one transaction."""
        with self.database.write() as session:
            return [tasks.enqueue(session, name, one) for one in data]

    def marks(self) -> dict[int, int]:
        """Return how often each task ran."""
        with self.database.read() as connection:
            return {row.number: row.times for row in connection.execute(select(MARKS))}

    def open(self) -> int:
        """Count the tasks that have not ended."""
        with self.database.read() as connection:
            return connection.execute(select(func.count()).select_from(TASK).where(TASK.c.is_open)).scalar_one()

    def broker(self) -> Broker:
        """Return the queue itself."""
        return Broker(lambda _task_id: None, storage_of(self.url))

    @contextmanager
    def running(self, *, run: bool = True) -> Iterator[BackgroundTasks]:
        """Run tasks in this process."""
        tasks = tasks_of(self.database, self.url, self.home)
        tasks.start(run=run)
        try:
            yield tasks
        finally:
            tasks.stop()

    @contextmanager
    def worker_process(self) -> Iterator[subprocess.Popen[str]]:
        """Run tasks in a process of its own."""
        command = [sys.executable, "-m", "tests.tasks.worker_process", self.database_url, self.url, str(self.home), "2"]
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as one:
            try:
                yield one
            finally:
                one.kill()


@pytest.fixture(
    params=[
        "sqlite",
        pytest.param("postgres", marks=pytest.mark.postgres),
        pytest.param("redis", marks=pytest.mark.redis),
    ]
)
def queue(request, tmp_path) -> Iterator[Queue]:
    url = f"sqlite:///{tmp_path / 'queue.db'}"
    database_url = f"sqlite:///{tmp_path / 'plugyard.db'}"
    server = None
    if request.param == "postgres":
        url = database_url = request.getfixturevalue("postgres_url")
    elif request.param == "redis":
        server, url = redis.Redis.from_url(REDIS), REDIS
        try:
            server.flushdb()
        except redis.ConnectionError as error:
            server.close()
            pytest.skip(f"no Redis answers: {error}")
    made = Queue(database_url, url, tmp_path)
    yield made
    made.database.close()
    if server is not None:
        server.flushdb()
        server.close()


def test_everything_runs_once_whatever_befalls_the_queue(queue):
    """Doubled, lost and foreign messages neither repeat nor lose a task, nor stop the workers."""
    with queue.running(run=False) as tasks:
        first = queue.enqueue(tasks, "mark", *({"number": number} for number in range(20)))
        broker = queue.broker()
        _until(lambda: broker.storage.queue_size() == 20)
    assert tasks.records.overview().is_running is False
    broker.push(first)
    broker.storage.enqueue(b"cos\nsystem\n(S'true'\ntR.")
    for _ in range(10):
        broker.storage.dequeue()
    broker.push(["f" * 32])
    broker.close()

    with queue.running() as tasks:
        queue.enqueue(tasks, "mark", *({"number": number} for number in range(20, 40)))
        _until(lambda: queue.open() == 0)
        assert tasks.records.overview().is_running
        assert tasks.in_short() == {"worker_running": True, "worker_count": 2, "worker_pending_tasks": 0}

    assert queue.marks() == dict.fromkeys(range(40), 1)
    assert tasks.records.overview().is_running is False


@pytest.mark.e2e
def test_killed_workers_lose_nothing(queue):
    """Of three workers two are killed in the middle; the third one finishes all, and what died with them."""
    with (
        queue.running(run=False) as tasks,
        queue.worker_process() as one,
        queue.worker_process() as other,
        queue.worker_process(),
    ):
        long = [{"number": -number - 1, "seconds": 0.3} for number in range(6)]
        queue.enqueue(tasks, "linger", *long)
        queue.enqueue(tasks, "mark", *({"number": number} for number in range(COUNT)))
        _until(lambda: len(queue.marks()) >= 3)
        for process in (one, other):
            process.send_signal(signal.SIGKILL)
            process.wait()
        _until(lambda: queue.open() == 0, 120)

    marks = queue.marks()
    assert sorted(marks) == list(range(-6, COUNT))
    assert max(marks.values()) <= 2
    assert sum(times - 1 for times in marks.values()) <= 4


def test_foreign_messages_fill_no_log(tmp_path, caplog):
    """Whatever stands in the queue is dropped, and said once."""
    broker = Broker(lambda _task_id: None, storage_of(f"sqlite:///{tmp_path / 'queue.db'}"))
    for data in (b"", b"x" * 32, b"\xff" * 40):
        broker.storage.enqueue(data)

    taken = [broker.dequeue() for _ in range(3)]
    broker.close()

    assert taken == [None] * 3
    assert [record.getMessage() for record in caplog.records] == [
        "The queue held something that is no message of this host; it was dropped."
    ]


def test_one_of_several_web_processes_runs_tasks(tmp_path, sqlite_url):
    """Processes with the same home folder agree on one; another one takes over when it has ended."""
    queue = Queue(sqlite_url, f"sqlite:///{tmp_path / 'queue.db'}", tmp_path)
    first, second = (tasks_of(queue.database, queue.url, tmp_path) for _ in range(2))
    first.start(run=True, one_of_many=True)
    _until(lambda: first.records.overview().is_running)
    second.start(run=True, one_of_many=True)
    queue.enqueue(second, "mark", {"number": 1})
    _until(lambda: queue.open() == 0)
    assert first._workers.count() == (1, 2)

    first.stop()
    queue.enqueue(second, "mark", {"number": 2})
    _until(lambda: queue.open() == 0)
    assert second._workers.count() == (1, 2)
    second.stop()
    queue.database.close()

    assert queue.marks() == {1: 1, 2: 1}


def test_a_worker_that_stops_gives_back_what_it_cannot_finish(tmp_path, sqlite_url):
    """A task that takes too long waits for another worker; one that must not be repeated has failed."""
    queue = Queue(sqlite_url, f"sqlite:///{tmp_path / 'queue.db'}", tmp_path)
    with queue.running() as tasks:
        (again,) = queue.enqueue(tasks, "linger", {"number": 1, "seconds": 0.8})
        (never,) = queue.enqueue(tasks, "fragile", {"number": 2, "seconds": 0.8})
        _until(lambda: len(queue.marks()) == 2)
    with queue.database.read() as connection:
        found = {row.task_id: row.status for row in connection.execute(select(TASK.c.task_id, TASK.c.status))}

    assert (found[again], found[never]) == ("waiting", "failed")
    _until(lambda: tasks._runner.running == [])
    queue.database.close()


def test_stopping_while_it_starts_leaves_no_threads(tmp_path, sqlite_url):
    """However soon a process ends after its start, nothing of it goes on."""
    queue = Queue(sqlite_url, f"sqlite:///{tmp_path / 'queue.db'}", tmp_path)
    for number in range(8):
        with queue.running():
            time.sleep(number / 300)
    queue.database.close()

    assert not [one.name for one in threading.enumerate() if one.name.startswith(("Worker-", "plugyard-tasks"))]


def test_a_queue_out_of_reach_delays_tasks_and_breaks_nothing(tmp_path, sqlite_url):
    """Tasks are enqueued while there is no queue, and no request notices."""
    queue = Queue(sqlite_url, "redis://127.0.0.1:1/0", tmp_path)
    done = []
    with queue.running() as tasks, queue.database.write() as session:
        tasks.enqueue(session, "mark", {"number": 1})
        at_end(session, lambda: done.append(1))

    assert done == [1]
    assert queue.open() == 1
    queue.database.close()


@pytest.mark.parametrize("url", ["mysql://host/db", "nonsense"])
def test_other_queues_are_refused(url):
    """A URL that means no queue is refused without showing it."""
    with pytest.raises(QueueError, match="PLUGYARD_QUEUE_URL"):
        storage_of(url)
