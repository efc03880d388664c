"""The data files of sessions: examined, stored, and read by those who may."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, BinaryIO, Final

from sqlalchemy import select

from host.contract.values import User
from host.errors import InvalidInputError
from host.importing.listings import sees_all
from host.importing.reading.files import check_size, format_of, local_copy, open_table
from host.importing.reading.table import DataFileError, Table, TableLimits
from host.importing.tables import SESSIONS
from host.records.attachments.names import SplitName, clean_name
from host.storage.engine import Database
from host.storage.files import FileStore

FOLDER: Final = "importer/"
"""Where the files are in the file store."""
_NAME_LENGTH: Final = 100
# What was accepted once is read again whatever the settings say by then.
_ANY: Final = TableLimits(rows=100_000_000, columns=1_000_000)


@dataclass(frozen=True, slots=True)
class DataFile:
    """A file as somebody sent it."""

    name: str
    content: BinaryIO
    """Can be read more than once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportLimits:
    """How large files may be; each function is asked every time."""

    megabytes: Callable[[], int] = lambda: 32
    rows: Callable[[], int] = lambda: 5000
    columns: Callable[[], int] = lambda: 1000


class DataFiles:
    """Keeps the files.

    Args:
        database: where the sessions are.
        files: the file store.
        limits: how large files may be.

    """

    def __init__(self, database: Database, files: FileStore, limits: ImportLimits) -> None:
        self._database = database
        self._files = files
        self._limits = limits

    def examine(self, file: DataFile) -> dict[str, Any]:
        """Read a file from beginning to end, and return what a session keeps of it.

        Raises:
            InvalidInputError: it cannot be imported.

        """
        limits = TableLimits(rows=self._limits.rows(), columns=self._limits.columns())
        try:
            kind = format_of(file.name)
            check_size(file.content, self._limits.megabytes())
            with open_table(file.content, kind, limits) as table:
                count = sum(1 for _ in table)
                return {"columns": table.header.columns, "file_rows": count}
        except DataFileError as error:
            raise InvalidInputError({"data_file": [str(error)]}) from None

    def store(self, file: DataFile) -> str:
        """Store a file, and return its path."""
        name = SplitName.of(clean_name(file.name)).fitted(_NAME_LENGTH)
        path = f"{FOLDER}{secrets.token_hex(8)}/{name}"
        file.content.seek(0)
        self._files.save(path, file.content)
        return path

    @contextmanager
    def table(self, path: str) -> Iterator[Table]:
        """Open the table in a stored file.

        Raises:
            DataFileError: it cannot be read any more.
            FileMissingError: it is not there any more.

        """
        with local_copy(self._files.read(path)) as content, open_table(content, format_of(path), _ANY) as table:
            yield table

    def delete(self, path: str) -> None:
        """Remove a file."""
        self._files.delete(path)

    def may_read(self, user: User, path: str) -> bool:
        """Tell whether somebody may read the file at a path of the store: whose session it is, and the staff."""
        with self._database.read() as connection:
            found = connection.execute(select(SESSIONS.c.user_id).where(SESSIONS.c.data_file == path)).first()
        return found is not None and (sees_all(user) or found.user_id == user.id)

    def sweep(self, before: datetime) -> int:
        """Remove files that no session has, and return how many: a process that is killed leaves one behind."""
        removed = 0
        for info in self._files.walk(FOLDER):
            if info.modified < before and not self._is_known(info.path):
                self._files.delete(info.path)
                removed += 1
        return removed

    def _is_known(self, path: str) -> bool:
        with self._database.read() as connection:
            return connection.execute(select(SESSIONS.c.id).where(SESSIONS.c.data_file == path)).first() is not None
