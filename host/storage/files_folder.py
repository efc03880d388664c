"""Files in a folder of this machine, or in one that several machines share."""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import BinaryIO, Final, TypeAlias
from uuid import uuid4

from host.storage.atomic import sync_folder
from host.storage.files_place import OWN_FOLDER, FileInfo

_CHUNK: Final = 1024 * 1024
_TRIES: Final = 100
_NO_LINKS: Final = frozenset({errno.EPERM, errno.EACCES, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK})
# The proxy in front may be in the group; nobody else has any business with what people store.
_FILE_MODE: Final = 0o640
_FOLDER_MODE: Final = 0o750

_Publish: TypeAlias = Callable[[Path], None]
"""Gives the finished file its name in a folder that exists."""


class FolderFiles:
    """Keeps files in a folder."""

    errors: tuple[type[Exception], ...] = (OSError,)

    def __init__(self, folder: Path) -> None:
        self._folder = folder.absolute()
        self._own = self._folder / OWN_FOLDER
        self.where = str(self._folder)
        self.remedy = "Check the folder's owner, its permissions and the free space."

    def explain(self, error: Exception) -> str:
        """Say what went wrong."""
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        return f"The folder for files {self._folder} cannot be used: {reason}."

    def prepare(self) -> None:
        """Make the folder, and remove what killed processes have left."""
        self._make(self._own)
        self.sweep(timedelta(hours=1))

    def check(self) -> None:
        """Try whether a file can be written, or the folder be made."""
        existing = next(folder for folder in (self._folder, *self._folder.parents) if folder.exists())
        if not existing.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, f"{existing} is no folder")
        if existing == self._folder and self._own.is_dir():
            with self._draft() as (file, _):
                file.write(b"\0" * 4096)
                file.flush()
        elif not os.access(existing, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, f"{existing} cannot be written")

    def save(self, path: str, content: BinaryIO) -> int:
        """Store a new file: written under no name, or one that counts for nothing, until all of it is on the disk."""
        target = self._folder / path
        if target.exists():
            raise FileExistsError(path)
        size = 0
        with self._draft() as (file, publish):
            while piece := content.read(_CHUNK):
                size += file.write(piece)
            file.flush()
            os.fsync(file.fileno())
            self._name(target, publish)
        return size

    def open(self, path: str) -> BinaryIO:
        """Open a file for reading."""
        return (self._folder / path).open("rb")

    def info(self, path: str) -> FileInfo:
        """Describe a file."""
        state = (self._folder / path).stat()
        if not stat.S_ISREG(state.st_mode):
            raise FileNotFoundError(path)
        return _info(path, state)

    def move(self, old: str, new: str) -> None:
        """Give a file another name, then take the old one away."""
        self.info(old)
        source = self._folder / old
        self._name(self._folder / new, lambda target: _link(source, target))
        with suppress(FileNotFoundError):  # moved already, where links cannot be made
            source.unlink()
        self._prune(source.parent)

    def delete(self, path: str) -> None:
        """Remove a file, and the folders that are empty without it."""
        target = self._folder / path
        try:
            target.unlink()
        except (FileNotFoundError, NotADirectoryError):
            return
        except OSError:
            if target.is_dir():  # what that raises differs between systems
                return
            raise
        self._prune(target.parent)

    def walk(self, prefix: str) -> Iterator[FileInfo]:
        """Iterate over the files below a folder, in the order of their names."""
        try:
            with os.scandir(self._folder / prefix) as found:
                entries = sorted(found, key=lambda entry: entry.name)
        except (FileNotFoundError, NotADirectoryError):
            return
        for entry in entries:
            path = f"{prefix}{entry.name}"
            if path == OWN_FOLDER:
                continue
            if entry.is_dir():
                yield from self.walk(f"{path}/")
                continue
            with suppress(FileNotFoundError):
                state = entry.stat()
                if stat.S_ISREG(state.st_mode):
                    yield _info(path, state)

    def sweep(self, older_than: timedelta) -> int:
        """Remove drafts that nobody has written to for so long."""
        removed, limit = 0, time.time() - older_than.total_seconds()
        try:
            with os.scandir(self._own) as found:
                for entry in found:
                    with suppress(FileNotFoundError):
                        if entry.stat().st_mtime < limit:
                            Path(entry.path).unlink()
                            removed += 1
        except FileNotFoundError:
            return 0
        return removed

    @contextmanager
    def _draft(self) -> Iterator[tuple[BinaryIO, _Publish]]:
        self._make(self._own)
        if self._has_nameless:
            with os.fdopen(os.open(self._own, os.O_TMPFILE | os.O_RDWR, _FILE_MODE), "wb") as file:
                yield file, lambda target: _link_nameless(file.fileno(), target)
            return
        draft = self._own / uuid4().hex
        try:
            with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _FILE_MODE), "wb") as file:
                yield file, lambda target: _link(draft, target)
        finally:
            draft.unlink(missing_ok=True)

    @cached_property
    def _has_nameless(self) -> bool:
        """Whether a file can be written before it has any name: nothing is left of it when the process is killed."""
        self._make(self._own)
        if not hasattr(os, "O_TMPFILE"):
            return False
        trial = self._own / uuid4().hex
        try:
            descriptor = os.open(self._own, os.O_TMPFILE | os.O_RDWR, _FILE_MODE)
        except OSError:
            return False
        try:
            _link_nameless(descriptor, trial)
        except OSError:
            return False
        finally:
            os.close(descriptor)
            trial.unlink(missing_ok=True)
        return True

    def _name(self, target: Path, publish: _Publish) -> None:
        for _ in range(_TRIES):
            self._make(target.parent)
            try:
                publish(target)
            except FileNotFoundError:
                continue  # the folder was empty, and someone who deleted a file of it took it away
            with suppress(FileNotFoundError):
                sync_folder(target.parent)
            return
        raise FileNotFoundError(errno.ENOENT, "the folder is taken away again and again")

    def _make(self, folder: Path) -> None:
        missing = []
        while not folder.is_dir():
            missing.append(folder)
            folder = folder.parent
        for one in reversed(missing):
            try:
                one.mkdir(_FOLDER_MODE)
            except FileExistsError:
                if not _stands_in_the_way(one):
                    continue
                if one in {self._folder, self._own}:
                    raise NotADirectoryError(errno.ENOTDIR, f"{one} is no folder") from None
                raise
            except FileNotFoundError:  # taken away again; whoever needs it comes back
                return
            else:
                sync_folder(one.parent)

    def _prune(self, folder: Path) -> None:
        while folder != self._folder and folder.is_relative_to(self._folder):
            try:
                folder.rmdir()
            except OSError:
                return
            folder = folder.parent


def _stands_in_the_way(path: Path) -> bool:
    try:
        return not stat.S_ISDIR(path.stat().st_mode)
    except FileNotFoundError:
        return path.is_symlink()


def _info(path: str, state: os.stat_result) -> FileInfo:
    return FileInfo(
        path=path,
        size=state.st_size,
        modified=datetime.fromtimestamp(state.st_mtime, UTC),
        etag=f"{state.st_ino:x}-{state.st_mtime_ns:x}-{state.st_size:x}",
    )


def _link_nameless(descriptor: int, target: Path) -> None:
    folder = os.open(target.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        # With a folder's descriptor, and only then, the link is made to what /proc points at.
        os.link(f"/proc/self/fd/{descriptor}", target.name, dst_dir_fd=folder)
    finally:
        os.close(folder)


def _link(source: Path, target: Path) -> None:
    """Give a file a further name, or where that cannot be done, another one; never one that is taken."""
    try:
        os.link(source, target)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _FILE_MODE))
        source.replace(target)
