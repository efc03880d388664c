"""The consumer: huey's worker threads, started and stopped by the host instead of by signals."""

from __future__ import annotations

import threading
import time

from huey.consumer import Consumer, ThreadEnvironment

from host.tasks.broker import READ_SECONDS, Broker

_FIRST_PAUSE = 0.05
_LONGEST_PAUSE = 1.0
_BACKOFF = 1.5


class _StopFlag:
    """huey's stop flag; whoever waits at it can also be woken to look for messages at once."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._is_set = False
        self._wakes = 0

    def set(self) -> None:
        with self._condition:
            self._is_set = True
            self._condition.notify_all()

    def is_set(self) -> bool:
        return self._is_set

    def wake(self) -> None:
        with self._condition:
            self._wakes += 1
            self._condition.notify_all()

    def wait(self, timeout: float | None = None) -> bool:
        with self._condition:
            before = self._wakes
            self._condition.wait_for(lambda: self._is_set or self._wakes != before, timeout)
            return self._is_set


class _Environment(ThreadEnvironment):  # type: ignore[misc]  # huey has no types
    def get_stop_flag(self) -> _StopFlag:
        return _StopFlag()


class TaskConsumer(Consumer):  # type: ignore[misc]  # huey has no types
    """Threads that take messages out of the queue and run their tasks. huey's scheduler is not used."""

    stop_flag: _StopFlag

    def __init__(self, broker: Broker, threads: int) -> None:
        super().__init__(
            broker,
            workers=threads,
            periodic=False,
            initial_delay=_FIRST_PAUSE,
            backoff=_BACKOFF,
            max_delay=_LONGEST_PAUSE,
        )

    def get_environment(self, worker_type: str) -> _Environment:
        """Return an environment of threads whose flag can wake them."""
        del worker_type
        return _Environment()

    def start(self) -> None:
        """Start the threads."""
        for _, thread in self.worker_threads:
            thread.start()

    def wake(self) -> None:
        """Look for messages at once."""
        self.stop_flag.wake()

    def finish(self, seconds: float) -> bool:
        """Take no more messages, and return whether all that runs has ended within some seconds."""
        self.stop_flag.set()
        # A thread that waits for a message looks at the flag when it has waited long enough.
        least = 2.0 * READ_SECONDS if self.huey.storage.blocking else 0.0
        end = time.monotonic() + max(seconds, least)
        threads = [thread for _, thread in self.worker_threads]
        for thread in threads:
            thread.join(max(end - time.monotonic(), 0.0))
        return not any(thread.is_alive() for thread in threads)
