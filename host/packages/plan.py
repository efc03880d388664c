"""A plan: what a change would add, change, remove and keep."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from packaging.utils import canonicalize_name

from host.packages.lockfile import Lock, LockedPackage
from host.packages.resolve import Resolved
from host.packages.sources import file_name


@dataclass(frozen=True, slots=True)
class Target:
    """One package of the generation that a plan leads to: one that is kept, or one that is to be fetched."""

    kept: LockedPackage | None = None
    fetched: Resolved | None = None

    @property
    def name(self) -> str:
        """Canonical name."""
        return _one(self).name

    @property
    def version(self) -> str:
        """Version."""
        return _one(self).version


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedPackage:
    """One package in a plan, as it is shown."""

    name: str
    version: str
    previous: str | None = None
    """Version that is installed now."""
    requested: bool = False
    """It stands in the plugins file."""
    source: str = ""
    url: str = ""
    """Where it comes from, without credentials."""
    filename: str = ""
    sha256: str = ""
    """Empty where it becomes known only by building."""
    size: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a change of the installed packages would do."""

    kind: str
    """``install``, ``uninstall`` or ``sync``."""
    name: str | None = None
    """Canonical name of the package that was named."""
    requirement: str = ""
    """The line that the plugins file will have for it."""
    add: tuple[PlannedPackage, ...] = ()
    change: tuple[PlannedPackage, ...] = ()
    remove: tuple[PlannedPackage, ...] = ()
    keep: tuple[PlannedPackage, ...] = ()
    warnings: tuple[str, ...] = ()

    targets: tuple[Target, ...] = ()
    """All packages of the generation that the plan leads to."""
    text: str = ""
    """Text of the plugins file afterwards."""
    based_on: str = ""
    """Hash of the plugins file that was read; empty when there was none."""
    requested: frozenset[str] = frozenset()
    """Canonical names in the plugins file."""
    must_hold_plugin: frozenset[str] = frozenset()
    """Canonical names of packages that are refused if they hold no plugin."""
    hashes: Mapping[str, tuple[tuple[str, str], ...]] | None = None
    """Canonical name → the hashes that the plugins file allows."""

    @property
    def changes_packages(self) -> bool:
        """Whether any package is added, changed or removed."""
        return bool(self.add or self.change or self.remove)

    def as_json(self) -> dict[str, Any]:
        """Return the plan for an answer."""
        lists = {name: [asdict(one) for one in getattr(self, name)] for name in ("add", "change", "remove", "keep")}
        return {
            "kind": self.kind,
            "name": self.name,
            "requirement": self.requirement,
            "changes": self.changes_packages,
            **lists,
            "warnings": list(self.warnings),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """What lies between a lock and the packages that replace it."""

    add: tuple[PlannedPackage, ...]
    change: tuple[PlannedPackage, ...]
    remove: tuple[PlannedPackage, ...]
    keep: tuple[PlannedPackage, ...]

    @property
    def lists(self) -> dict[str, tuple[PlannedPackage, ...]]:
        """The four lists, by their names in a plan."""
        return {"add": self.add, "change": self.change, "remove": self.remove, "keep": self.keep}


def difference(lock: Lock, targets: Iterable[Target], requested: frozenset[str]) -> Difference:
    """Compare a lock with what is to replace it."""
    add, change, keep = [], [], []
    names = set()
    for target in sorted(targets, key=lambda one: one.name):
        names.add(target.name)
        locked = lock.by_name.get(target.name)
        shown = _shown(target, locked, requested=target.name in requested)
        if locked is None:
            add.append(shown)
        elif target.kept is None or target.kept.sha256 != locked.sha256:
            change.append(shown)
        else:
            keep.append(shown)
    remove = [_shown(Target(kept=one), one, requested=one.requested) for one in lock if one.name not in names]
    return Difference(add=tuple(add), change=tuple(change), remove=tuple(remove), keep=tuple(keep))


def _one(target: Target) -> LockedPackage | Resolved:
    one = target.kept or target.fetched
    if one is None:
        msg = "A target is kept or fetched."
        raise ValueError(msg)
    return one


def _shown(target: Target, locked: LockedPackage | None, *, requested: bool) -> PlannedPackage:
    previous = locked.version if locked else None
    if target.kept:
        kept = target.kept
        return PlannedPackage(
            name=canonicalize_name(kept.name), version=kept.version, previous=previous, requested=requested,
            source="kept", url=kept.source, filename=kept.filename, sha256=kept.sha256, size=kept.size,
        )  # fmt: skip
    new = target.fetched
    assert new is not None  # noqa: S101 - see _one
    is_wheel = new.url.endswith(".whl")
    return PlannedPackage(
        name=new.name, version=new.version, previous=previous, requested=requested, source=new.source.value,
        url=new.url, filename=file_name(new.url) if is_wheel else "", sha256=new.sha256 if is_wheel else "",
    )  # fmt: skip
