"""The file of plugin packages: what people write, kept as they wrote it."""

from __future__ import annotations

import io
import re
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from host.errors import InvalidInputError
from host.packages.sources import (
    Source,
    as_url,
    file_name,
    is_address,
    is_vcs,
    local_path,
    named_in_fragment,
    problem_with_vcs,
    source_of,
    wheel_identity,
)

_COMMENT = re.compile(r"(^|\s+)#.*$")
_HASH = re.compile(r"\s--hash[= ](?P<algorithm>sha256|sha384|sha512):(?P<digest>[0-9a-fA-F]+)")
_FLAGS = frozenset({"--no-index", "--pre", "--prefer-binary"})
_OPTIONS = frozenset({
    "-i", "--index-url", "--extra-index-url", "-f", "--find-links", "-c", "--constraint", "--trusted-host",
    "--only-binary", "--no-binary",
})  # fmt: skip
_PATHS = frozenset({"-f", "--find-links", "-c", "--constraint"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One logical line: a requirement, an option of pip, or neither."""

    number: int
    raw: str
    """As it stands in the file, with its line ending and with the lines that continue it."""
    requirement: Requirement | None = None
    name: str | None = None
    """Canonical name of the package."""
    hashes: tuple[tuple[str, str], ...] = ()
    """Algorithm and digest; one of them must be that of the wheel."""
    option: tuple[str, str] | None = None
    problem: str | None = None

    @property
    def url(self) -> str | None:
        """The address that the requirement names, if it names one."""
        return self.requirement.url if self.requirement else None


@dataclass(frozen=True, slots=True)
class PluginsFile:
    """The text of the file, and what it says."""

    text: str = ""
    folder: Path = field(default_factory=Path)
    """Paths in the file are relative to this one."""

    @property
    def digest(self) -> str:
        """Hash of the text; two files with the same hash say the same."""
        return digest_of(self.text)

    @property
    def lines(self) -> tuple[Line, ...]:
        """Every logical line, in order."""
        return tuple(_lines(self.text, self.folder))

    def requirements(self, refuse: Callable[[str], str | None] | None = None) -> tuple[Line, ...]:
        """Return the lines that name packages.

        ``refuse`` says why an address may not be used, or None.

        Raises:
            InvalidInputError: lines cannot be understood or are not allowed; each is named by its number.

        """
        problems: list[str] = []
        found: list[Line] = []
        for line in self.lines:
            problem = line.problem or (refuse(line.url) if refuse and line.url else None)
            if problem:
                problems.append(f"Line {line.number} of the plugins file: {problem}")
            elif line.requirement is not None:
                found.append(line)
        if problems:
            raise InvalidInputError.of(*problems)
        return tuple(found)

    def options(self) -> tuple[tuple[str, str], ...]:
        """Return pip's options in the file, each with its value or an empty text."""
        return tuple(line.option for line in self.lines if line.option is not None and line.problem is None)

    def with_requirement(self, name: str, text: str) -> PluginsFile:
        """Return the file with one line for a package: its present line is replaced, further ones are dropped."""
        parts: list[str] = []
        placed = False
        for line in self.lines:
            if line.name != canonicalize_name(name):
                parts.append(line.raw)
            elif not placed:
                parts.append(text + _tail(line.raw))
                placed = True
        if not placed:
            ending = self._ending
            if parts and not parts[-1].endswith(("\n", "\r")):
                parts[-1] += ending
            parts.append(text + ending)
        return PluginsFile("".join(parts), self.folder)

    def without(self, name: str) -> PluginsFile:
        """Return the file without the lines of a package."""
        kept = [line.raw for line in self.lines if line.name != canonicalize_name(name)]
        return PluginsFile("".join(kept), self.folder)

    @property
    def _ending(self) -> str:
        return "\r\n" if self.text.count("\r\n") * 2 > self.text.count("\n") else "\n"


def digest_of(text: str) -> str:
    """Return the hash of a text."""
    return sha256(text.encode()).hexdigest()


def _lines(text: str, folder: Path) -> Iterator[Line]:
    raw = content = ""
    number = 0
    for index, physical in enumerate(io.StringIO(text, newline=""), start=1):
        number = number if raw else index
        raw += physical
        bare = physical.rstrip("\r\n")
        if index == 1:
            bare = bare.removeprefix("\ufeff")
        if bare.endswith("\\") and not _COMMENT.match(bare):
            content += bare.rstrip("\\")
            continue
        yield _parse(number, raw, content + bare, folder)
        raw = content = ""
    if raw:
        yield _parse(number, raw, content, folder)


def _parse(number: int, raw: str, content: str, folder: Path) -> Line:
    text = _COMMENT.sub("", content).strip()
    if not text:
        return Line(number=number, raw=raw)
    if text.startswith("-"):
        return _option(number, raw, text, folder)
    hashes = tuple((match["algorithm"], match["digest"].lower()) for match in _HASH.finditer(text))
    text = _HASH.sub("", text).strip()
    if " --" in text:
        return Line(number=number, raw=raw, problem=f"the option in '{text}' is not supported; only --hash is.")
    try:
        requirement = _requirement(text, folder)
    except (InvalidRequirement, ValueError) as error:
        return Line(number=number, raw=raw, problem=_first_line(error))
    return Line(
        number=number, raw=raw, requirement=requirement, name=canonicalize_name(requirement.name), hashes=hashes
    )


def _requirement(text: str, folder: Path) -> Requirement:
    if not is_address(text):
        requirement = Requirement(text)
        if requirement.url and is_vcs(requirement.url):
            _check(problem_with_vcs(requirement.url))
        elif requirement.url:
            requirement.url = as_url(requirement.url, folder)
        return requirement
    if is_vcs(text):
        _check(problem_with_vcs(text))
        name = named_in_fragment(text)
        if name is None:
            msg = f"'{text}' does not say which package it is; write 'name @ {text}'."
            raise ValueError(msg)
        return Requirement(f"{name} @ {text}")
    url = as_url(text, folder)
    identity = wheel_identity(file_name(url)) if source_of(url) is Source.WHEEL else None
    if identity is None:
        msg = f"'{text}' does not say which package it is; write 'name @ {url}'."
        raise ValueError(msg)
    return Requirement(f"{identity[0]} @ {url}")


def _option(number: int, raw: str, text: str, folder: Path) -> Line:
    try:
        words = shlex.split(text)
    except ValueError as error:
        return Line(number=number, raw=raw, problem=f"'{text}' cannot be read: {error}.")
    name, equals, value = words[0].partition("=")
    if not equals and len(words) == 2:  # noqa: PLR2004 - an option and its value
        value = words[1]
    too_many = len(words) > (1 if equals or name in _FLAGS else 2)
    if name in _FLAGS and not value:
        return Line(number=number, raw=raw, option=(name, ""))
    if name not in _OPTIONS or too_many or not value:
        known = ", ".join(sorted(_FLAGS | _OPTIONS))
        return Line(number=number, raw=raw, problem=f"'{text}' is no option that may stand here; known are {known}.")
    if name in _PATHS and "://" not in value:
        value = str((folder / value).absolute())
    elif name in _PATHS and (path := local_path(value)) is not None:
        value = str(path)
    return Line(number=number, raw=raw, option=(name, value))


def _check(problem: str | None) -> None:
    if problem:
        raise ValueError(problem)


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0]


def _tail(raw: str) -> str:
    """Return comment and line ending of a line."""
    bare = raw.rstrip("\r\n")
    comment = _COMMENT.search(bare.rsplit("\n", 1)[-1])
    return (comment.group() if comment else "") + raw[len(bare) :]
