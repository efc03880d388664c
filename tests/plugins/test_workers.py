"""Worker threads are used again and never keep the process from ending."""

from __future__ import annotations

import subprocess
import sys
import threading

from host.plugins.workers import Workers
from tests.plugins.asking import until


def test_an_idle_thread_is_used_again():
    """Jobs one after the other share a thread; jobs at the same time do not."""
    workers = Workers()
    seen: list[threading.Thread] = []

    def note() -> None:
        seen.append(threading.current_thread())

    def meet() -> None:
        barrier.wait(5)
        note()

    for count in (1, 2):
        workers.submit(note)
        until(lambda: len(seen) == count and len(workers._idle) == 1)  # noqa: B023 - called at once

    barrier = threading.Barrier(2)
    for _ in range(2):
        workers.submit(meet)
    until(lambda: len(seen) == 4)

    assert seen[0] is seen[1]
    assert seen[2] is not seen[3]


def test_a_job_that_raises_leaves_its_thread_alive():
    """Even SystemExit."""
    workers = Workers()
    done = threading.Event()

    def leave() -> None:
        raise SystemExit(1)

    workers.submit(leave)
    until(lambda: workers._idle)
    workers.submit(done.set)

    assert done.wait(5)


def test_a_forked_child_ends_with_its_job():
    """What a plugin forks does not live on as an idle thread that holds the port and the locks of its parent."""
    script = (
        "import os, queue\n"
        "from host.plugins.workers import WORKERS\n"
        "children = queue.SimpleQueue()\n"
        "WORKERS.submit(lambda: children.put(os.fork()))\n"
        "os._exit(os.waitpid(children.get(), 0)[1])\n"
    )
    ended = subprocess.run([sys.executable, "-W", "ignore", "-c", script], timeout=30, check=False)

    assert ended.returncode == 0


def test_a_stuck_thread_does_not_keep_the_process_from_ending():
    """The interpreter ends although a job sleeps for ever."""
    script = (
        "import threading\n"
        "from host.plugins.workers import WORKERS\n"
        "running = threading.Event()\n"
        "WORKERS.submit(lambda: (running.set(), threading.Event().wait()))\n"
        "running.wait()\n"
    )
    ended = subprocess.run([sys.executable, "-c", script], timeout=30, check=False)

    assert ended.returncode == 0
