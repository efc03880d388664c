"""Licences: of everything that is installed, and of what the host sends to browsers."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from email.message import Message
from email.parser import HeaderParser
from pathlib import Path
from typing import Final

from packaging.utils import canonicalize_name

from host.plugins.current import Registries
from host.plugins.registry import LoadedPlugin, Registry

_MOST_METADATA: Final = 262_144
_MOST_TEXT: Final = 100_000
_MOST_TEXTS: Final = 200_000
_MOST_FILES: Final = 50
_SHORT: Final = 200
_UNKNOWN: Final = "Unknown"
_LICENCE_FILE: Final = re.compile(r"(?i)(?:.*\.)?(?:un)?(?:licen[cs]e|copying|notice)(?:[._-].*)?")
# Where builders have put licence files, the newest way first.
_PLACES: Final = ("licenses", "license_files", ".")


@dataclass(frozen=True, slots=True)
class Licence:
    """Under which terms one part stands."""

    name: str
    version: str
    license: str
    licensetext: str


@dataclass(frozen=True, slots=True)
class Licences:
    """Those of all parts, by name."""

    backend: Sequence[Licence]
    """Every installed distribution: the host's environment, and the packages of the generation in force."""
    frontend: Sequence[Licence]
    """What browsers get: the host's own pages and files, those of active plugins, and what these bring along."""


class LicenceReader:
    """Reads the licences of what is installed, once for each registry.

    Args:
        registries: gives the plugins that there are at present.
        folders: gives the folders in which distributions lie, in the order of the path.
        host: name of the host's own distribution.

    """

    def __init__(self, registries: Registries, folders: Callable[[], Iterable[Path]], *, host: str) -> None:
        self._registries = registries
        self._folders = folders
        self._host = canonicalize_name(host)
        self._lock = threading.Lock()
        self._known: tuple[Registry, Licences] | None = None

    def read(self) -> Licences:
        """Return the licences of all parts. What cannot be read is left out, and never fails."""
        registry = self._registries.current
        with self._lock:
            if self._known is None or self._known[0] is not registry:
                installed = _installed(self._folders())
                served = {licence.name: licence for licence in self._served(registry, installed)}
                self._known = (registry, Licences(_sorted(installed.values()), _sorted(served.values())))
            return self._known[1]

    def _served(self, registry: Registry, installed: Mapping[str, Licence]) -> Iterator[Licence]:
        names = [self._host, *(_distribution_of(plugin) for plugin in _with_files(registry))]
        yield from (installed[name] for name in names if name in installed)
        for plugin in _with_files(registry):
            yield from _brought_along(plugin)


def _with_files(registry: Registry) -> list[LoadedPlugin]:
    return [plugin for plugin in registry.plugins.values() if plugin.static_folder is not None]


def _distribution_of(plugin: LoadedPlugin) -> str:
    return canonicalize_name(plugin.manifest.identity.distribution)


def _brought_along(plugin: LoadedPlugin) -> Iterator[Licence]:
    """Find the licence of foreign files that a plugin serves: it lies in their folder, or beside it."""
    folder = plugin.static_folder
    if folder is None:
        return
    identity = plugin.manifest.identity
    places = [folder] if plugin.manifest.is_package else [folder, folder.parent]
    found = [(path.name, path) for place in places for path in _licence_files(place)]
    if text := _texts(found):
        first = next((line.strip() for line in text.splitlines() if line.strip()), _UNKNOWN)
        # The plugin's version is not that of what it brings along.
        yield Licence(identity.title or identity.key, "", first[:_SHORT], text)


def _installed(folders: Iterable[Path]) -> dict[str, Licence]:
    """Read every distribution in some folders; where two have the same name the first one counts."""
    found: dict[str, Licence] = {}
    for folder in folders:
        for info in _infos(folder):
            licence = _read(info)
            if licence is not None:
                found.setdefault(canonicalize_name(licence.name), licence)
    return found


def _infos(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            return sorted(Path(entry.path) for entry in entries if entry.name.endswith((".dist-info", ".egg-info")))
    except OSError:
        return []


def _read(info: Path) -> Licence | None:
    places = (info / "METADATA", info / "PKG-INFO", info)
    text = next((text for text in (_text(place, _MOST_METADATA) for place in places) if text), "")
    headers = HeaderParser().parsestr(text)
    name = _line(headers.get("Name"))
    if not name:
        return None
    return Licence(name, _line(headers.get("Version")), _terms(headers), _own_texts(info, headers))


def _terms(headers: Message) -> str:
    if expression := _line(headers.get("License-Expression")):
        return expression
    # Some put the whole text there.
    told = str(headers.get("License") or "").strip()
    if told and "\n" not in told and len(told) <= _SHORT and told.upper() != "UNKNOWN":
        return told
    classifiers = [_line(value) for value in headers.get_all("Classifier", [])]
    names = [text.rpartition("::")[2].strip() for text in classifiers if text.startswith("License ::")]
    return "; ".join(names)[:_SHORT] or _UNKNOWN


def _own_texts(info: Path, headers: Message) -> str:
    named = [_line(value) for value in headers.get_all("License-File", [])][:_MOST_FILES]
    text = _texts([(name, path) for name in named if (path := _placed(info, name)) is not None])
    if not text and info.is_dir():
        text = _texts([(path.name, path) for place in (info / "licenses", info) for path in _licence_files(place)])
    told = str(headers.get("License") or "").strip()
    return text or (told[:_MOST_TEXT] if "\n" in told else "")


def _placed(info: Path, name: str) -> Path | None:
    for place in _PLACES:
        path = info / place / name
        # The metadata are a package's own words: they may not lead to any other file.
        try:
            if path.is_file() and path.resolve().is_relative_to(info.resolve()):
                return path
        except (OSError, ValueError, RuntimeError):
            return None
    return None


def _licence_files(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            names = sorted(
                entry.name
                for entry in entries
                if _LICENCE_FILE.fullmatch(entry.name) and entry.is_file(follow_symlinks=False)
            )
    except (OSError, ValueError):
        return []
    return [folder / name for name in names[:_MOST_FILES] if not name.endswith(".py")]


def _texts(files: Sequence[tuple[str, Path]]) -> str:
    """Return some files as one text, each below its name where there are several."""
    texts = [(name, _text(path, _MOST_TEXT)) for name, path in files]
    parts = [f"{name}\n\n{text}" if len(files) > 1 else text for name, text in texts if text]
    whole = "\n\n".join(parts)
    return whole if len(whole) <= _MOST_TEXTS else f"{whole[:_MOST_TEXTS]}…"


def _text(path: Path, most: int) -> str:
    """Return the beginning of a file in any encoding; nothing where it cannot be read."""
    try:
        if not path.is_file():
            return ""
        with path.open("rb") as file:
            content = file.read(most + 1)
    except (OSError, ValueError):
        return ""
    more = "…" if len(content) > most else ""
    try:
        text = content[:most].decode("utf-8-sig", "strict" if not more else "replace")
    except UnicodeDecodeError:
        text = content[:most].decode("cp1252", "replace")
    return text.replace("\r\n", "\n").replace("\0", "").strip() + more


def _line(value: object) -> str:
    return " ".join(str(value or "").split())[:_SHORT]


def _sorted(licences: Iterable[Licence]) -> list[Licence]:
    return sorted(licences, key=lambda one: (one.name.lower(), one.name))
