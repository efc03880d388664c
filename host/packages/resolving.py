"""Resolving one change, holding everything else."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from packaging.specifiers import SpecifierSet
from packaging.version import Version

from host.packages.conflicts import Setting, explain
from host.packages.failures import PackageRefusedError
from host.packages.holding import Holding
from host.packages.lockfile import Lock
from host.packages.pip_process import OnLine, Pip
from host.packages.plugins_file import PluginsFile
from host.packages.reach import reached, requirements_of
from host.packages.resolve import Index, Question, Resolved, ResolveFailedError, resolve
from host.packages.situation import Situation
from host.packages.sources import Source, file_name, wheel_identity


@dataclass(frozen=True, slots=True)
class Work:
    """Where a plan's temporary files go, and who reads what pip prints."""

    folder: Path
    on_line: OnLine


@dataclass(frozen=True, slots=True)
class Scene:
    """One resolve: what is there, what is held of it, and where to work."""

    situation: Situation
    holding: Holding
    work: Work


class Resolver:
    """Asks pip on behalf of a plan."""

    def __init__(self, pip: Pip, index: Index, *, builds: bool) -> None:
        self._pip = pip
        self._index = index
        self._builds = builds

    def resolve(
        self, scene: Scene, question: Question, free: set[str], *, every_version: bool = False
    ) -> tuple[Resolved, ...]:
        """Resolve while everything is held that is not free.

        ``every_version`` offers kept wheels of earlier generations as well.

        Raises:
            PackageRefusedError: there is no answer, and why.

        """
        situation, holding, work = scene.situation, scene.holding, scene.work
        complete = replace(question, constraints=[*holding.constraints(free), *question.constraints])
        links = holding.links(free, work.folder / "links", every_version=every_version)
        try:
            items = resolve(
                self._pip,
                self._index,
                complete,
                folder=work.folder,
                links=links,
                on_line=work.on_line,
                builds=self._builds,
            )
        except ResolveFailedError as error:
            setting = Setting(
                host=situation.host,
                host_label=situation.host_label,
                lock=Lock.of(package for package in situation.lock if package.name not in free),
                builds=self._builds,
                named=question.named,
                limit=self._pip.limit,
            )
            raise explain(error.run, error.debug, setting) from None
        for item in items:
            _check_file_name(item)
        # What the host sees and pip does not (a folder on PYTHONPATH) is the host's all the same.
        return tuple(item for item in items if item.name not in situation.host)

    def resolve_named(
        self, scene: Scene, question: Question, free: set[str], name: str, exact: SpecifierSet
    ) -> tuple[Resolved, ...]:
        """Resolve a change of one package; what only it needs moves along, but only if it must.

        Raises:
            PackageRefusedError: there is no answer, and why.

        """
        owned = _owned(name, scene.situation)
        every_version = _is_exact(exact)
        items = self.resolve(scene, question, free | owned, every_version=every_version)
        new = next((item for item in items if item.name == name), None)
        moved = sorted(item.name for item in items if item.name in owned and not scene.holding.is_locked(item))
        if new is None or not moved:
            return items
        pins = [] if new.is_direct else [f"{name}=={new.version}"]
        try:
            return self.resolve(scene, replace(question, constraints=pins), free, every_version=every_version)
        except PackageRefusedError:
            scene.work.on_line(f"{', '.join(moved)} must move with {name} {new.version}.")
            return items

    def resolve_all(self, scene: Scene, question: Question, free: set[str]) -> tuple[Resolved, ...]:
        """Resolve all requirements; dependencies move if there is no answer otherwise.

        Raises:
            PackageRefusedError: there is no answer, and why.

        """
        dependencies = {package.name for package in scene.situation.lock if not package.requested}
        try:
            return self.resolve(scene, question, free)
        except PackageRefusedError as refusal:
            if dependencies <= free:
                raise
            scene.work.on_line("Dependencies may move, since the plugins file cannot be followed otherwise.")
            try:
                return self.resolve(scene, question, free | dependencies)
            except PackageRefusedError:
                raise refusal from None


def _check_file_name(item: Resolved) -> None:
    # The plugins file and the lock go by the file's name, everything else by what it holds.
    name = file_name(item.url)
    identity = wheel_identity(name) if item.source is Source.WHEEL else None
    if identity is not None and identity != (item.name, Version(item.version)):
        raise PackageRefusedError(
            f"{name} holds {item.name} {item.version}. A wheel must be named after what it holds.", output=name
        )


def _owned(name: str, situation: Situation) -> set[str]:
    """Return the packages that are installed only because the named one needs them."""
    lock = situation.lock
    if situation.generation is None or name not in lock.by_name:
        return set()
    lines = PluginsFile(situation.generation.requirements, situation.file.folder).lines
    others = [line.requirement for line in lines if line.requirement and line.name != name]
    needed = reached(others, requirements_of(lock, situation.host))
    return {package.name for package in lock if not package.requested and package.name not in needed} - {name}


def _is_exact(specifier: SpecifierSet) -> bool:
    return any(one.operator in {"==", "==="} and not one.version.endswith(".*") for one in specifier)
