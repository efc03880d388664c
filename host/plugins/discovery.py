"""Find the distributions that declare plugins, on the host's path and in the package store; nothing is imported."""

from __future__ import annotations

import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import orjson

from host.plugins.manifest import Distribution, EntryPoint, Failure, Origin
from host.plugins.metadata import describe, name_of
from host.storage.atomic import write_atomically

_LOG = logging.getLogger("plugyard.plugins.discovery")

_FORMAT = 1
# A folder changed so shortly before it was read may change again without its time moving on.
_SETTLED_NS = 1_000_000_000
_WATCHED = ("entry_points.txt", "RECORD", "PKG-INFO")

_Stamp = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Found:
    """What discovery found: distributions in the order of the path, and what is wrong with others."""

    distributions: tuple[Distribution, ...] = ()
    failures: tuple[Failure, ...] = ()


@dataclass(frozen=True, slots=True)
class _Described:
    distribution: Distribution | None
    failures: tuple[Failure, ...]
    stamps: tuple[tuple[str, _Stamp | None], ...]


@dataclass(frozen=True, slots=True)
class _Folder:
    """What is known of one folder on the path, as long as its time of change is the same."""

    origin: Origin
    changed: int
    settled: bool
    names: frozenset[str]
    described: tuple[_Described, ...]


def host_path() -> list[Path]:
    """Return the folders on ``sys.path`` in which distributions of the host's own environment may lie."""
    library = os.path.dirname(os.__file__)  # noqa: PTH120  # compared as text
    folders = dict.fromkeys(os.path.realpath(entry) for entry in sys.path if os.path.isdir(entry))  # noqa: PTH112
    skipped = {library, os.path.join(library, "lib-dynload")}  # noqa: PTH118
    return [Path(folder) for folder in folders if folder not in skipped]


class Discovery:
    """Finds distributions that declare the entry-point group ``plugyard``.

    Args:
        store_folders: gives the folders of the current package generation, in their order.
        cache: where what was read is kept for the next start; ``None`` keeps nothing.
        environment: the folders of the host's own environment; ``None`` takes them from ``sys.path`` as it is now,
            before any store folder has joined it.

    """

    def __init__(
        self,
        *,
        store_folders: Callable[[], Sequence[Path]],
        cache: Path | None = None,
        environment: Sequence[Path] | None = None,
    ) -> None:
        self.environment: tuple[Path, ...] = tuple(host_path() if environment is None else environment)
        self._store_folders = store_folders
        self._cache = cache
        self._folders: dict[str, _Folder] | None = None
        self._lock = threading.Lock()

    def store_folders(self) -> tuple[Path, ...]:
        """Return the folders of the current package generation."""
        return tuple(self._store_folders())

    def find(self, *, fresh: bool = False) -> Found:
        """Look for distributions; where two have the same name the first on the path counts.

        ``fresh`` reads everything again, the sources of editable installs included, instead of only what changed.
        """
        with self._lock:
            before = {} if fresh else self._remembered()
            after = {
                folder: _look(folder, origin, before.get(folder))
                for folder, origin in [
                    *((str(folder), Origin.ENVIRONMENT) for folder in self.environment),
                    *((str(folder), Origin.STORE) for folder in self._store_folders()),
                ]
            }
            self._folders = after
            if len(before) != len(after) or any(after[name] is not before.get(name) for name in after):
                self._remember(after)
        return _first_of_each(after.values())

    def _remembered(self) -> dict[str, _Folder]:
        if self._folders is not None:
            return self._folders
        if self._cache is None:
            return {}
        try:
            kept = orjson.loads(self._cache.read_bytes())
            if kept["format"] != _FORMAT:
                return {}
            return {name: _folder_from(value) for name, value in kept["folders"].items()}
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, KeyError, TypeError, AttributeError, IndexError):
            _LOG.warning("The cache %s cannot be read and is made anew.", self._cache)
            return {}

    def _remember(self, folders: dict[str, _Folder]) -> None:
        if self._cache is None:
            return
        kept = {"format": _FORMAT, "folders": {name: asdict(folder) for name, folder in folders.items()}}
        try:
            self._cache.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(self._cache, orjson.dumps(kept, default=_plain))
        except OSError as error:
            _LOG.warning("The cache %s cannot be written: %s", self._cache, error)


def _look(folder: str, origin: Origin, known: _Folder | None) -> _Folder:
    try:
        changed = os.stat(folder).st_mtime_ns  # noqa: PTH116  # on the path that must be fast
    except OSError:
        changed = -1
    if known is None or not known.settled or known.changed != changed or known.origin is not origin:
        return _read_folder(folder, origin, changed)
    if all(_stamp(path) == stamp for item in known.described for path, stamp in item.stamps):
        return known
    return _read_folder(folder, origin, changed)


def _stamp(path: str) -> _Stamp | None:
    try:
        status = os.stat(path)  # noqa: PTH116  # on the path that must be fast
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


def _read_folder(folder: str, origin: Origin, changed: int) -> _Folder:
    try:
        listed = sorted(name for name in os.listdir(folder) if name.endswith((".dist-info", ".egg-info")))  # noqa: PTH208
    except OSError:
        listed = []
    names: set[str] = set()
    described = []
    for entry in listed:
        name = name_of(entry)
        # pip leaves folders that begin with "~" where it was interrupted.
        if name in names or entry.startswith("~"):
            continue
        names.add(name)
        entry_points = os.path.join(folder, entry, "entry_points.txt")  # noqa: PTH118  # a thousand times
        if _stamp(entry_points) is None:
            continue
        item = _describe(Path(folder, entry), origin)
        if item is not None:
            described.append(item)
    settled = time.time_ns() - changed > _SETTLED_NS
    return _Folder(origin, changed, settled, frozenset(names), tuple(described))


def _describe(info: Path, origin: Origin) -> _Described | None:
    # The stamps are taken first, so that a change made meanwhile is seen next time.
    stamps = tuple((path, _stamp(path)) for path in (str(info / name) for name in _WATCHED))
    found = describe(info, origin)
    if found.distribution is None and not found.failures:
        return None
    stamps = tuple(item for item in stamps if item[1] is not None)
    return _Described(found.distribution, found.failures, stamps)


def _first_of_each(folders: Sequence[_Folder] | Any) -> Found:
    seen: set[str] = set()
    distributions: list[Distribution] = []
    failures: list[Failure] = []
    for folder in folders:
        for item in folder.described:
            distribution = item.distribution
            if distribution is not None and name_of(distribution.info) in seen:
                continue
            failures += item.failures
            if distribution is not None:
                distributions.append(distribution)
        seen |= folder.names
    return Found(tuple(distributions), tuple(failures))


def _plain(value: Any) -> Any:
    if isinstance(value, frozenset):
        return sorted(value)
    if isinstance(value, Path):
        return str(value)
    raise TypeError(f"{type(value).__name__} has no place in the cache")


def _folder_from(value: dict[str, Any]) -> _Folder:
    return _Folder(
        origin=Origin(value["origin"]),
        changed=value["changed"],
        settled=value["settled"],
        names=frozenset(value["names"]),
        described=tuple(
            _Described(
                distribution=None if item["distribution"] is None else _distribution_from(item["distribution"]),
                failures=tuple(Failure(**failure) for failure in item["failures"]),
                stamps=tuple((path, (stamp[0], stamp[1])) for path, stamp in item["stamps"]),
            )
            for item in value["described"]
        ),
    )


def _distribution_from(value: dict[str, Any]) -> Distribution:
    return Distribution(
        **{
            **value,
            "origin": Origin(value["origin"]),
            "path": Path(value["path"]),
            "info": Path(value["info"]),
            "source": None if value["source"] is None else Path(value["source"]),
            "entry_points": tuple(EntryPoint(**item) for item in value["entry_points"]),
        }
    )
