"""Looking into a wheel, and unpacking it into a folder of its own."""

from __future__ import annotations

import json
import posixpath
import stat
import warnings
import zipfile
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from configparser import ConfigParser
from configparser import Error as ConfigError
from contextlib import contextmanager
from dataclasses import dataclass
from email.parser import HeaderParser
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING, Any

import installer
from installer.destinations import SchemeDictionaryDestination
from installer.exceptions import InstallerError
from installer.records import RecordEntry
from installer.sources import WheelFile
from installer.utils import Scheme
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from host.packages.failures import PackageRefusedError

if TYPE_CHECKING:
    from installer.scripts import ScriptSection

_MOST_FILES = 100_000
_MOST_BYTES = 4 << 30
_INSTALLER = b"plugyard\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class WheelContent:
    """What a wheel says of itself."""

    name: str
    """Canonical name."""
    version: str
    requires: tuple[str, ...]
    entry_points: Mapping[str, tuple[str, ...]]
    """Group → names."""


class _BrokenWheelError(Exception):
    pass


# What the libraries raise when they read a damaged or hostile archive.
_BROKEN = (
    zipfile.BadZipFile, zipfile.LargeZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, InstallerError,
    InvalidVersion, ConfigError, AssertionError, KeyError, ValueError, FileExistsError, NotADirectoryError,
    _BrokenWheelError,
)  # fmt: skip


def inspect_wheel(path: Path) -> WheelContent:
    """Read a wheel's metadata and make sure that it can be unpacked safely.

    Raises:
        PackageRefusedError: the wheel is damaged, or would write outside its own folder.

    """
    with _opened(path) as source:
        metadata = HeaderParser().parsestr(source.read_dist_info("METADATA"))
        texts = source.dist_info_filenames
        points = source.read_dist_info("entry_points.txt") if "entry_points.txt" in texts else ""
        content = WheelContent(
            name=canonicalize_name(str(metadata["Name"])),
            version=str(Version(str(metadata["Version"]))),
            requires=tuple(str(value) for value in metadata.get_all("Requires-Dist", ())),
            entry_points=_entry_points(points),
        )
        if content.name != canonicalize_name(source.distribution):
            raise _BrokenWheelError(f"its metadata name {content.name}")
        source.validate_record(validate_contents=True)
        return content


def unpack_wheel(path: Path, folder: Path, *, direct_url: Mapping[str, Any], requested: bool) -> None:
    """Unpack a wheel into a folder, which will stand on ``sys.path``.

    Scripts, headers and data files stay inside as well, below the ``.data`` folder; launchers are not made.

    Raises:
        PackageRefusedError: the wheel is damaged, or would write outside its own folder.
        OSError: the folder cannot be written.

    """
    extra = {"INSTALLER": _INSTALLER}
    if requested:
        extra["REQUESTED"] = b""
    if direct_url:
        extra["direct_url.json"] = json.dumps(dict(direct_url), sort_keys=True).encode()
    with _opened(path) as source, warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # installer leaves __pycache__ out and says so
        installer.install(source, _OneFolder(folder, source.data_dir), extra)


class _OneFolder(SchemeDictionaryDestination):
    """Puts every part of a wheel below one folder."""

    def __init__(self, folder: Path, data: str) -> None:
        self._data = data
        schemes = {"purelib": str(folder), "platlib": str(folder)}
        schemes |= {name: str(folder / data / name) for name in ("scripts", "headers", "data")}
        super().__init__(schemes, interpreter="python", script_kind="posix")

    def write_script(self, name: str, module: str, attr: str, section: ScriptSection) -> RecordEntry:  # noqa: ARG002
        """Make no launcher: nobody would find it."""
        return RecordEntry("", None, None)

    def finalize_installation(
        self, scheme: Scheme, record_file_path: str, records: Iterable[tuple[Scheme, RecordEntry]]
    ) -> None:
        """Write RECORD, with every path relative to the folder."""
        inside = [
            RecordEntry(self._inside(one, entry.path), entry.hash_, entry.size) for one, entry in records if entry.path
        ]
        super().finalize_installation(scheme, record_file_path, [(scheme, entry) for entry in inside])

    def _inside(self, scheme: Scheme, path: str) -> str:
        return path if scheme in {"purelib", "platlib"} else posixpath.join(self._data, scheme, path)


@contextmanager
def _opened(path: Path) -> Iterator[WheelFile]:
    try:
        with zipfile.ZipFile(path) as archive:
            _check_names(archive.infolist())
            yield WheelFile(archive)
    except _BROKEN as error:
        raise PackageRefusedError(f"The wheel {path.name} is broken: {_reason(error)}.") from error


def _reason(error: Exception) -> str:
    issues = getattr(error, "issues", None)
    return str(issues[0] if issues else error).rstrip(".") or type(error).__name__


def _check_names(entries: Collection[zipfile.ZipInfo]) -> None:
    if len(entries) > _MOST_FILES or sum(entry.file_size for entry in entries) > _MOST_BYTES:
        raise _BrokenWheelError("it unpacks to more than a package can reasonably hold")
    seen: set[str] = set()
    for entry in entries:
        name = entry.filename
        windows = PureWindowsPath(name)
        is_outside = name.startswith("/") or windows.drive or windows.root or "\\" in name or "\x00" in name
        if is_outside or ".." in PurePosixPath(name).parts:
            raise _BrokenWheelError(f"the file {name!r} in it would be written outside its folder")
        if stat.S_ISLNK(entry.external_attr >> 16):
            raise _BrokenWheelError(f"the file {name!r} in it is a symbolic link")
        if name in seen:
            raise _BrokenWheelError(f"the file {name!r} is in it twice")
        seen.add(name)


def _entry_points(text: str) -> Mapping[str, tuple[str, ...]]:
    parser = ConfigParser(delimiters=("=",), interpolation=None, strict=False)
    parser.optionxform = str  # type: ignore[method-assign, assignment] # the way the standard library documents it
    parser.read_string(text)
    return {group: tuple(parser[group]) for group in parser.sections()}
