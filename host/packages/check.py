"""Whether what is installed still fits together and beside the host."""

from __future__ import annotations

from collections.abc import Mapping

from packaging.utils import canonicalize_name

from host.packages.environment import HostDistribution
from host.packages.lockfile import Lock
from host.packages.reach import applies, parse


def problems(lock: Lock, host: Mapping[str, HostDistribution], host_label: str) -> list[str]:
    """Return one sentence for each requirement that is not met, and for each package that the host hides."""
    found = []
    for package in lock:
        if package.name in host:
            found.append(
                f"{package.name} {package.version} is hidden by {host[package.name].version} in the host's environment."
            )
        for requirement in parse(package.requires):
            if not applies(requirement):
                continue
            name = canonicalize_name(requirement.name)
            installed = host.get(name) or lock.by_name.get(name)
            who = f"{package.name} {package.version} requires {name}{requirement.specifier}"
            if installed is None:
                found.append(f"{who}, which is not installed.")
            elif not requirement.specifier.contains(installed.version, prereleases=True):
                runner = host_label if name in host else "its generation"
                found.append(f"{who}, but {runner} has {installed.version}.")
    return found
