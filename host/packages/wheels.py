"""Wheels that are kept, each under the hash of its content."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from hashlib import file_digest
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol
from uuid import uuid4

from host.errors import UnavailableError
from host.storage.atomic import sync_folder
from host.storage.files import FileMissingError, FileStore, FileTakenError

_SHA256_LENGTH = 64
_SHARED = "wheels"
_SHARED_PARTS = 3


class Wheels(Protocol):
    """Keeps wheels; another implementation can keep them beyond this machine."""

    def add(self, path: Path, sha256: str) -> bool:
        """Keep a wheel under its file name; False when it was there already."""

    def local(self, sha256: str, filename: str) -> Path:
        """Return a path on this machine that holds a kept wheel.

        Raises:
            UnavailableError: the wheel is not kept.

        """

    def has(self, sha256: str, filename: str) -> bool:
        """Tell whether a wheel is kept."""

    def remove(self, sha256: str) -> None:
        """Forget a wheel; one that is not kept is no error."""

    def entries(self) -> Iterator[tuple[str, str]]:
        """Iterate over hash and file name of each kept wheel."""


class WheelStore:
    """Keeps wheels in a local folder, ``<sha256>/<filename>``."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.absolute()

    def add(self, path: Path, sha256: str) -> bool:
        """Keep a wheel under its file name; False when it was there already.

        Raises:
            OSError: it cannot be written.

        """
        if self.has(sha256, path.name):
            return False
        target = self.folder / sha256 / path.name
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary = target.with_name(f".{uuid4().hex}")
        try:
            with path.open("rb") as source, temporary.open("wb") as copy:
                shutil.copyfileobj(source, copy, 1 << 20)
                copy.flush()
                os.fsync(copy.fileno())
            temporary.replace(target)
        except OSError:
            shutil.rmtree(target.parent, ignore_errors=True)
            raise
        sync_folder(target.parent)
        return True

    def local(self, sha256: str, filename: str) -> Path:
        """Return the path of a kept wheel.

        Raises:
            UnavailableError: the wheel is not kept.

        """
        path = self.folder / sha256 / filename
        if not path.is_file():
            raise UnavailableError(_missing(filename))
        return path

    def has(self, sha256: str, filename: str) -> bool:
        """Tell whether a wheel is kept."""
        return (self.folder / sha256 / filename).is_file()

    def remove(self, sha256: str) -> None:
        """Forget a wheel; one that is not kept is no error."""
        if len(sha256) == _SHA256_LENGTH:
            shutil.rmtree(self.folder / sha256, ignore_errors=True)

    def entries(self) -> Iterator[tuple[str, str]]:
        """Iterate over hash and file name of each kept wheel."""
        for path in sorted(self.folder.glob("*/*.whl")):
            yield path.parent.name, path.name
        for folder in self.folder.glob("*/"):
            if not any(folder.iterdir()):
                yield folder.name, ""


class SharedWheels:
    """Keeps wheels in the file store, ``wheels/<sha256>/<filename>``, where other machines find them too.

    Args:
        files: the file store.
        cache: folder of this machine for copies of them, each of which is checked against its hash.

    """

    def __init__(self, files: FileStore, cache: Path) -> None:
        self._files = files
        self._cache = WheelStore(cache)

    def add(self, path: Path, sha256: str) -> bool:
        """Keep a wheel under its file name; False when it was there already.

        Raises:
            OSError: it cannot be read.
            UnavailableError: the file store cannot be used.

        """
        try:
            with path.open("rb") as content:
                self._files.save(_shared_path(sha256, path.name), content)
        except FileTakenError:
            return False
        return True

    def local(self, sha256: str, filename: str) -> Path:
        """Return the path of a copy on this machine; it is fetched when it is first asked for.

        Raises:
            UnavailableError: the wheel is not kept, or what is kept has another hash.

        """
        if not self._cache.has(sha256, filename):
            self._fetch(sha256, filename)
        return self._cache.local(sha256, filename)

    def has(self, sha256: str, filename: str) -> bool:
        """Tell whether a wheel is kept."""
        return self._files.exists(_shared_path(sha256, filename))

    def remove(self, sha256: str) -> None:
        """Forget a wheel; one that is not kept is no error."""
        if len(sha256) == _SHA256_LENGTH:
            for kept in list(self._files.walk(f"{_SHARED}/{sha256}")):
                self._files.delete(kept.path)
        self._cache.remove(sha256)

    def entries(self) -> Iterator[tuple[str, str]]:
        """Iterate over hash and file name of each kept wheel."""
        for kept in self._files.walk(_SHARED):
            parts = kept.path.split("/")
            if len(parts) == _SHARED_PARTS and parts[2].endswith(".whl"):
                yield parts[1], parts[2]

    def _fetch(self, sha256: str, filename: str) -> None:
        self._cache.folder.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=".", dir=self._cache.folder) as folder:
            copy = Path(folder) / filename
            try:
                with copy.open("wb") as file:
                    file.writelines(self._files.read(_shared_path(sha256, filename)))
            except FileMissingError:
                raise UnavailableError(_missing(filename)) from None
            if hash_of(copy) != sha256:
                raise UnavailableError(
                    f"The kept wheel {filename} is not what was kept: somebody changed it in {self._files.where}. "
                    "Remove it there and install its package again."
                )
            self._cache.add(copy, sha256)


def _shared_path(sha256: str, filename: str) -> str:
    return f"{_SHARED}/{sha256}/{filename}"


def _missing(filename: str) -> str:
    return f"The kept wheel {filename} is missing; install its package again."


def hash_of(path: Path, algorithm: str = "sha256") -> str:
    """Return the hash of a file's content, in hexadecimal digits."""
    with path.open("rb") as file:
        return file_digest(file, algorithm).hexdigest()
