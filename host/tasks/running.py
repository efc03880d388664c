"""Run one task: claim it, do its work, note what came of it."""

from __future__ import annotations

import logging
import os
import reprlib
import threading
import time
import traceback
from collections.abc import Callable, Mapping
from contextvars import copy_context
from functools import partial
from typing import Any, Final

from sqlalchemy.exc import SQLAlchemyError

from host.contract.progress import PROGRESS
from host.tasks.jobs import GiveUpError, Work
from host.tasks.log import Claimed, TaskLog

_LOG = logging.getLogger("plugyard.tasks")
_AGAIN_SECONDS = (0.1, 1.0, 5.0)

Report = Callable[[str, str, str], object]
"""Keeps an error report: path, message, traceback."""
FAILURE_PATH = "worker:task_failure"


class Runner:
    """Runs tasks in the thread that asks, for one worker.

    Args:
        log: where tasks are.
        worker: name of this worker.
        find: gives the work of a name, or ``None`` where this process knows none.
        report: keeps an error report of each task that has failed for good.
        prepare: called before each task.
        catch_up: brings this process to the newest plugins, whatever it takes.

    """

    def __init__(
        self,
        log: TaskLog,
        worker: str,
        find: Callable[[str], Work | None],
        report: Report,
        prepare: Callable[[], object] = lambda: None,
        catch_up: Callable[[], object] = lambda: None,
    ) -> None:
        self.log = log
        self.worker = worker
        self._find = find
        self._report = report
        self._prepare = prepare
        self._catch_up = catch_up
        self._lock = threading.Lock()
        self._running: dict[str, Claimed] = {}
        self._progress: dict[str, tuple[int, int]] = {}

    def run(self, task_id: str) -> bool:
        """Run a task if it is due and nobody else has it; return whether it was run."""
        task = self.log.claim(task_id, self.worker)
        if task is None:
            return False
        with self._lock:
            self._running[task.task_id] = task
        try:
            self._run(task)
        finally:
            with self._lock:
                self._running.pop(task.task_id, None)
                self._progress.pop(task.task_id, None)
        return True

    @property
    def running(self) -> list[Claimed]:
        """What this worker runs at this moment."""
        with self._lock:
            return list(self._running.values())

    def note_progress(self) -> None:
        """Write down the progress that tasks have reported since the last time."""
        # Not in the thread of the task, whose own transaction would keep it waiting on SQLite.
        with self._lock:
            known, self._progress = self._progress, {}
        self.log.note_progress(known)

    def lost(self, task: Claimed) -> None:
        """Note that the worker of a task is gone, and let the task run again where that is harmless."""
        _LOG.warning("Task %s (%s) was left behind by worker %s.", task.func, task.task_id, task.worker)
        message = f"The worker '{task.worker}' ended or was cut off while it ran this task."
        work = self._find(task.func)
        self._failed(task, work, message, again=work is not None and work.is_repeatable, pause=0.0)

    def give_back(self) -> None:
        """Let other workers run what does not end here in time."""
        for task in self.running:
            work = self._find(task.func)
            if work is not None and work.is_repeatable:
                self.log.give_back(task)
            else:
                self._failed(task, work, "The worker was stopped before this task ended.", again=False)

    def report(self, task: str, attempts: int, message: str) -> None:
        """Keep an error report of a task that has failed for good."""
        times = f"{attempts} attempt{'' if attempts == 1 else 's'}"
        self._report(FAILURE_PATH, f"Task '{task}' failed after {times}", message)

    def _run(self, task: Claimed) -> None:
        work: Work | None = None
        try:
            work = self._known(task.func)
            result = copy_context().run(self._work, task, work)
        except BaseException as error:  # noqa: BLE001 - a task may raise anything, and the worker goes on
            _LOG.warning("Task %s (%s) failed: %s", task.func, task.task_id, type(error).__name__)
            # The message as the traceback has it: an error's own text may raise in turn.
            message = traceback.format_exception_only(error)[-1].strip()
            text = "".join(traceback.format_exception(error))
            self._failed(task, work, f"{message}\n\n{text}", again=not isinstance(error, GiveUpError))
        else:
            self._persist(task, partial(self.log.succeeded, task, result))

    def _known(self, name: str) -> Work:
        self._prepare()
        work = self._find(name)
        if work is None:
            self._catch_up()  # the plugin may have been activated elsewhere a moment ago
            work = self._find(name)
        if work is None:
            msg = f"neither the host nor an active plugin has a task '{name}'"
            raise GiveUpError(msg)
        return work

    def _work(self, task: Claimed, work: Work) -> str:
        PROGRESS.set(partial(self._note, task.task_id))
        process = os.getpid()
        try:
            result = work.run(**task.data)
        finally:
            if os.getpid() != process:
                # A child that the task has forked would note an end of its own, and keep open what the parent holds.
                os._exit(0)
        return "" if result is None else _show(result)

    def _note(self, task_id: str, progress: int, total: int) -> None:
        with self._lock:
            self._progress[task_id] = (progress, total)

    def _failed(
        self, task: Claimed, work: Work | None, message: str, *, again: bool, pause: float | None = None
    ) -> None:
        if again and work is not None and task.attempts < work.attempts:
            seconds = work.pause if pause is None else pause
            self._persist(task, partial(self.log.postpone, task, message, seconds))
            return
        if self._persist(task, partial(self.log.failed, task, message)):
            self.report(f"{task.func} ({task.task_id})", task.attempts, message)

    def _persist(self, task: Claimed, note: Callable[[], bool]) -> bool:
        self._write_progress(task)
        for pause in (*_AGAIN_SECONDS, None):
            try:
                kept = note()
            except SQLAlchemyError:
                if pause is None:
                    raise
                # A task that has ended and is not noted as such would run again.
                _LOG.warning("What came of task %s cannot be noted now; trying again in %g s.", task.task_id, pause)
                time.sleep(pause)
            else:
                if not kept and task.worker == self.worker:
                    _LOG.warning("Task %s (%s) was taken for lost before it ended.", task.func, task.task_id)
                return kept
        return False

    def _write_progress(self, task: Claimed) -> None:
        with self._lock:
            last = self._progress.pop(task.task_id, None)
        if last is not None:
            try:
                self.log.note_progress({task.task_id: last})
            except SQLAlchemyError as error:
                _LOG.warning("The progress of task %s cannot be noted: %s", task.task_id, error)


class _Short(reprlib.Repr):
    def __init__(self) -> None:
        super().__init__()
        self.maxlevel = 3
        self.maxstring = self.maxother = 1000
        self.maxlist = self.maxtuple = self.maxdict = self.maxset = self.maxfrozenset = 50

    def repr_bytes(self, value: bytes, _level: int) -> str:
        # Cut before it is shown: four times as much text as there are bytes would be made for nothing.
        shown = repr(value[: self.maxother])
        return shown if len(value) <= self.maxother else f"{shown}{self.fillvalue}"


_SHORT: Final = _Short()
"""Shows results: what plugins return may be of any size."""


def _show(result: object) -> str:
    try:
        return _SHORT.repr(result)
    except BaseException:  # noqa: BLE001 - the task has succeeded, whatever its result does when it is shown
        return f"<{type(result).__name__} that cannot be shown>"


def as_work(given: Mapping[str, Work | Callable[..., Any]], name: str) -> Work | None:
    """Return the work of a name; a function alone is work with the usual retries."""
    found = given.get(name)
    return found if found is None or isinstance(found, Work) else Work(run=found)
