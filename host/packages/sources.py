"""Where a package can come from, told by the address that names it."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit
from urllib.request import url2pathname

from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename
from packaging.version import Version

VCS_SCHEMES = ("git+https://", "git+ssh://", "git+file://", "hg+https://", "svn+https://", "svn+svn://")
_VCS_PREFIXES = ("git+", "hg+", "svn+", "bzr+")
_ARCHIVES = (".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".tar", ".zip")


class Source(StrEnum):
    """Kinds of origin."""

    INDEX = "index"
    """A package index, or a folder of links, searched by name."""
    WHEEL = "wheel"
    """One wheel, named by its address."""
    SDIST = "sdist"
    """An archive of sources; using it runs its build."""
    VCS = "vcs"
    """A repository under version control; using it runs its build."""
    FOLDER = "folder"
    """A project in a local folder; using it runs its build."""


def is_vcs(text: str) -> bool:
    """Tell whether an address leads to version control."""
    return text.lower().startswith(_VCS_PREFIXES)


def is_address(text: str) -> bool:
    """Tell whether a text is an address or a path, rather than the name of a package."""
    lowered = text.lower()
    return (
        is_vcs(text)
        or text in {".", ".."}
        or lowered.startswith(("http://", "https://", "file:", "./", "../", "/", "~", "ftp://"))
        or (lowered.endswith((".whl", *_ARCHIVES)) and " " not in lowered and "@" not in lowered)
    )


def source_of(url: str) -> Source:
    """Tell what an address or a path leads to."""
    if is_vcs(url):
        return Source.VCS
    path = local_path(url)
    if path is not None and path.is_dir():
        return Source.FOLDER
    return Source.WHEEL if file_name(url).lower().endswith(".whl") else Source.SDIST


def file_name(url: str) -> str:
    """Return the last part of an address's path."""
    return PurePosixPath(unquote(urlsplit(url).path)).name


def local_path(url: str) -> Path | None:
    """Return the path that a ``file:`` address names, and None for any other address."""
    parts = urlsplit(url)
    if parts.scheme.lower() != "file" or parts.netloc not in {"", "localhost"}:
        return None
    return Path(url2pathname(parts.path))


def as_url(text: str, base: Path) -> str:
    """Make a path an absolute ``file:`` address; addresses stay as they are."""
    if is_vcs(text) or "://" in text:
        return text
    if text.lower().startswith("file:"):
        text = url2pathname(text[5:])
    return (base / Path(text).expanduser()).absolute().as_uri()


def wheel_identity(filename: str) -> tuple[str, Version] | None:
    """Read canonical name and version from the file name of a wheel; None when it is no such name."""
    try:
        name, version, _build, _tags = parse_wheel_filename(filename)
    except InvalidWheelFilename:
        return None
    return name, version


def named_in_fragment(url: str) -> str | None:
    """Return the canonical name that an address carries as ``#egg=name``."""
    for part in urlsplit(url).fragment.split("&"):
        key, _, value = part.partition("=")
        if key == "egg" and value:
            return canonicalize_name(value.partition("[")[0])
    return None


def problem_with_vcs(url: str) -> str | None:
    """Return why an address of version control cannot be used at all, else None."""
    if url.lower().startswith(VCS_SCHEMES):
        return None
    return f"'{url.partition('://')[0]}' is not supported; use one of {', '.join(VCS_SCHEMES)}."
