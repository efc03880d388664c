"""Which packages others need: walking requirements that are already installed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from host.packages.environment import HostDistribution
from host.packages.lockfile import Lock

Requires = Callable[[str], Iterable[str]]


def requirements_of(lock: Lock, host: Mapping[str, HostDistribution]) -> Requires:
    """Return a function from a canonical name to the requirements of the package of that name."""

    def requires(name: str) -> Iterable[str]:
        if name in host:
            return host[name].requires
        return lock.by_name[name].requires if name in lock.by_name else ()

    return requires


def parse(texts: Iterable[str]) -> Iterator[Requirement]:
    """Read requirements, leaving out those that no tool could read."""
    for text in texts:
        try:
            yield Requirement(text)
        except InvalidRequirement:
            continue


def applies(requirement: Requirement, extras: Iterable[str] = ()) -> bool:
    """Tell whether a requirement counts here, given the extras that its package was asked for with."""
    if requirement.marker is None:
        return True
    return any(requirement.marker.evaluate({"extra": extra}) for extra in ("", *extras))


def reached(roots: Iterable[Requirement], requires: Requires) -> set[str]:
    """Return the canonical names of everything that the roots need, themselves included."""
    seen: dict[str, set[str]] = {}
    waiting = [(canonicalize_name(root.name), set(root.extras)) for root in roots if applies(root)]
    while waiting:
        name, extras = waiting.pop()
        if name in seen and extras <= seen[name]:
            continue
        seen[name] = seen.get(name, set()) | extras
        waiting += [
            (canonicalize_name(requirement.name), set(requirement.extras))
            for requirement in parse(requires(name))
            if applies(requirement, seen[name])
        ]
    return set(seen)


def needed_by(name: str, lock: Lock) -> list[tuple[str, str, Requirement]]:
    """Return who in a lock requires a package: name, version and the requirement."""
    return [
        (package.name, package.version, requirement)
        for package in lock
        for requirement in parse(package.requires)
        if canonicalize_name(requirement.name) == name and applies(requirement)
    ]
