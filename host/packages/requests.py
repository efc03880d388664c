"""What a caller asks to install, and what that means."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from host.errors import InvalidInputError
from host.packages.masking import has_credentials, mask
from host.packages.policy import Policy
from host.packages.sources import (
    Source,
    as_url,
    file_name,
    is_address,
    is_vcs,
    local_path,
    named_in_fragment,
    source_of,
    wheel_identity,
)

_HTML = re.compile(r"<\s*/?\s*[a-zA-Z!][^>]*>")
_FORBIDDEN = frozenset(";&|`$()")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_ADDRESS = re.compile(r"[^\s@]*://\S*")
_LONGEST = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class InstallRequest:
    """What to install, in the words of the interface."""

    packagename: str = ""
    """A name, with extras and versions if wanted; a wheel's path or address; or ``name @ address``."""
    url: str = ""
    """With a package name, the index to look in; or an address of version control."""
    version: str = ""
    """Empty means the newest that fits."""
    wheel: Path | None = None
    """An uploaded wheel, under its own file name."""

    def as_json(self) -> dict[str, str]:
        """Return the request for the record of the operation, without credentials."""
        members = {"packagename": mask(self.packagename), "url": mask(self.url), "version": self.version}
        return members | ({"wheel": self.wheel.name} if self.wheel else {})


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A request that was understood."""

    requirement: str
    """What pip is asked for."""
    name: str | None
    """Canonical name of the package; None when only its build can tell."""
    line: str | None
    """What the plugins file will say; None until the name is known."""
    source: Source
    version: SpecifierSet = field(default_factory=SpecifierSet)
    """What the version must be, for sources that cannot be asked for one."""
    index_url: str = ""
    warnings: tuple[str, ...] = ()

    def line_for(self, name: str) -> str:
        """Return the line of the plugins file, once the package's name is known."""
        return self.line or f"{canonicalize_name(name)} @ {self.requirement}"


def read_request(request: InstallRequest, policy: Policy, folder: Path) -> Wanted:
    """Find out what a request means; paths are relative to ``folder``.

    Raises:
        InvalidInputError: the request is refused; messages stand under the member they belong to.

    """
    policy.check_enabled()
    packagename, url, version = (text.strip() for text in (request.packagename, request.url, request.version))
    if not packagename and not url and request.wheel is None:
        message = "Name a package, or give the URL of a repository."
        raise InvalidInputError({"packagename": [message], "url": [message]})
    _check_characters({"packagename": packagename, "url": url, "version": version})
    specifier = _read_version(version)
    if request.wheel is not None:
        return _uploaded(request.wheel, packagename, specifier)
    if any(character.isspace() for character in url):
        message = "A URL holds no blanks; in a form, '+' must be sent as '%2B'."
        raise InvalidInputError({"url": [message]})
    if is_vcs(url):
        _check_policy(policy, url, "url")
        return _from_vcs(packagename, url, specifier)
    index_url, ignored = _read_url(packagename, url)
    if url.lower().startswith(("http://", "https://")) and file_name(url).endswith(".whl") and not ignored:
        packagename, index_url = f"{_plain_name(packagename)} @ {url}", ""
    warnings = [f"The URL '{mask(url)}' was ignored: it is neither an index nor a repository."] if ignored else []
    if has_credentials(index_url):
        warnings.append("The index URL holds credentials; put them into pip's own configuration instead.")
    return _from_name(packagename, specifier, index_url, warnings, policy, folder)


def _check_characters(members: dict[str, str]) -> None:
    html = {name: ["HTML tags are not allowed here."] for name, text in members.items() if _HTML.search(text)}
    if html:
        raise InvalidInputError(html)
    for text in members.values():
        found = sorted(set(text) & _FORBIDDEN)
        if found:
            raise InvalidInputError.of(f"A package reference may not contain {' '.join(found)}")
        if _CONTROL.search(text):
            raise InvalidInputError.of("A package reference may not contain line breaks or control characters.")
    options = {name: ["This may not begin with '-'."] for name, text in members.items() if text.startswith("-")}
    if options:
        raise InvalidInputError(options)
    faults = {name: [fault] for name, text in members.items() if (fault := _fault(text))}
    if faults:
        raise InvalidInputError(faults)


def _fault(text: str) -> str:
    """Return what nobody downstream could read, neither this package nor pip; empty when there is nothing."""
    if len(text) > _LONGEST:
        return f"This is too long; at most {_LONGEST} characters are accepted."
    for address in _ADDRESS.findall(text):
        try:
            parts = urlsplit(address)
            _ = parts.port
        except ValueError as error:
            return f"This holds no valid address: {error}."
        if parts.scheme.lower() == "file" and parts.netloc.lower() not in {"", "localhost"}:
            return "A file:// address cannot name another machine."
    return ""


def _read_version(text: str) -> SpecifierSet:
    if not text:
        return SpecifierSet()
    try:
        return SpecifierSet(f"=={Version(text)}")
    except InvalidVersion:
        pass
    try:
        return SpecifierSet(text if text[0] in "<>=!~" else f"=={text}")
    except InvalidSpecifier:
        raise InvalidInputError({"version": [f"'{text}' is no version, such as 1.4.2 or >=1.4,<2."]}) from None


def _read_url(packagename: str, url: str) -> tuple[str, bool]:
    is_web = url.lower().startswith(("http://", "https://"))
    if url and not packagename:
        raise InvalidInputError.of(
            f"'{mask(url)}' is no address of version control such as git+https://…; "
            "give packagename as well to install from an index; to install a wheel, give its address as packagename."
        )
    return (url if is_web else ""), bool(url) and not is_web


def _check_policy(policy: Policy, url: str, member: str) -> None:
    refusal = policy.refusal(url)
    if refusal:
        raise InvalidInputError({member: [refusal]})


def _requirement(text: str) -> Requirement:
    try:
        return Requirement(text)
    except InvalidRequirement as error:
        reason = str(error).splitlines()[0]
        raise InvalidInputError({"packagename": [f"'{mask(text)}' is no package requirement: {reason}."]}) from None


def _plain_name(text: str) -> str:
    """Return name and extras of a requirement, canonical and without its versions."""
    requirement = _requirement(text)
    extras = f"[{','.join(sorted(requirement.extras))}]" if requirement.extras else ""
    return canonicalize_name(requirement.name) + extras


def _credentials(url: str) -> tuple[str, ...]:
    if not has_credentials(url):
        return ()
    return (
        "The address holds credentials, which the plugins file then holds as well; pip reads them from a .netrc too.",
    )


def _from_vcs(packagename: str, url: str, specifier: SpecifierSet) -> Wanted:
    plain = _plain_name(packagename) if packagename else named_in_fragment(url)
    if plain is None:
        return Wanted(
            requirement=url, name=None, line=None, source=Source.VCS, version=specifier, warnings=_credentials(url)
        )
    text = f"{plain} @ {url}"
    return Wanted(
        requirement=text,
        name=_requirement(text).name,
        line=text,
        source=Source.VCS,
        version=specifier,
        warnings=_credentials(url),
    )


def _from_name(
    packagename: str, specifier: SpecifierSet, index_url: str, warnings: Iterable[str], policy: Policy, folder: Path
) -> Wanted:
    if is_address(packagename):
        return _from_address(None, packagename, specifier, policy, folder)
    requirement = _requirement(packagename)
    if requirement.url:
        return _from_address(packagename.partition("@")[0].strip(), requirement.url, specifier, policy, folder)
    name = _plain_name(packagename)
    both = _combined(requirement.specifier, specifier)
    text = f"{name}{both}"
    return Wanted(
        requirement=text,
        name=canonicalize_name(requirement.name),
        line=text,
        source=Source.INDEX,
        index_url=index_url,
        warnings=tuple(warnings),
    )


def _combined(named: SpecifierSet, asked: SpecifierSet) -> SpecifierSet:
    exact = [one for one in asked if one.operator == "==" and not one.version.endswith(".*")]
    if exact and len(named) > 0:
        if not named.contains(exact[0].version, prereleases=True):
            message = f"Version {exact[0].version} contradicts '{named}' in packagename."
            raise InvalidInputError({"version": [message]})
        return asked
    return named & asked


def _from_address(plain: str | None, address: str, specifier: SpecifierSet, policy: Policy, folder: Path) -> Wanted:
    url = as_url(address, folder)
    _check_policy(policy, url, "packagename")
    if is_vcs(url):
        return _from_vcs(plain or "", url, specifier)
    path = local_path(url)
    if path is not None and not path.exists():
        raise InvalidInputError({"packagename": [f"There is no file {path}."]})
    source = source_of(url)
    if source is Source.WHEEL:
        return _from_wheel(plain, url, specifier)
    text = f"{_plain_name(plain)} @ {url}" if plain else url
    name = canonicalize_name(_requirement(text).name) if plain else None
    return Wanted(
        requirement=text,
        name=name,
        line=text if plain else None,
        source=source,
        version=specifier,
        warnings=_credentials(url),
    )


def _from_wheel(plain: str | None, url: str, specifier: SpecifierSet) -> Wanted:
    identity = _wheel_identity(file_name(url), plain)
    _check_version(identity, specifier)
    text = f"{_plain_name(plain) if plain else identity[0]} @ {url}"
    return Wanted(requirement=text, name=identity[0], line=text, source=Source.WHEEL, warnings=_credentials(url))


def _uploaded(wheel: Path, packagename: str, specifier: SpecifierSet) -> Wanted:
    identity = _wheel_identity(wheel.name, packagename or None)
    _check_version(identity, specifier)
    plain = _plain_name(packagename) if packagename else identity[0]
    return Wanted(
        requirement=f"{plain} @ {wheel.absolute().as_uri()}",
        name=identity[0],
        # The upload is kept under its hash; the file of the upload itself goes away.
        line=f"{plain}=={identity[1]}",
        source=Source.WHEEL,
    )


def _wheel_identity(filename: str, plain: str | None) -> tuple[str, Version]:
    identity = wheel_identity(filename)
    if identity is None:
        raise InvalidInputError(
            {"packagename": [f"'{filename}' is no file name of a wheel (name-1.0-py3-none-any.whl)."]}
        )
    if plain and canonicalize_name(_requirement(plain).name) != identity[0]:
        raise InvalidInputError({"packagename": [f"'{filename}' is a wheel of {identity[0]}, not of {plain}."]})
    return identity


def _check_version(identity: tuple[str, Version], specifier: SpecifierSet) -> None:
    if not specifier.contains(identity[1], prereleases=True):
        raise InvalidInputError({"version": [f"The wheel holds {identity[0]} {identity[1]}, not {specifier}."]})
