"""Making exports in the background, and telling those who want them what became of them."""

from __future__ import annotations

import logging
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import Any, BinaryIO, Final
from urllib.parse import quote

from host.contract.progress import report_progress
from host.contract.values import User
from host.errors import InvalidInputError, NotAllowedError
from host.exporting.sources import Source
from host.exporting.writing import ExportRefusedError, Wanted, Writing
from host.plugins.exports import ExportPlugins
from host.plugins.failures import PluginFailedError
from host.records.data_outputs import FOLDER, DataOutputs
from host.records.notifications import Notifications, Target
from host.storage.files import FileStore, FileTakenError
from host.storage.tables import now
from host.tasks.jobs import GiveUpError

_LOG = logging.getLogger("plugyard.exports")

_TELL_SECONDS: Final = 0.5
"""Between two notes of how far it is, at least."""
_LONGEST_SECONDS: Final = 6 * 3600.0
_LEFT_BEHIND: Final = timedelta(days=1)
_CATEGORY: Final = "export"
_MODEL: Final = "dataoutput"
_FAILED: Final = "The export could not be made. The error was recorded; try again later, or tell an administrator."


class _UnwantedError(Exception):
    """Nobody wants the export any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """What the making of exports needs of the host."""

    plugins: ExportPlugins
    outputs: DataOutputs
    files: FileStore
    notifications: Notifications
    find_user: Callable[[int], User | None]
    """Gives an active account."""
    folder: Path
    """For temporary files, on this machine."""
    clock: Callable[[], float] = time.monotonic


class Maker:
    """Makes exports. Only a batch of rows is in memory at a time.

    Args:
        needs: parts of the host.
        sources: gives the lists that can be exported, by name.

    """

    def __init__(self, needs: Needs, sources: Callable[[], Mapping[str, Source]]) -> None:
        self._needs = needs
        self._sources = sources

    def make(self, **task: Any) -> str:
        """Make one export, or say in its data output why that cannot be done; return what became of it, for the log.

        Raises:
            GiveUpError: something went wrong that nobody foresaw.

        """
        wanted = Wanted(**task)
        try:
            rows = self._make(wanted)
        except _UnwantedError:
            return "nobody wants it any more"
        except (ExportRefusedError, InvalidInputError, NotAllowedError) as error:
            self.fail(wanted.output, wanted.user_id, wanted.source, str(error))
            return f"refused: {error}"
        except PluginFailedError as error:
            # What a plugin raises may hold more than belongs into an answer.
            message = f"Plugin '{error.plugin}' failed to export this; an error report says why."
            self.fail(wanted.output, wanted.user_id, wanted.source, message)
            return f"plugin '{error.plugin}' failed"
        except Exception as error:
            self.fail(wanted.output, wanted.user_id, wanted.source, _FAILED)
            msg = f"export {wanted.output} of '{wanted.source}' failed: {type(error).__name__}"
            raise GiveUpError(msg) from error
        return f"{rows} rows"

    def fail(self, output: int, user_id: int | None, source: str, message: str) -> None:
        """Say why an export cannot be made, in its data output and to whoever wants it."""
        if not self._needs.outputs.fail(output, message):
            return
        _LOG.info("Export %s of %s cannot be made: %s", output, source, message)
        if user_id is not None:
            known = self._sources().get(source)
            name = f"The export of {source if known is None else known.label} failed"
            self._tell(user_id, name, message, Target(model=_MODEL, id=output))

    def _make(self, wanted: Wanted) -> int:
        needs = self._needs
        user = self._user(wanted)
        source = self._sources().get(wanted.source)
        if source is None:
            raise ExportRefusedError(f"The list '{wanted.source}' cannot be exported any more.")
        reading = source.open(user, wanted.query)
        with closing(reading.batches), self._workplace() as folder, TemporaryFile(dir=folder) as file:
            ticker = _Ticker(needs, wanted.output, reading.total)
            ticker.tell()
            written = Writing(needs.plugins, wanted, source, user, ticker.add).write(reading, file, folder)
            reading.batches.close()  # lets go of the database while the file is stored
            ticker.tell()
            path = self._save(f"{FOLDER}{wanted.output}", written.file_name, file)
        if not needs.outputs.complete(wanted.output, path):
            raise _UnwantedError
        target = Target(name=written.file_name, model=_MODEL, id=wanted.output, link=f"/media/{quote(path)}")
        self._tell(user.id, f"The export of {source.label} is ready", _counted(written.rows), target)
        return written.rows

    def _user(self, wanted: Wanted) -> User:
        user = self._needs.find_user(wanted.user_id)
        if user is None:
            raise ExportRefusedError("The account that wanted this export is gone or switched off.")
        return replace(
            user,
            is_staff=user.is_staff and wanted.is_staff,
            is_superuser=user.is_superuser and wanted.is_superuser,
        )

    def _save(self, folder: str, name: str, file: BinaryIO) -> str:
        files = self._needs.files
        path = f"{folder}/{name}"
        try:
            files.save(path, file)
        except FileTakenError:
            # An earlier run was killed after it had stored the file, or is not dead after all.
            file.seek(0)
            path = f"{folder}/{time.time_ns():x}/{name}"
            files.save(path, file)
        return path

    @contextmanager
    def _workplace(self) -> Iterator[Path]:
        folder = self._needs.folder
        folder.mkdir(parents=True, exist_ok=True)
        _sweep(folder)
        with TemporaryDirectory(dir=folder, ignore_cleanup_errors=True) as place:
            yield Path(place)

    def _tell(self, user_id: int, name: str, message: str, target: Target) -> None:
        self._needs.notifications.tell([user_id], category=_CATEGORY, name=name, message=message, target=target)


class _Ticker:
    """Notes how far an export is, but not after each batch, and finds out whether anybody still wants it."""

    def __init__(self, needs: Needs, output: int, total: int) -> None:
        self._outputs = needs.outputs
        self._clock = needs.clock
        self._output = output
        self._total = total
        self._done = 0
        self._started = self._told = needs.clock()

    def add(self, rows: int) -> None:
        self._done += rows
        present = self._clock()
        if present - self._started > _LONGEST_SECONDS:
            raise ExportRefusedError("The export took too long. Choose fewer rows, with the filters of the list.")
        if present - self._told >= _TELL_SECONDS:
            self.tell()

    def tell(self) -> None:
        self._told = self._clock()
        total = max(self._total, self._done)
        report_progress(self._done, total)
        if not self._outputs.progress(self._output, self._done, total):
            raise _UnwantedError


def _counted(rows: int) -> str:
    return "1 row." if rows == 1 else f"{rows} rows."


def _sweep(folder: Path) -> None:
    # A process that was killed leaves its temporary files behind.
    before = now().timestamp() - _LEFT_BEHIND.total_seconds()
    for place in folder.iterdir():
        with suppress(OSError):
            if place.stat().st_mtime < before:
                shutil.rmtree(place, ignore_errors=True)
