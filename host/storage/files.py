"""The file store: files under relative paths, in a local folder or in an S3-compatible store.

A file is written as a whole and never changed afterwards: whoever sees it sees all of it. Nothing is ever read whole
into memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import BinaryIO, Final, cast

from host.config.files import Bucket, parse_files_url
from host.errors import HostError, RefusedError
from host.storage.files_bucket import BucketFiles
from host.storage.files_folder import FolderFiles
from host.storage.files_place import OWN_FOLDER, FileInfo, FileMissingError, FilesFailedError, Place, failed

__all__ = [
    "FileInfo",
    "FileMissingError",
    "FilePathError",
    "FileStore",
    "FileTakenError",
    "FilesFailedError",
    "check_path",
]

CHUNK: Final = 256 * 1024
"""Most bytes of one piece of :meth:`FileStore.read`."""

_LONGEST_PART = 255
_LONGEST_PATH = 800
_UNFINISHED = timedelta(days=1)
_MISSING = (FileNotFoundError, NotADirectoryError, IsADirectoryError)
# Control characters, ends of lines, surrogates, and the slash of other systems.
_NEVER = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\\]")


class FileTakenError(RefusedError):
    """There is a file of this path already; files are never overwritten."""


class FilePathError(RefusedError):
    """The path is none that a file can have."""


class FileStore:
    """Files under relative paths, as ``attachments/part/7/plan.pdf``.

    Making one opens nothing. Each method raises :class:`FilePathError` for a path that no file can have, and
    :class:`FilesFailedError` where the store cannot be used; its text names the remedy.

    Args:
        folder: where files are, unless the address says otherwise.
        url: the address of another place: see :func:`host.config.files.parse_files_url`.

    Raises:
        ValueError: the address cannot be used.

    """

    def __init__(self, folder: Path, url: str = "") -> None:
        found = parse_files_url(url)
        self.bucket: Bucket | None = found if isinstance(found, Bucket) else None
        """Where the files are, if not in a folder."""
        self._place: Place = BucketFiles(found) if isinstance(found, Bucket) else FolderFiles(found or folder)

    def __repr__(self) -> str:
        return f"FileStore({self.where!r})"

    @property
    def where(self) -> str:
        """Where the files are, for people; without any secret."""
        return self._place.where

    def prepare(self) -> None:
        """Make ready for use, as far as that needs no network.

        Raises:
            FilesFailedError: the folder cannot be made, or a library is missing.

        """
        with self._explained(""):
            self._place.prepare()

    def check(self) -> None:
        """Make sure that a file could be written now. Leaves nothing behind, and does not make the folder.

        Raises:
            FilesFailedError: it cannot.

        """
        with self._explained(""):
            self._place.check()

    def save(self, path: str, content: BinaryIO) -> int:
        """Store a new file, and return how many bytes it has.

        Nobody sees the file before all of it is there; where the content or this process breaks off, there is none.

        Args:
            path: of the new file.
            content: read from where it stands to its end, piece by piece.

        Raises:
            FileTakenError: the path is taken.

        """
        check_path(path)
        try:
            with self._explained(path, reads=False):
                return self._place.save(path, cast("BinaryIO", _Content(content)))
        except _ContentError as error:
            raise error.reason from None

    def read(self, path: str, start: int = 0, end: int | None = None) -> Iterator[bytes]:
        """Iterate over the bytes from ``start`` up to, not including, ``end``, in pieces.

        The file is opened with the first piece, and closed with the iterator.

        Raises:
            FileMissingError: there is no such file.

        """
        check_path(path)
        with self._explained(path), self._place.open(path) as file:
            file.seek(start)
            position = start
            while end is None or position < end:
                piece = file.read(CHUNK if end is None else min(CHUNK, end - position))
                if not piece:
                    return
                position += len(piece)
                yield piece

    def open(self, path: str) -> BinaryIO:
        """Open a file for reading; one can seek in it.

        Reading from it raises the same errors, as somebody may delete the file meanwhile.

        Raises:
            FileMissingError: there is no such file.

        """
        check_path(path)
        with self._explained(path):
            return self._place.open(path)

    def info(self, path: str) -> FileInfo:
        """Return what is known of a file.

        Raises:
            FileMissingError: there is no such file.

        """
        check_path(path)
        with self._explained(path):
            return self._place.info(path)

    def size(self, path: str) -> int:
        """Return how many bytes a file has.

        Raises:
            FileMissingError: there is no such file.

        """
        return self.info(path).size

    def exists(self, path: str) -> bool:
        """Tell whether there is such a file; a folder is none."""
        try:
            self.info(path)
        except FileMissingError:
            return False
        return True

    def move(self, old: str, new: str) -> None:
        """Give a file another path.

        A process that is killed meanwhile leaves the file under its old path, and maybe under the new one as well.

        Raises:
            FileMissingError: there is no such file.
            FileTakenError: the new path is taken.

        """
        check_path(old)
        check_path(new)
        if old == new:
            self.info(old)
            return
        with self._explained(old, new):
            self._place.move(old, new)

    def delete(self, path: str) -> None:
        """Remove a file; one that is not there is no error."""
        check_path(path)
        with self._explained(path):
            self._place.delete(path)

    def walk(self, prefix: str = "") -> Iterator[FileInfo]:
        """Iterate over the files below a folder, as ``attachments/``; over all of them without one.

        Files that come or go meanwhile may be among them or not.
        """
        folder = prefix.strip("/")
        if folder:
            check_path(folder)
        with self._explained(folder):
            yield from self._place.walk(f"{folder}/" if folder else "")

    def sweep(self, older_than: timedelta = _UNFINISHED) -> int:
        """Remove what processes that were killed while they wrote have left, and return how many pieces it was."""
        with self._explained(""):
            return self._place.sweep(older_than)

    @contextmanager
    def _explained(self, path: str, target: str = "", *, reads: bool = True) -> Iterator[None]:
        try:
            yield
        except (HostError, _ContentError):
            raise
        except self._place.errors as error:
            if path and isinstance(error, FileExistsError):
                message = f"There is a file '{target or path}' already; choose another name."
                raise FileTakenError(message) from None
            if path and reads and isinstance(error, _MISSING):
                raise FileMissingError(f"There is no file '{path}'.") from None
            raise failed(self._place, error) from None


class _ContentError(Exception):
    def __init__(self, reason: Exception) -> None:
        super().__init__(str(reason))
        self.reason = reason


class _Content:
    """Content whose errors are not taken for those of the store."""

    def __init__(self, content: BinaryIO) -> None:
        self._content = content

    def read(self, size: int) -> bytes:
        try:
            return self._content.read(size)
        except Exception as error:  # noqa: BLE001 - it is raised again as it is
            raise _ContentError(error) from None


def check_path(path: str) -> None:
    """Make sure that a file may have a path: relative, of named parts between slashes, and not too long.

    Raises:
        FilePathError: it may not.

    """
    parts = path.split("/")
    if path.startswith("/") or any(part in {"", ".", ".."} for part in parts) or parts[0] == OWN_FOLDER:
        raise FilePathError(f"{path[:100]!r} is no path of a file: give names with single slashes between them.")
    if _NEVER.search(path):
        raise FilePathError(f"{path[:100]!r} is no path of a file: it has a character that no file name may have.")
    if len(path.encode()) > _LONGEST_PATH or any(len(part.encode()) > _LONGEST_PART for part in parts):
        raise FilePathError(
            f"The path {path[:60]!r}… is too long: at most {_LONGEST_PART} bytes for a name and {_LONGEST_PATH} "
            "for all of it."
        )
