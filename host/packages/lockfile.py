"""The lock of a generation: exactly which wheels it consists of, as a PEP 751 ``pylock.toml``."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

import tomli_w
from packaging.pylock import Package, PackageWheel, Pylock, PylockValidationError
from packaging.utils import NormalizedName, canonicalize_name
from packaging.version import Version

from host.errors import UnavailableError

_TOOL = "plugyard"


@dataclass(frozen=True, slots=True, kw_only=True)
class LockedPackage:
    """One package of a generation."""

    name: str
    """Canonical name."""
    version: str
    filename: str
    """File name of the wheel."""
    sha256: str
    size: int
    requires: tuple[str, ...] = ()
    """Its ``Requires-Dist``."""
    requested: bool = False
    """It stands in the plugins file, rather than being there because another package needs it."""
    source: str = ""
    """Address it came from, without credentials."""
    direct_url: Mapping[str, Any] = field(default_factory=dict)
    """Content of ``direct_url.json``; empty for a package from an index."""

    @property
    def folder(self) -> str:
        """Name of its folder in the store."""
        return f"{self.name}-{self.version}-{self.sha256[:12]}"


@dataclass(frozen=True)
class Lock:
    """All packages of a generation, ordered by name."""

    packages: tuple[LockedPackage, ...] = ()

    @classmethod
    def of(cls, packages: Iterable[LockedPackage]) -> Lock:
        """Make a lock of packages in any order."""
        return cls(tuple(sorted(packages, key=lambda package: package.name)))

    @cached_property
    def by_name(self) -> Mapping[str, LockedPackage]:
        """The packages by canonical name."""
        return {package.name: package for package in self.packages}

    def __iter__(self) -> Iterator[LockedPackage]:
        """Iterate over the packages."""
        return iter(self.packages)

    def to_toml(self) -> str:
        """Return the lock as the text of a ``pylock.toml``.

        Raises:
            UnavailableError: the text could not be read again, which would keep the host from starting.

        """
        lock = Pylock(
            lock_version=Version("1.0"), created_by=_TOOL, packages=[_to_package(package) for package in self.packages]
        )
        text = tomli_w.dumps(lock.to_dict())
        self.from_toml(text)
        return text

    @classmethod
    def from_toml(cls, text: str) -> Lock:
        """Read the text of a lock.

        Raises:
            UnavailableError: the text is no lock of this host.

        """
        try:
            lock = Pylock.from_dict(tomllib.loads(text))
            return cls.of(_from_package(package) for package in lock.packages)
        except (tomllib.TOMLDecodeError, PylockValidationError, KeyError, TypeError, IndexError) as error:
            raise UnavailableError(f"The lock of installed packages is damaged: {error}.") from error


def _to_package(package: LockedPackage) -> Package:
    is_web = package.source.startswith("https://") and "****" not in package.source and not package.direct_url
    wheel = PackageWheel(
        name=package.filename,
        path=None if is_web else f"wheels/{package.sha256}/{package.filename}",
        url=package.source if is_web else None,
        size=package.size,
        hashes={"sha256": package.sha256},
    )
    details = {
        "requires": list(package.requires),
        "requested": package.requested,
        "source": package.source,
        "direct-url": dict(package.direct_url),
    }
    return Package(
        name=NormalizedName(package.name), version=Version(package.version), wheels=[wheel], tool={_TOOL: details}
    )


def _from_package(package: Package) -> LockedPackage:
    wheel = (package.wheels or ())[0]
    details = (package.tool or {})[_TOOL]
    return LockedPackage(
        name=canonicalize_name(package.name),
        version=str(package.version),
        filename=wheel.filename,
        sha256=wheel.hashes["sha256"],
        size=wheel.size or 0,
        requires=tuple(details["requires"]),
        requested=details["requested"],
        source=details["source"],
        direct_url=details["direct-url"],
    )


def as_json(package: LockedPackage) -> dict[str, Any]:
    """Return a package for an answer."""
    return asdict(package) | {"requires": list(package.requires), "direct_url": dict(package.direct_url)}
