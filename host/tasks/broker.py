"""The queue itself: huey, on SQLite, PostgreSQL or Redis. A message is the identifier of a task and nothing else."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from huey.api import Huey, Task
from huey.registry import Message
from huey.serializer import Serializer
from huey.storage import BaseStorage, PostgresStorage, RedisStorage, SqliteStorage

from host.errors import UnavailableError
from host.tasks.table import QUEUE

_LOG = logging.getLogger("plugyard.tasks")
_TASK_ID = re.compile(rb"[0-9a-f]{32}")
_COMPLAINT_SECONDS = 60.0
_BUSY_SECONDS = 15
_POSTGRES_LOCK = 7_105_734
READ_SECONDS = 1
"""How long a worker waits for a message before it looks whether it is to stop."""


class QueueError(UnavailableError):
    """The queue cannot be used."""


class _Identifiers(Serializer):  # type: ignore[misc]  # huey has no types
    # huey's own would unpickle, and so run, whatever somebody else put into the queue.

    def serialize(self, data: Any) -> bytes:
        return str(data.id).encode("ascii")

    def deserialize(self, data: Any) -> Message:
        text = data if isinstance(data, bytes) else b""
        if not _TASK_ID.fullmatch(text):
            msg = "no message of this host"
            raise ValueError(msg)
        return Message(text.decode("ascii"), _RUN)


class _Run(Task):  # type: ignore[misc]  # huey has no types
    pass


_RUN = f"{_Run.__module__}.{_Run.__name__}"


class Broker(Huey):  # type: ignore[misc]  # huey has no types
    """huey, reduced to carrying identifiers: what is to be done, and whether still, says the log.

    Args:
        run: runs the task of an identifier.
        storage: makes the storage, where none is open.

    """

    def __init__(self, run: Callable[[str], object], storage: Callable[[], BaseStorage]) -> None:
        self._run = run
        self._make_storage = storage
        self._complained: dict[str, float] = {}
        super().__init__(QUEUE, results=False, serializer=_Identifiers())
        self._registry.register(_Run)
        if isinstance(self.storage, _Tables):
            self.on_shutdown("listening")(self.storage.stop_listening)  # called in each thread of a consumer

    def create_storage(self) -> BaseStorage:
        """Open the storage."""
        return self._make_storage()

    def push(self, task_ids: Sequence[str]) -> None:
        """Put tasks into the queue.

        Raises:
            Exception: the storage is out of reach; some may be in the queue.

        """
        for task_id in task_ids:
            self.enqueue(_Run(id=task_id))

    def dequeue(self) -> Task | None:
        """Take a message out of the queue; one that this host did not write is dropped."""
        try:
            return super().dequeue()
        except ValueError:
            if self._may_complain("foreign"):
                _LOG.warning("The queue held something that is no message of this host; it was dropped.")
        except Exception as error:  # noqa: BLE001 - each storage has errors of its own
            self.complain(error)
            time.sleep(READ_SECONDS)
        return None

    def execute(self, task: Task, timestamp: object = None) -> None:
        """Run a task."""
        del timestamp
        try:
            self._run(task.id)
        except Exception as error:  # noqa: BLE001 - what a task raises is noted; this is the log out of reach
            _LOG.warning("Task %s waits: %s. It is found again.", task.id, type(error).__name__)

    def complain(self, error: Exception) -> None:
        """Log that the queue is out of reach, but not each time."""
        if self._may_complain("out of reach"):
            _LOG.warning("The queue is out of reach: %s: %s", type(error).__name__, " ".join(str(error).split()))

    def _may_complain(self, about: str) -> bool:
        # Whoever fills the queue must not fill the log.
        moment = time.monotonic()
        if moment - self._complained.get(about, float("-inf")) < _COMPLAINT_SECONDS:
            return False
        self._complained[about] = moment
        return True

    def close(self) -> None:
        """Let go of the storage."""
        self.storage.close()


class _File(SqliteStorage):  # type: ignore[misc]  # huey has no types
    def _create_connection(self) -> Any:
        # With a write-ahead log this is safe; a message that a power cut takes away is sent again.
        connection = super()._create_connection()
        connection.execute("PRAGMA synchronous=NORMAL")
        return connection


class _Tables(PostgresStorage):  # type: ignore[misc]  # huey has no types
    def initialize_schema(self) -> None:
        # Processes that start at once would all make the tables, which PostgreSQL refuses to all but one.
        with self.db(commit=True, close=True) as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", (_POSTGRES_LOCK,))
            for statement in self.ddl:
                cursor.execute(statement)

    def stop_listening(self) -> None:
        """Close the connection with which this thread waits for messages."""
        connection = getattr(self._listen_local, "conn", None)
        if connection is not None:
            connection.close()
            self._listen_local.conn = None


def storage_of(url: str) -> Callable[[], BaseStorage]:
    """Return what opens the storage of a URL: ``sqlite:///path``, ``postgresql://…``, ``redis://…``.

    Raises:
        QueueError: there is no such kind of storage.

    """
    scheme = urlsplit(url).scheme.partition("+")[0]
    if scheme == "sqlite":
        path = Path(url.partition("///")[2])
        return lambda: _File(QUEUE, filename=str(path), timeout=_BUSY_SECONDS, strict_fifo=True)
    if scheme in {"postgresql", "postgres"}:
        dsn = f"postgresql{url[url.index(':') :]}"
        return lambda: _Tables(QUEUE, dsn=dsn, read_timeout=READ_SECONDS, table_prefix="plugyard_queue")
    if scheme in {"redis", "rediss", "unix"}:
        return lambda: RedisStorage(QUEUE, url=url, read_timeout=READ_SECONDS)
    msg = "PLUGYARD_QUEUE_URL must begin with sqlite:///, postgresql://, redis:// or rediss://."
    raise QueueError(msg)
