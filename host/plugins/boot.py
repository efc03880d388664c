"""The boot guard: remembers which plugin was being loaded when a boot died."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import FileIO
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Casualty:
    """A boot that died: its file, and the plugin that it was loading; ``None`` when it was between two plugins."""

    file: Path
    plugin: str | None


class BootGuard:
    """Keeps a file of its own for each boot, locked as long as the process lives.

    The lock tells a boot that is going on from one that has died: process numbers are given out again.

    Args:
        folder: where the files are kept.

    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file: FileIO | None = None
        self._path: Path | None = None

    def casualties(self) -> list[Casualty]:
        """Find the boots that died; call :meth:`clear` once what they tell has been stored."""
        found = []
        for path in sorted(self._folder.glob("*.json")):
            try:
                with path.open("rb") as file:
                    if _lock(file.fileno()):
                        found.append(Casualty(path, _plugin_in(file.read())))
            except FileNotFoundError:
                # Another boot has seen to it.
                continue
        return found

    def clear(self, casualties: list[Casualty]) -> None:
        """Forget boots that died."""
        for casualty in casualties:
            casualty.file.unlink(missing_ok=True)

    @contextmanager
    def booting(self) -> Iterator[None]:
        """Guard the block. However it ends, as long as the process survives, nobody is to blame."""
        self._folder.mkdir(parents=True, exist_ok=True)
        self._path, self._file = self._own_file()
        try:
            yield
        finally:
            self._path.unlink(missing_ok=True)
            self._file.close()
            self._file = None

    def loading(self, key: str | None) -> None:
        """Note that this plugin is loaded next, or that none is being loaded; nothing outside of a boot."""
        if self._file is None:
            return
        data = json.dumps({"pid": os.getpid(), "plugin": key}).encode()
        # Written in place: a file that takes its place would not be locked. It survives the process, not the machine.
        self._file.truncate(0)
        self._file.seek(0)
        self._file.write(data)

    def _own_file(self) -> tuple[Path, FileIO]:
        number = 0
        while True:
            # A container beside this one may have given the same number to its process.
            path = self._folder / (f"{os.getpid()}.json" if not number else f"{os.getpid()}-{number}.json")
            file = FileIO(path, "a+")
            if _lock(file.fileno()) and path.exists():
                file.truncate(0)
                return path, file
            file.close()
            number += 1


def _lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _plugin_in(data: bytes) -> str | None:
    try:
        plugin = json.loads(data)["plugin"]
    except (ValueError, KeyError, TypeError):
        return None
    return plugin if isinstance(plugin, str) else None
