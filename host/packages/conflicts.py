"""Why pip found no answer, in one sentence."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from host.packages.environment import HostDistribution
from host.packages.failures import PackageRefusedError
from host.packages.lockfile import Lock
from host.packages.pip_process import PipRun
from host.packages.reach import needed_by

_DEPENDS = re.compile(r"^\s+(?P<who>\S+) (?P<version>\S+)(?: \(from .*?\))? depends on (?P<requirement>.+?)\s*$")
_USER = re.compile(r"^\s+The user requested (?!\(constraint\) )(?P<requirement>.+?)\s*$")
_NO_VERSION = re.compile(
    r"Could not find a (?:final )?version that satisfies the requirement (?P<what>.+?)"
    r"(?: \(from (?P<parent>(?!versions:)[^()]+)\))? \(from versions: (?P<versions>[^)]*)\)"
)
_OTHER_PYTHON = re.compile(r"Ignored the following versions that require a different python version: (?P<versions>.+)")
_PYTHON = re.compile(r"Package '(?P<name>[^']+)' requires a different Python: (?P<have>\S+) not in '(?P<need>[^']+)'")
_SOURCES_SKIPPED = re.compile(r"Skipping link: No sources permitted for (?P<name>[^:\s]+):")
_NO_INDEX_REACHED = re.compile(
    r"Could not fetch URL (?P<url>\S+): (?P<reason>.+?) - skipping|Failed to connect to (?P<host>\S+)"
    r"|error: (?P<kind>connection-[a-z-]+|network-[a-z-]+)|Max retries exceeded with url"
)
_HTTP_REFUSAL = re.compile(r"(?P<status>[45]\d\d) (?:Client|Server) Error: (?P<reason>.+?) for url: (?P<url>\S+)")
_NOISE = re.compile(
    r"^\s*$|^(?:Looking in |Processing |Collecting |Requirement already satisfied|Would install|\[notice\]|INFO: "
    r"|To fix this |1\. loosen |2\. remove "
    r"|ERROR: ResolutionImpossible"
    r"|\s+(?:Downloading|Using cached|Obtaining|Preparing|Getting|Installing build|Running command) )"
)
_KEPT_LINES = 40
_FILE = "the plugins file"


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What the resolve was held to."""

    host: Mapping[str, HostDistribution]
    host_label: str
    lock: Lock
    """What is installed and was held."""
    builds: bool
    limit: float
    named: str = ""
    """The package that was named, which messages begin with."""


def explain(run: PipRun, debug: str, setting: Setting) -> PackageRefusedError:
    """Turn a failed run of pip into a refusal: one sentence, then pip's own lines."""
    sentence = (
        _timed_out(run, setting)
        or _conflict(run, setting)
        or _python(run)
        or _hashes(run)
        or _unreachable(run, debug)
        or _no_version(run, debug, setting)
        or _broken(run)
        or "pip could not find a set of packages to install."
    )
    return PackageRefusedError(sentence, relevant(run.lines), output=run.output)


def relevant(lines: Iterable[str]) -> list[str]:
    """Return the lines of pip's output that bear on a failure."""
    return [line for line in lines if not _NOISE.match(line)][-_KEPT_LINES:]


def _timed_out(run: PipRun, setting: Setting) -> str | None:
    return f"pip did not finish within {setting.limit:g} seconds and was stopped." if run.timed_out else None


def _conflict(run: PipRun, setting: Setting) -> str | None:
    needs = sorted(_needs(run.lines), key=lambda need: canonicalize_name(need[0].split()[0]) != setting.named)
    for who, requirement in needs:
        sentence = _against_host(who, requirement, setting) or _against_lock(who, requirement, setting)
        if sentence:
            return sentence
    for index, (who, requirement) in enumerate(needs):
        for other, second in needs[index + 1 :]:
            if canonicalize_name(second.name) != canonicalize_name(requirement.name):
                continue
            if other == who == _FILE and requirement.specifier != second.specifier:
                return f"{_FILE} asks for {_text(requirement)} and for {_text(second)}; keep one of the lines."
            if other != who:
                return f"{who} {_verb(who)} {_text(requirement)}, but {other} {_verb(other)} {_text(second)}."
    return None


def _against_host(who: str, requirement: Requirement, setting: Setting) -> str | None:
    installed = setting.host.get(canonicalize_name(requirement.name))
    if installed is None or requirement.specifier.contains(installed.version, prereleases=True):
        return None
    return (
        f"{who} {_verb(who)} {_text(requirement)}, but {setting.host_label} runs {installed.name} {installed.version}."
    )


def _against_lock(who: str, requirement: Requirement, setting: Setting) -> str | None:
    name = canonicalize_name(requirement.name)
    locked = setting.lock.by_name.get(name)
    if locked is None or requirement.specifier.contains(locked.version, prereleases=True):
        return None
    text = f"{who} {_verb(who)} {_text(requirement)}, but "
    for other, version, second in needed_by(name, setting.lock):
        if (requirement.specifier & second.specifier).is_unsatisfiable():
            return f"{text}{other} {version} requires {_text(second)} ({name} {locked.version} is installed)."
    holders = " and ".join(sorted(f"{other} {version}" for other, version, _ in needed_by(name, setting.lock)))
    wanted_by = f"for {holders} " if holders else ""
    return (
        f"{text}{name} {locked.version} is installed {wanted_by}and installing one package moves no other; "
        "put the requirement into the plugins file and synchronise to let it move."
    )


def _needs(lines: Iterable[str]) -> Iterator[tuple[str, Requirement]]:
    for line in lines:
        match = _DEPENDS.match(line)
        who = f"{match['who']} {match['version']}" if match else _FILE
        match = match or _USER.match(line)
        if match is None:
            continue
        try:
            yield who, Requirement(match["requirement"])
        except InvalidRequirement:
            continue


def _verb(who: str) -> str:
    return "asks for" if who == _FILE else "requires"


def _text(requirement: Requirement) -> str:
    return f"{canonicalize_name(requirement.name)}{requirement.specifier}"


def _python(run: PipRun) -> str | None:
    match = _PYTHON.search(run.output)
    return f"{match['name']} needs Python {match['need']}, and this is Python {match['have']}." if match else None


def _hashes(run: PipRun) -> str | None:
    if "DO NOT MATCH THE HASHES" not in run.output and "Hash mismatch" not in run.output:
        return None
    return (
        "A downloaded file does not have the hash it must have; it was damaged on the way, or replaced at its source."
    )


def _unreachable(run: PipRun, debug: str) -> str | None:
    text = f"{run.output}\n{debug}"
    if match := _HTTP_REFUSAL.search(text):
        if match["status"] == "404":
            return None
        return f"The package index answered {match['status']} {match['reason']} for {match['url']}."
    if _NO_INDEX_REACHED.search(text):
        return "The package index cannot be reached; check the network, the proxy and the index's address."
    return None


def _no_version(run: PipRun, debug: str, setting: Setting) -> str | None:
    match = _NO_VERSION.search(run.output)
    if match is None:
        return None
    what, versions = match["what"], match["versions"]
    by = f" (required by {match['parent']})" if match["parent"] else ""
    try:
        name: str = canonicalize_name(Requirement(what).name)
    except InvalidRequirement:
        name = what
    if other := _OTHER_PYTHON.search(run.output):
        needed = sorted(set(re.findall(r"Requires-Python ([^;]+)", other["versions"])))
        return (
            f"No version of {what}{by} runs on this Python; they need {' or '.join(text.strip() for text in needed)}."
        )
    if not setting.builds and any(
        canonicalize_name(found["name"]) == name for found in _SOURCES_SKIPPED.finditer(debug)
    ):
        return f"{what}{by} has no wheel that fits this machine, and building from source is switched off here."
    if versions in {"", "none"}:
        return f"No package named {name}{by} was found; check the name, or give the index that has it."
    return f"There is no version {what}{by}; the index has {versions}."


_BROKEN = (
    (re.compile(r"Wheel '(?P<name>[^']+)' located at \S+ is invalid"), "The wheel of {name} is no readable archive."),
    (re.compile(r"ERROR: (?P<name>.+ has an invalid wheel.+)"), "The wheel is broken: {name}."),
    (re.compile(r"ERROR: (?P<name>\S+ is not a supported wheel on this platform)"), "{name}."),
    (
        re.compile(r"(?P<name>[Bb]uilding from source is switched off)"),
        "A package would have to be built from source, which is switched off here; install a wheel.",
    ),
    (re.compile(r"(?P<name>No space left on device)"), "The disk is full; make room and try again."),
    (re.compile(r"ERROR: Failed to build '(?P<name>[^']+)'"), "{name} could not be fetched or built; pip says why."),
    (re.compile(r"ERROR: (?P<name>Could not install packages due to .+)"), "{name}."),
)


def _broken(run: PipRun) -> str | None:
    for pattern, sentence in _BROKEN:
        if match := pattern.search(run.output):
            return sentence.format(name=match["name"].rstrip("."))
    return None
