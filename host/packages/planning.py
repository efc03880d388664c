"""Making plans: which packages would be there after a change."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from packaging.requirements import Requirement

from host.packages.environment import HostEnvironment
from host.packages.failures import PackageRefusedError
from host.packages.generations import Generations
from host.packages.holding import Holding
from host.packages.lockfile import Lock
from host.packages.masking import has_credentials, mask
from host.packages.plan import Difference, Plan, Target, difference
from host.packages.plugins_file import Line, PluginsFile, digest_of
from host.packages.policy import Policy
from host.packages.reach import applies, reached, requirements_of
from host.packages.requests import Wanted
from host.packages.resolve import Question, Resolved
from host.packages.resolving import Resolver, Scene, Work
from host.packages.situation import Situation, edits, not_listed, refuse_host_package
from host.packages.sources import Source
from host.packages.text_files import read_text
from host.packages.wheels import Wheels


class Planner:
    """Makes plans; changes nothing."""

    def __init__(
        self, *, environment: HostEnvironment, generations: Generations, wheels: Wheels, resolver: Resolver,
        policy: Policy, plugins_file: Path,
    ) -> None:  # fmt: skip
        self._environment = environment
        self._generations = generations
        self._wheels = wheels
        self._resolver = resolver
        self._policy = policy
        self._path = plugins_file

    def situation(self) -> Situation:
        """Read what is there.

        Raises:
            UnavailableError: the plugins file or the lock cannot be read.

        """
        generation = self._generations.in_force()
        text = read_text(self._path)
        host = self._environment.distributions()
        # A file that is gone was lost with a container or a disk; nobody removes all plugins by deleting it.
        known = text if text is not None else (generation.requirements if generation else "")
        return Situation(
            host=host,
            host_label=self._environment.label(host),
            generation=generation,
            file=PluginsFile(known, self._path.absolute().parent),
            based_on=digest_of(text) if text is not None else "",
        )

    def install(self, situation: Situation, wanted: Wanted, work: Work) -> Plan:
        """Plan to install or change one package.

        Raises:
            InvalidInputError: it is refused; the message says why.

        """
        lines = situation.file.requirements(self._policy.refusal)
        name = wanted.name or self._find_name(situation, wanted, work)
        refuse_host_package(name, situation)
        line = wanted.line_for(name)
        file = situation.file.with_requirement(name, line)
        others = [one for one in lines if one.name != name]
        asked = wanted.requirement if wanted.name else f"{name} @ {wanted.requirement}"
        scene = self._scene(situation, work)
        question = Question(
            requirements=[*scene.holding.requirements(others, set()), asked],
            options=situation.file.options(),
            index_url=wanted.index_url,
            named=name,
        )
        free = {name} | {one.name for one in others if one.name and not scene.holding.is_settled(one)}
        exact = wanted.version if wanted.source is not Source.INDEX else Requirement(asked).specifier
        items = self._resolver.resolve_named(scene, question, free, name, exact)
        self._check_named(name, items, wanted, situation)
        return self._plan("install", situation, file, items, name=name, requirement=line, warnings=wanted.warnings)

    def sync(self, situation: Situation, work: Work) -> Plan:
        """Plan to make the packages what the plugins file says.

        Raises:
            InvalidInputError: it is refused as a whole; the message says why.

        """
        lines = situation.file.requirements(self._policy.refusal)
        scene = self._scene(situation, work)
        free = {line.name for line in lines if line.name and not scene.holding.is_settled(line)}
        question = Question(requirements=scene.holding.requirements(lines, free), options=situation.file.options())
        items = self._resolver.resolve_all(scene, question, free) if lines else ()
        return self._plan("sync", situation, situation.file, items)

    def uninstall(self, situation: Situation, name: str) -> Plan:
        """Plan to remove one package and what only it needs; asks no index.

        Raises:
            InvalidInputError: the package is not managed here, or another one needs it.

        """
        lines = situation.file.requirements(self._policy.refusal)
        listed = any(line.name == name for line in lines)
        if not listed:
            raise not_listed(name, situation)
        file = situation.file.without(name)
        remaining = [line for line in lines if line.name != name]
        roots = [line.requirement for line in remaining if line.requirement]
        needed = reached(roots, requirements_of(situation.lock, situation.host))
        kept = tuple(Target(kept=package) for package in situation.lock if package.name in needed)
        warnings = [
            f"{line.name} stands in the plugins file and is not installed; synchronise to install it."
            for line in remaining
            if line.name not in situation.lock.by_name and line.name not in situation.host and _counts(line)
        ]
        if name in needed and name in situation.lock.by_name:
            warnings.append(f"{name} stays installed, for another package requires it.")
        return self._finish("uninstall", situation, file, kept, name=name, warnings=warnings)

    def _find_name(self, situation: Situation, wanted: Wanted, work: Work) -> str:
        scene = Scene(situation, Holding(situation.host, Lock(), self._wheels), work)
        question = Question(requirements=[wanted.requirement], options=situation.file.options(), dependencies=False)
        items = self._resolver.resolve(scene, question, set())
        found = [item.name for item in items if item.requested]
        if len(found) != 1:
            raise PackageRefusedError(f"{mask(wanted.requirement)} is already in the host's environment.")
        return found[0]

    def _check_named(self, name: str, items: tuple[Resolved, ...], wanted: Wanted, situation: Situation) -> None:
        found = next((item for item in items if item.name == name), None)
        if found is None:
            if name not in situation.host:
                raise PackageRefusedError(f"{name} is not needed here: a marker excludes it.")
            return
        if not wanted.version.contains(found.version, prereleases=True):
            raise PackageRefusedError(f"{mask(found.url)} holds {name} {found.version}, not {wanted.version}.")

    def _plan(
        self, kind: str, situation: Situation, file: PluginsFile, items: tuple[Resolved, ...], *,
        name: str | None = None, requirement: str = "", warnings: tuple[str, ...] = (),
    ) -> Plan:  # fmt: skip
        holding = Holding(situation.host, situation.lock, self._wheels)
        notes = list(warnings)
        for item in items:
            refusal = None if holding.is_locked(item) else self._refusal(item)
            if refusal:
                raise PackageRefusedError(f"{item.name} {item.version} cannot be used: {refusal}")
            if item.yanked:
                notes.append(f"{item.name} {item.version} was withdrawn by its author: {item.yanked}.")
        targets = tuple(holding.target(item) for item in items)
        return self._finish(kind, situation, file, targets, name=name, requirement=requirement, warnings=notes)

    def _refusal(self, item: Resolved) -> str | None:
        if item.source is Source.VCS:
            return None if self._policy.allow_vcs else "packages from version control are not allowed here."
        return self._policy.refusal(item.url)

    def _finish(
        self, kind: str, situation: Situation, file: PluginsFile, targets: tuple[Target, ...], *,
        name: str | None, warnings: Sequence[str], requirement: str = "",
    ) -> Plan:  # fmt: skip
        lines = file.requirements()
        requested = frozenset(line.name for line in lines if line.name)
        found = difference(situation.lock, targets, requested)
        locked = situation.lock.by_name
        listed_now = {one.name for one in found.keep if one.requested and not locked[one.name].requested}
        changed = {one.name for one in (*found.add, *found.change)}
        notes = [*warnings, *edits(situation, name), *_notes(found, lines, situation, name)]
        return Plan(
            kind=kind,
            name=name,
            requirement=mask(requirement),
            **found.lists,
            warnings=tuple(dict.fromkeys(notes)),
            targets=targets,
            text=file.text,
            based_on=situation.based_on,
            requested=requested,
            must_hold_plugin=frozenset(requested & (changed | listed_now)),
            hashes={line.name: line.hashes for line in lines if line.name and line.hashes},
        )

    def _scene(self, situation: Situation, work: Work) -> Scene:
        return Scene(situation, Holding(situation.host, situation.lock, self._wheels), work)


def _notes(found: Difference, lines: Sequence[Line], situation: Situation, name: str | None) -> list[str]:
    return [
        *(
            f"{one.name} moves from {one.previous} to {one.version}."
            for one in found.change
            if one.name != name and one.version != one.previous
        ),
        *(
            f"{line.name} is in the host's environment already and not managed here."
            for line in lines
            if line.name in situation.host
        ),
        *(f"Line {line.number} of the plugins file holds credentials." for line in lines if has_credentials(line.raw)),
    ]


def _counts(line: Line) -> bool:
    return line.requirement is not None and applies(line.requirement)
