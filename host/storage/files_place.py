"""A place where files are kept: what the file store asks of a folder and of a bucket alike."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import BinaryIO, Final, Protocol

from host.errors import NotFoundError, UnavailableError

_LOG = logging.getLogger("plugyard.storage.files")

OWN_FOLDER: Final = ".incoming"
"""Folder for what is not finished; no file may have a path below it."""


class FileMissingError(NotFoundError):
    """There is no such file."""


class FilesFailedError(UnavailableError):
    """The place for files cannot be used.

    ``reason`` says why, and ``remedy`` what to do; the text is both.
    """

    def __init__(self, reason: str, remedy: str) -> None:
        super().__init__(f"{reason} {remedy}")
        self.reason = reason
        self.remedy = remedy


@dataclass(frozen=True, slots=True)
class FileInfo:
    """What is known of a file."""

    path: str
    size: int
    modified: datetime
    """When it was stored, in UTC."""
    etag: str = ""
    """Differs between files that ever had this path; empty where it was not asked for."""


class Place(Protocol):
    """Keeps files; paths have been checked.

    A method raises ``FileNotFoundError`` or ``FileExistsError``, or one of ``errors`` where the place cannot be used.
    """

    where: str
    """The place, for people."""
    errors: tuple[type[Exception], ...]
    remedy: str
    """What to do where it cannot be used."""

    def explain(self, error: Exception) -> str:
        """Say in a sentence what went wrong."""

    def prepare(self) -> None:
        """Make ready, without network."""

    def check(self) -> None:
        """Try whether a file could be written."""

    def save(self, path: str, content: BinaryIO) -> int:
        """Store a new file as a whole, and return its size."""

    def open(self, path: str) -> BinaryIO:
        """Open a file for reading."""

    def info(self, path: str) -> FileInfo:
        """Describe a file."""

    def move(self, old: str, new: str) -> None:
        """Give a file a path that is free."""

    def delete(self, path: str) -> None:
        """Remove a file that may be missing."""

    def walk(self, prefix: str) -> Iterator[FileInfo]:
        """Iterate over the files whose path begins with ``prefix``, which is empty or ends in a slash."""

    def sweep(self, older_than: timedelta) -> int:
        """Remove what was left unfinished that long ago."""


def failed(place: Place, error: Exception) -> FilesFailedError:
    """Log that a place has failed, and return the error that says so."""
    reason = place.explain(error)
    # What is wrong with a disk or a network takes a line, as it will be there often; all else may be a fault of ours.
    is_outside = isinstance(error, OSError) or type(error).__module__.startswith("botocore")
    _LOG.error("%s", reason, exc_info=None if is_outside else error)
    return FilesFailedError(reason, place.remedy)
