"""The package store: one folder for each unpacked distribution, never changed once it is there."""

from __future__ import annotations

import csv
import os
import shutil
import time
from collections.abc import Collection, Iterable
from pathlib import Path

from host.packages.lockfile import LockedPackage
from host.packages.node import is_gone, new_owner, node_id
from host.packages.unpack import unpack_wheel
from host.packages.wheels import Wheels
from host.storage.atomic import sync_folder

_TEMPORARY = ".new-"
_FORGOTTEN_AFTER = 24 * 3600.0


class PackageStore:
    """Unpacks kept wheels into folders.

    Args:
        folder: holds one folder for each distribution, ``<name>-<version>-<hash12>``.
        wheels: where the wheels are kept.

    """

    def __init__(self, folder: Path, wheels: Wheels) -> None:
        self.folder = folder.absolute()
        self._wheels = wheels

    def path(self, package: LockedPackage) -> Path:
        """Return where a package is, or will be."""
        return self.folder / package.folder

    def unpack(self, package: LockedPackage) -> bool:
        """Unpack a kept wheel; False when it was unpacked already.

        Raises:
            UnavailableError: the wheel is not kept.
            PackageRefusedError: the wheel cannot be unpacked safely.
            OSError: the folder cannot be written.

        """
        target = self.path(package)
        if target.is_dir():
            return False
        self.folder.mkdir(parents=True, exist_ok=True)
        temporary = self.folder / f"{_TEMPORARY}{new_owner().replace('/', '-')}"
        try:
            wheel = self._wheels.local(package.sha256, package.filename)
            temporary.mkdir()
            unpack_wheel(wheel, temporary, direct_url=package.direct_url, requested=package.requested)
            try:
                temporary.rename(target)
            except OSError:
                if not target.is_dir():
                    raise
                return False  # another process was faster, with the same content
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
        sync_folder(self.folder)
        return True

    def repair(self, packages: Iterable[LockedPackage]) -> list[str]:
        """Unpack what is missing or incomplete, from the kept wheels; return the names of those packages.

        Raises:
            UnavailableError: a wheel that is needed is not kept.
            OSError: a folder cannot be written.

        """
        repaired = []
        for package in packages:
            if not _is_complete(self.path(package)):
                self._wheels.local(package.sha256, package.filename)
                self.remove(package.folder)
                self.unpack(package)
                repaired.append(package.name)
        return repaired

    def remove(self, folder: str) -> None:
        """Remove a distribution's folder: out of the way in one step, then deleted."""
        target = self.folder / folder
        temporary = self.folder / f"{_TEMPORARY}{new_owner().replace('/', '-')}"
        try:
            target.rename(temporary)
        except OSError:
            temporary = target
        shutil.rmtree(temporary, ignore_errors=True)

    def prune(self, kept: Collection[str]) -> int:
        """Remove every folder that is not among the kept ones, and what dead processes left; return how many."""
        removed = 0
        if not self.folder.is_dir():
            return 0
        for path in list(self.folder.iterdir()):
            if path.name.startswith(_TEMPORARY):
                if is_abandoned(path, path.name.removeprefix(_TEMPORARY)):
                    shutil.rmtree(path, ignore_errors=True)
            elif path.is_dir() and path.name not in kept:
                self.remove(path.name)
                removed += 1
        return removed


def is_abandoned(path: Path, owner: str) -> bool:
    """Tell whether nobody works in a temporary folder any more; its name ends in its owner's, with dashes."""
    parts = owner.split("-")
    if parts[0] == node_id() and os.name == "posix":
        return is_gone("/".join(parts))
    try:
        return time.time() - path.stat().st_mtime > _FORGOTTEN_AFTER
    except OSError:
        return False


def _is_complete(folder: Path) -> bool:
    """Tell whether every file that RECORD lists is there in its full size."""
    records = list(folder.glob("*.dist-info/RECORD"))
    if len(records) != 1:
        return False
    try:
        with records[0].open(encoding="utf-8", newline="") as file:
            for row in csv.reader(file):
                size = (folder / row[0]).stat().st_size
                if row[2] and size != int(row[2]):
                    return False
    except (OSError, ValueError, IndexError):
        return False
    return True
