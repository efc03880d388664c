"""The distributions of the host's own environment, which are never touched."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import Distribution, distributions
from pathlib import Path

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version


@dataclass(frozen=True, slots=True)
class HostDistribution:
    """A distribution in the host's environment."""

    name: str
    version: str
    requires: Sequence[str]


class HostEnvironment:
    """Reads the host's environment: everything on ``sys.path`` except the package store.

    Args:
        store: the folder of the package store, whose packages belong to nobody's environment.
        host: name of the host's own distribution.

    """

    def __init__(self, store: Path, *, host: str = "plugyard") -> None:
        self._store = store.absolute()
        self._host = canonicalize_name(host)

    def distributions(self) -> Mapping[str, HostDistribution]:
        """Return what is installed, by canonical name."""
        path = [entry for entry in sys.path if not Path(entry).absolute().is_relative_to(self._store)]
        found: dict[str, HostDistribution] = {}
        for distribution in distributions(path=path):
            name = _name(distribution)
            if name and canonicalize_name(name) not in found and _is_version(distribution.version):
                found[canonicalize_name(name)] = HostDistribution(
                    name, distribution.version, tuple(distribution.requires or ())
                )
        return found

    def label(self, installed: Mapping[str, HostDistribution]) -> str:
        """Return how messages call the host: its distribution and version."""
        host = installed.get(self._host)
        return f"the host ({host.name} {host.version})" if host else "the host"


def _name(distribution: Distribution) -> str | None:
    try:
        return distribution.metadata["Name"]
    except KeyError:
        return None


def _is_version(text: str | None) -> bool:
    try:
        Version(text or "")
    except InvalidVersion:
        return False
    return True
