"""Holding what is installed while something else is resolved."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from pathlib import Path
from tempfile import mkdtemp

from host.errors import UnavailableError
from host.packages.environment import HostDistribution
from host.packages.lockfile import Lock, LockedPackage
from host.packages.masking import mask
from host.packages.plan import Target
from host.packages.plugins_file import Line
from host.packages.reach import applies
from host.packages.resolve import Resolved
from host.packages.sources import wheel_identity
from host.packages.wheels import Wheels


class Holding:
    """What is installed, said in pip's terms."""

    def __init__(self, host: Mapping[str, HostDistribution], lock: Lock, wheels: Wheels) -> None:
        self._host = host
        self._lock = lock
        self._wheels = wheels

    def constraints(self, free: Iterable[str]) -> list[str]:
        """Return constraints that hold the host's packages and the locked ones, except those that are free."""
        pins = [f"{name}=={installed.version}" for name, installed in self._host.items()]
        released = set(free)
        pins += [
            self._pin(package)
            for package in self._lock
            if package.name not in self._host
            and package.name not in released
            # A dependency that names an address fixes it; a second address for the same package would be a conflict.
            and (package.requested or not package.direct_url)
        ]
        return pins

    def is_settled(self, line: Line) -> bool:
        """Tell whether what is installed already is what a line asks for."""
        requirement = line.requirement
        if requirement is None or line.name is None or not applies(requirement):
            return True
        locked = self._lock.by_name.get(line.name)
        if locked is None:
            return line.name in self._host
        if line.hashes and ("sha256", locked.sha256) not in line.hashes:
            return False
        if requirement.url:
            return mask(requirement.url) == locked.source
        return requirement.specifier.contains(locked.version, prereleases=True)

    def requirements(self, lines: Iterable[Line], free: Iterable[str]) -> list[str]:
        """Return what pip is asked for: the lines, settled ones without the address that they came from."""
        released = set(free)
        asked = []
        for line in lines:
            if line.requirement is None:
                continue
            requirement = line.requirement
            is_locked = line.name in self._lock.by_name and line.name not in released
            if requirement.url and is_locked and self.is_settled(line):
                requirement = copy(requirement)
                requirement.url = None
            asked.append(str(requirement))
        return asked

    def links(self, free: Iterable[str], folder: Path, *, every_version: bool) -> Path | None:
        """Make a folder of the kept wheels of free packages, so that those resolve without an index too.

        Wheels of generations that are no longer in force are offered only where ``every_version`` is asked for:
        an index may have withdrawn them for a reason.
        """
        released = set(free)
        offered = [(one.sha256, one.filename) for one in self._lock if one.name in released]
        if every_version:
            offered += list(self._kept(released))
        if not offered:
            return None
        folder.mkdir(parents=True, exist_ok=True)
        folder = Path(mkdtemp(dir=folder))
        for sha256, filename in offered:
            if self._wheels.has(sha256, filename) and not (folder / filename).exists():
                (folder / filename).symlink_to(self._wheels.local(sha256, filename))
        return folder

    def is_locked(self, item: Resolved) -> bool:
        """Tell whether a resolved package is the very wheel that is installed."""
        locked = self._lock.by_name.get(item.name)
        return locked is not None and bool(item.sha256) and item.sha256 == locked.sha256

    def target(self, item: Resolved) -> Target:
        """Return what a resolved package means for the next generation."""
        locked = self._lock.by_name.get(item.name)
        if locked is not None and self.is_locked(item) and self._wheels.has(locked.sha256, locked.filename):
            return Target(kept=locked)
        return Target(fetched=item)

    def _kept(self, names: set[str]) -> Iterator[tuple[str, str]]:
        for sha256, filename in self._wheels.entries():
            identity = wheel_identity(filename)
            if identity and identity[0] in names:
                yield sha256, filename

    def _pin(self, package: LockedPackage) -> str:
        try:
            # The address holds the very file, and pip asks no index for it.
            return f"{package.name} @ {self._wheels.local(package.sha256, package.filename).as_uri()}"
        except UnavailableError:
            return f"{package.name}=={package.version}"
