"""What is there before a change, and what it forbids."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from packaging.requirements import Requirement

from host.packages.environment import HostDistribution
from host.packages.failures import PackageRefusedError
from host.packages.generations import Generation
from host.packages.lockfile import Lock
from host.packages.plugins_file import Line, PluginsFile
from host.packages.reach import reached, requirements_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """What is there before a change."""

    host: Mapping[str, HostDistribution]
    host_label: str
    generation: Generation | None
    file: PluginsFile
    based_on: str
    """Hash of the plugins file; empty when there is none."""

    @property
    def lock(self) -> Lock:
        """What is installed."""
        return self.generation.lock if self.generation else Lock()

    @property
    def number(self) -> int:
        """Number of the generation in force."""
        return self.generation.number if self.generation else 0


def refuse_host_package(name: str, situation: Situation) -> None:
    """Refuse a package of the host's environment, unless it is managed here as well."""
    installed = situation.host.get(name)
    if installed is not None and name not in situation.lock.by_name:
        raise PackageRefusedError(
            f"{installed.name} {installed.version} is already in the host's own environment; it is not managed here. "
            "Change it there, with the tool that installed it."
        )


def not_listed(name: str, situation: Situation) -> PackageRefusedError:
    """Return why a package that the plugins file does not name cannot be uninstalled."""
    if name in situation.lock.by_name:
        roots = [package for package in situation.lock if package.requested]
        requires = requirements_of(situation.lock, situation.host)
        users = [one.name for one in roots if name in reached([Requirement(one.name)], requires)]
        if users:
            return PackageRefusedError(
                f"{name} is installed because {' and '.join(users)} needs it; uninstall that instead."
            )
        return PackageRefusedError(f"{name} is no longer in the plugins file; synchronise to remove it.")
    if name in situation.host:
        return PackageRefusedError(
            f"{name} is part of the host's own environment; it is not managed here and cannot be uninstalled here."
        )
    return PackageRefusedError(f"{name} is not a managed package: it is neither installed nor in the plugins file.")


def edits(situation: Situation, name: str | None) -> list[str]:
    """Return a sentence on what people changed in the plugins file since the generation in force."""
    generation = situation.generation
    if generation is None or generation.requirements == situation.file.text:
        return []
    before = PluginsFile(generation.requirements, situation.file.folder).lines
    old = {line.name: _meaning(line) for line in before if line.name}
    new = {line.name: _meaning(line) for line in situation.file.lines if line.name}
    parts = [
        f"{word} {', '.join(sorted(found))}"
        for word, found in (
            ("added", new.keys() - old.keys()),
            ("removed", old.keys() - new.keys()),
            ("changed", {one for one in old.keys() & new.keys() if old[one] != new[one]}),
        )
        if found - {name}
    ]
    what = "; ".join(parts) or "its comments or options"
    return [f"The plugins file was edited since generation {generation.number} ({what}); the edits are kept."]


def _meaning(line: Line) -> tuple[str, ...]:
    requirement = line.requirement
    if requirement is None:
        return ()
    extras = ",".join(sorted(requirement.extras))
    return (extras, str(requirement.specifier), requirement.url or "", str(requirement.marker), str(line.hashes))
