"""One operation at a time: waiting for the turn, putting things in order before and after it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from host.contract.values import User
from host.errors import BusyError, HostError, InvalidInputError, UnavailableError
from host.packages.applying import Applier
from host.packages.failures import PackageRefusedError
from host.packages.generations import Generations
from host.packages.lock import Lease, Locks
from host.packages.node import new_owner
from host.packages.operations import OnProgress, Operations, Recorder
from host.packages.resolving import Work
from host.packages.store import is_abandoned

_LOCK = "packages"
_BUSY = "Another package operation is at work. Try again when it has finished."
_TEMPORARY = "packages-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What is asked for, by whom, and who follows it."""

    kind: str
    request: Mapping[str, Any]
    user_id: int | None = None
    on_progress: OnProgress | None = None
    operation_id: str | None = None


@dataclass(frozen=True, slots=True)
class Job:
    """An operation that has its turn."""

    recorder: Recorder
    lease: Lease
    folder: Path

    @property
    def work(self) -> Work:
        """Where its plan may work."""
        return Work(self.folder, self.recorder.line)


class Turns:
    """Gives operations their turn."""

    def __init__(
        self, *, locks: Locks, operations: Operations, generations: Generations, applier: Applier, folder: Path,
        wait: float, report: Callable[[str, str, str], None],
    ) -> None:  # fmt: skip
        self._locks = locks
        self._operations = operations
        self._generations = generations
        self._applier = applier
        self._folder = folder
        self._wait = wait
        self._report = report

    @contextmanager
    def take(self, order: Order) -> Iterator[Job]:
        """Run a block as an operation; its end, or its failure, is recorded.

        Raises:
            BusyError: another operation was at work all the time.

        """
        owner = new_owner()
        recorder = self._operations.begin(
            order.kind,
            order.request,
            owner=owner,
            user_id=order.user_id,
            on_progress=order.on_progress,
            operation_id=order.operation_id,
        )
        try:
            with (
                self._locks.hold(_LOCK, wait=self._wait, owner=owner, busy=_BUSY) as lease,
                self.temporary(owner) as folder,
            ):
                recorder.started()
                for note in self._put_in_order(owner):
                    recorder.line(note)
                yield Job(recorder, lease, folder)
                self._generations.forget_old()
                self._operations.forget_old()
                self._applier.sweep()
        except HostError as error:
            recorder.failed(_message(error))
            if isinstance(error, PackageRefusedError) and error.output:
                self._report(f"pip:plugin_{order.kind}", error.sentence, error.output)
            raise
        except BaseException as error:
            recorder.failed(f"{type(error).__name__}: {error}")
            raise

    def put_in_order(self) -> list[str]:
        """Finish or undo what killed processes left; return what was done."""
        owner = new_owner()
        try:
            with self._locks.hold(_LOCK, owner=owner):
                return self._put_in_order(owner)
        except BusyError:
            return ["Another process is changing the packages."]

    @contextmanager
    def temporary(self, owner: str) -> Iterator[Path]:
        """Make a folder for the time of a block.

        Raises:
            UnavailableError: it cannot be made.

        """
        folder = self._folder / f"{_TEMPORARY}{owner.replace('/', '-')}"
        try:
            folder.mkdir(parents=True)
        except OSError as error:
            msg = f"{folder.parent} cannot be used: {error.strerror}. Check the folder's owner and free space."
            raise UnavailableError(msg) from error
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _put_in_order(self, owner: str) -> list[str]:
        notes = []
        abandoned = self._operations.fail_abandoned(owner)
        if abandoned:
            notes.append(f"{abandoned} package operations had been cut off and are marked as failed.")
        written = self._applier.finish_write()
        if written:
            notes.append(written)
        for folder in self._folder.glob(f"{_TEMPORARY}*"):
            if is_abandoned(folder, folder.name.removeprefix(_TEMPORARY)):
                shutil.rmtree(folder, ignore_errors=True)
        self._applier.sweep()
        return notes


def order(
    kind: str, request: Mapping[str, Any], by: User | None, on_progress: OnProgress | None, operation_id: str | None
) -> Order:
    """Make an order."""
    return Order(kind=kind, request=request, user_id=user_id(by), on_progress=on_progress, operation_id=operation_id)


def user_id(by: User | None) -> int | None:
    """Return the number of the account that asks, if one does."""
    return by.id if by else None


def _message(error: HostError) -> str:
    if isinstance(error, InvalidInputError):
        return "\n".join(message for messages in error.fields.values() for message in messages)
    return str(error)
