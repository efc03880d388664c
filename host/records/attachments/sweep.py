"""The sweep: what processes that were killed have left in the file store goes, and files that are missing are told."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import timedelta
from itertools import islice
from typing import Final

from sqlalchemy import select

from host.records.attachments.names import FOLDER
from host.records.attachments.table import ATTACHMENTS
from host.storage.engine import Database
from host.storage.files import FileStore
from host.storage.tables import now

_LOG = logging.getLogger("plugyard.attachments")

_AT_ONCE: Final = 500
_MOST_NAMED: Final = 100
_AGE: Final = timedelta(days=1)


class Sweep:
    """Compares what the file store has with what attachments say they have.

    Args:
        database: where the attachments are.
        files: where their files are.
        report: writes an error report (path, info, data).

    """

    def __init__(self, database: Database, files: FileStore, report: Callable[[str, str, str], object]) -> None:
        self._database = database
        self._files = files
        self._report = report

    def run(self) -> dict[str, int]:
        """Remove files of the day before and earlier that belong to no attachment, and report files that are missing.

        Return how many there were of each. Younger files may be about to get their attachment.
        """
        removed = self._remove_orphans()
        missing = sorted(self._missing())
        if missing:
            named = "\n".join(missing[:_MOST_NAMED])
            self._report(
                "attachments.sweep",
                f"{len(missing)} attachments have no file. Restore them from a backup, or delete the attachments.",
                named,
            )
        return {"removed": removed, "missing": len(missing)}

    def _remove_orphans(self) -> int:
        removed, before = 0, now() - _AGE
        old = (info.path for info in self._files.walk(FOLDER) if info.modified < before)
        for paths in _parts(old):
            for path in sorted(set(paths) - self._known(paths)):
                _LOG.info("%s belongs to no attachment and is removed", path)
                self._files.delete(path)
                removed += 1
        return removed

    def _known(self, paths: Sequence[str]) -> set[str]:
        found: set[str] = set()
        with self._database.read() as connection:
            for column in (ATTACHMENTS.c.path, ATTACHMENTS.c.thumbnail):
                found.update(connection.execute(select(column).where(column.in_(paths))).scalars())
        return found

    def _missing(self) -> Iterator[str]:
        for batch in self._stored():
            # One look into a folder instead of one at each file of it.
            folders = {path[: path.rindex("/") + 1] for path in batch}
            there = {info.path for folder in folders for info in self._files.walk(folder)}
            gone = [path for path in batch if path not in there]
            # Meanwhile some may have been deleted, replaced or renamed.
            yield from (path for path in self._known(gone) if not self._files.exists(path))

    def _stored(self) -> Iterator[list[str]]:
        last = ""
        while True:
            column = ATTACHMENTS.c.path
            statement = select(column).where(column > last).order_by(column).limit(_AT_ONCE)
            with self._database.read() as connection:
                batch = list(connection.execute(statement).scalars())
            if not batch:
                return
            yield batch
            last = batch[-1]


def _parts(paths: Iterable[str]) -> Iterator[list[str]]:
    rest = iter(paths)
    while part := list(islice(rest, _AT_ONCE)):
        yield part
