"""Threads that run plugin code apart from the thread that asks.

They are daemon threads: one that a plugin never gives back must not keep the process from ending, as a thread of
anyio's pool would. An idle thread is used again; a stuck one is simply missing until it comes back.
"""

from __future__ import annotations

import logging
import os
import threading
from collections import deque
from collections.abc import Callable
from itertools import count
from queue import Empty, SimpleQueue

_IDLE_SECONDS = 10.0
_MOST_IDLE = 48

_log = logging.getLogger(__name__)


class Workers:
    """A pool without an upper bound; whoever hands in work limits how much of it there is."""

    def __init__(self) -> None:
        self._idle: deque[SimpleQueue[Callable[[], object]]] = deque()
        self._numbers = count(1)

    def submit(self, job: Callable[[], object]) -> None:
        """Run a job in a thread of its own; what it returns or raises is lost."""
        try:
            inbox = self._idle.pop()
        except IndexError:
            inbox = SimpleQueue()
            inbox.put(job)
            name = f"plugyard-worker-{next(self._numbers)}"
            threading.Thread(target=self._serve, args=(inbox,), name=name, daemon=True).start()
        else:
            inbox.put(job)

    def _serve(self, inbox: SimpleQueue[Callable[[], object]]) -> None:
        while True:
            try:
                job = inbox.get(timeout=_IDLE_SECONDS)
            except Empty:
                try:
                    self._idle.remove(inbox)
                except ValueError:  # taken just now: a job is on its way
                    job = inbox.get()
                else:
                    return
            _run(job)
            del job  # nothing of a finished job may live on in an idle thread
            if len(self._idle) >= _MOST_IDLE:
                return
            self._idle.append(inbox)


def _run(job: Callable[[], object]) -> None:
    process = os.getpid()
    try:
        job()
    except BaseException:  # noqa: BLE001 - whatever a plugin raised, the thread serves on
        _log.exception("a job in a worker thread failed")
    if os.getpid() != process:
        # A child that the plugin has forked would wait here for ever, and keep open the port, locks and connections.
        os._exit(0)


WORKERS = Workers()
"""The worker threads of this process."""
