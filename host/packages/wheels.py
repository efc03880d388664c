"""Wheels that are kept, each under the hash of its content."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from hashlib import file_digest
from pathlib import Path
from typing import Protocol
from uuid import uuid4

from host.errors import UnavailableError
from host.packages.text_files import sync_folder

_SHA256_LENGTH = 64


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
            raise UnavailableError(f"The kept wheel {filename} is missing; install its package again.")
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


def hash_of(path: Path, algorithm: str = "sha256") -> str:
    """Return the hash of a file's content, in hexadecimal digits."""
    with path.open("rb") as file:
        return file_digest(file, algorithm).hexdigest()
