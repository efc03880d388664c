"""Read what a distribution says of itself from its metadata folder; nothing is imported."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from email.message import Message
from email.parser import HeaderParser
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from urllib.parse import unquote, urlsplit

from packaging.utils import canonicalize_name

from host.contract.markers import ENTRY_POINT_GROUP
from host.plugins.manifest import Distribution, EntryPoint, Failure, Origin

HOST_DISTRIBUTION = "plugyard"

KEY_RULE = "a key is 1 to 255 lower case letters, digits, '-' and '_', and begins with a letter or digit"
_KEY = re.compile(r"[a-z0-9][a-z0-9_-]{0,254}")
_SECTION = re.compile(r"\[(?P<name>[^\]]*)\]")
_ENTRY = re.compile(r"(?P<module>[A-Za-z_][\w.]*)\s*(?::\s*(?P<attribute>[A-Za-z_][\w.]*)\s*)?(?:\[[^\]]*\]\s*)?")
_EXTENSIONS = (*{*EXTENSION_SUFFIXES, ".so", ".pyd", ".dylib"},)
_HOMEPAGE_LABELS = ("homepage", "home", "website", "documentation", "repository", "source", "sourcecode")
_SKIPPED_FOLDERS = frozenset({"__pycache__", "node_modules", "build", "dist", "tests"})
_HOST_PARTS = ("builtin_plugins", "sample_plugins")


class MetadataError(Exception):
    """A metadata folder cannot be understood; the text says why."""


@dataclass(frozen=True, slots=True)
class Described:
    """A distribution that declares plugins, or only what is wrong with it, or neither."""

    distribution: Distribution | None
    failures: tuple[Failure, ...] = ()


def name_of(info: Path | str) -> str:
    """Return the canonical name that a metadata folder's own name gives."""
    stem = os.path.basename(info)  # noqa: PTH119  # called a thousand times
    for suffix in (".dist-info", ".egg-info"):
        stem = stem.removesuffix(suffix)
    return canonicalize_name(stem.partition("-")[0])


def describe(info: Path, origin: Origin) -> Described:
    """Read one ``.dist-info`` or ``.egg-info`` folder.

    Nothing comes back for a distribution without plugins. What cannot be read or is not allowed comes back as failures.
    """
    try:
        lines = _plugin_lines(_read(info / "entry_points.txt"))
        if not lines:
            return Described(None)
        entry_points, failures = _entry_points(lines)
        if not entry_points:
            return Described(None, failures)
        return Described(_distribution(info, origin, entry_points), failures)
    except MetadataError as error:
        return Described(None, (Failure("discovery", name_of(info), str(error)),))


def _read(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except UnicodeDecodeError as error:
        raise MetadataError(f"{path.parent.name}/{path.name} is not UTF-8: {error.reason}. Reinstall it.") from None
    except OSError as error:
        raise MetadataError(f"{path.parent.name}/{path.name} cannot be read: {error.strerror}.") from None


def _plugin_lines(text: str) -> list[str]:
    lines: list[str] = []
    inside = False
    for line in map(str.strip, text.splitlines()):
        section = _SECTION.fullmatch(line)
        if section:
            inside = section["name"].strip() == ENTRY_POINT_GROUP
        elif inside and line and not line.startswith(("#", ";")):
            lines.append(line)
    return lines


def _entry_points(lines: list[str]) -> tuple[tuple[EntryPoint, ...], tuple[Failure, ...]]:
    found: dict[str, EntryPoint] = {}
    failures = []
    for line in lines:
        key, separator, value = (part.strip() for part in line.partition("="))
        entry = _ENTRY.fullmatch(value)
        if not _KEY.fullmatch(key):
            failures.append(Failure("discovery", key[:255], f"'{key}' is no plugin key: {KEY_RULE}."))
        elif not separator or entry is None:
            failures.append(Failure("discovery", key, f"'{value}' is no entry point: write 'module' or 'module:name'."))
        elif key in found:
            failures.append(Failure("discovery", key, f"The key '{key}' is declared twice; the first one counts."))
        else:
            attribute = entry["attribute"]
            found[key] = EntryPoint(key, f"{entry['module']}:{attribute}" if attribute else entry["module"])
    return tuple(found.values()), tuple(failures)


def _distribution(info: Path, origin: Origin, entry_points: tuple[EntryPoint, ...]) -> Distribution:
    is_egg = info.suffix == ".egg-info"
    headers = HeaderParser().parsestr(_read(info / ("PKG-INFO" if is_egg else "METADATA")))
    name, version = _header(headers, "Name"), _header(headers, "Version")
    if not name or not version:
        raise MetadataError(f"{info.name} names neither the distribution nor its version. Reinstall it.")
    if canonicalize_name(name) == HOST_DISTRIBUTION:
        origin = Origin.HOST
    record = _read(info / "RECORD")
    source = _source(info)
    return Distribution(
        name=name,
        version=version,
        origin=origin,
        path=info.parent,
        info=info,
        source=source,
        fingerprint=_fingerprint(info, record, source, origin),
        entry_points=entry_points,
        summary=_header(headers, "Summary"),
        author=_author(headers),
        website=_website(headers),
        license=_license(headers),
        editable=source is not None,
        has_extensions=any(path.endswith(_EXTENSIONS) for path in recorded(record))
        or (source is not None and origin is not Origin.HOST and any(_files(source, _EXTENSIONS))),
    )


def recorded(record: str) -> list[str]:
    """Return the paths that a RECORD lists."""
    # A path with a comma is quoted; no module can have such a name.
    return [line.partition(",")[0] for line in record.splitlines() if line]


def _source(info: Path) -> Path | None:
    text = _read(info / "direct_url.json")
    if not text:
        # `setup.py develop` leaves the metadata beside the code.
        return None
    try:
        told = json.loads(text)
        url = urlsplit(told["url"]) if told.get("dir_info", {}).get("editable") else None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise MetadataError(f"{info.name}/direct_url.json cannot be understood. Reinstall it.") from None
    return Path(unquote(url.path)) if url is not None and url.scheme == "file" else None


def _fingerprint(info: Path, record: str, source: Path | None, origin: Origin) -> str:
    digest = hashlib.sha256(record.encode())
    if not record:
        for name in ("PKG-INFO", "METADATA", "entry_points.txt", "SOURCES.txt", "installed-files.txt"):
            digest.update(_read(info / name).encode())
        digest.update(info.name.encode())
    if source is not None:
        # The host's own checkout holds much that has nothing to do with its plugins.
        roots = [source / part for part in _HOST_PARTS] if origin is Origin.HOST else [source]
        newest = max((entry.stat().st_mtime_ns for root in roots for entry in _files(root, (".py",))), default=0)
        digest.update(f"\n{newest}".encode())
        # RECORD of an editable install does not change with the entry points.
        digest.update(_read(info / "entry_points.txt").encode())
    return digest.hexdigest()


def _files(folder: Path, suffixes: tuple[str, ...]) -> Iterator[os.DirEntry[str]]:
    try:
        entries = list(os.scandir(folder))
    except OSError:
        return
    if any(entry.name == "pyvenv.cfg" for entry in entries):
        return
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            if entry.name not in _SKIPPED_FOLDERS and not entry.name.startswith("."):
                yield from _files(Path(entry.path), suffixes)
        elif entry.name.endswith(suffixes) and entry.is_file():
            yield entry


def _header(headers: Message, name: str) -> str:
    value = str(headers.get(name, "")).strip()
    return "" if value == "UNKNOWN" else " ".join(value.split())


def _author(headers: Message) -> str:
    name = _header(headers, "Author")
    if name:
        return name
    mailboxes = _header(headers, "Author-email").split(",")
    return ", ".join(filter(None, (mailbox.partition("<")[0].strip(' "') or mailbox.strip() for mailbox in mailboxes)))


def _website(headers: Message) -> str:
    if homepage := _header(headers, "Home-page"):
        return homepage
    urls: dict[str, str] = {}
    for line in headers.get_all("Project-URL", []):
        label, _, url = str(line).partition(",")
        urls.setdefault(re.sub(r"[^a-z]", "", label.lower()), url.strip())
    return next((urls[label] for label in _HOMEPAGE_LABELS if urls.get(label)), next(iter(urls.values()), ""))


def _license(headers: Message) -> str:
    if expression := _header(headers, "License-Expression"):
        return expression
    if lines := str(headers.get("License", "")).strip().splitlines():
        return lines[0].strip()
    classifiers = [str(value) for value in headers.get_all("Classifier", [])]
    return next((c.rpartition("::")[2].strip() for c in classifiers if c.startswith("License ::")), "")
