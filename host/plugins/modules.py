"""Store folders on ``sys.path``, and dropping modules so that they are imported afresh."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from types import ModuleType

from host.plugins.manifest import Distribution, Origin
from host.plugins.metadata import recorded

_EXTENSIONS = (".so", ".pyd", ".dylib")


class StorePath:
    """The store folders that this process has put on ``sys.path``, after the host's own."""

    def __init__(self) -> None:
        self.folders: tuple[str, ...] = ()

    def switch(self, folders: Sequence[Path]) -> None:
        """Put these folders at the end of ``sys.path``, in place of those that were put there before."""
        wanted = tuple(os.path.realpath(folder) for folder in folders)
        if wanted == self.folders:
            return
        former = set(self.folders)
        # One assignment: a thread that imports meanwhile sees the old path or the new one.
        sys.path[:] = [*(entry for entry in sys.path if entry not in former), *wanted]
        self.folders = wanted
        importlib.invalidate_caches()


def drop(distributions: Iterable[Distribution], folders: Iterable[str]) -> frozenset[str]:
    """Drop the modules of third-party plugin distributions, and of all that lies in store folders.

    Compiled modules cannot be loaded twice: folders and distributions of which one is loaded stay as they are.

    Args:
        distributions: those that hold plugins.
        folders: the store folders, one distribution each, old and new.

    Returns:
        Names of the modules that were dropped.

    """
    groups: list[_Folder | _Files] = [_Folder(folder) for folder in dict.fromkeys(folders)]
    groups += [
        _Folder(str(one.source)) if one.source is not None else _Files(one)
        for one in distributions
        if one.origin is Origin.ENVIRONMENT
    ]
    loaded = [(name, place) for name, module in list(sys.modules.items()) for place in _places(module)[:1]]
    dropped: set[str] = set()
    for group in groups:
        members = [(name, place) for name, place in loaded if group.holds(place)]
        if not any(place.endswith(_EXTENSIONS) for _, place in members):
            dropped.update(name for name, _ in members)
    dropped -= _shared_namespaces(dropped)
    for name in dropped:
        sys.modules.pop(name, None)
    importlib.invalidate_caches()
    return frozenset(dropped)


def _shared_namespaces(names: Collection[str]) -> set[str]:
    # What stays could not be reached through a new parent.
    staying = [name for name in list(sys.modules) if name not in names]
    namespaces = [name for name in names if getattr(sys.modules.get(name), "__file__", None) is None]
    return {name for name in namespaces if any(other.startswith(f"{name}.") for other in staying)}


def has_loaded_extension(distribution: Distribution) -> bool:
    """Tell whether a compiled module of the distribution has been imported into this process."""
    if not distribution.has_extensions:
        return False
    if distribution.origin is Origin.STORE:
        return has_extension_from(distribution.path)
    if distribution.source is not None:
        return has_extension_from(distribution.source)
    return _is_extension_loaded(_Files(distribution))


def has_extension_from(folder: Path) -> bool:
    """Tell whether a compiled module below the folder has been imported into this process."""
    return _is_extension_loaded(_Folder(str(folder)))


def _is_extension_loaded(group: _Folder | _Files) -> bool:
    places = [place for module in list(sys.modules.values()) for place in _places(module)[:1]]
    return any(place.endswith(_EXTENSIONS) and group.holds(place) for place in places)


class _Folder:
    """Everything below a folder."""

    def __init__(self, folder: str) -> None:
        self._prefix = os.path.join(os.path.realpath(folder), "")  # noqa: PTH118  # compared as text

    def holds(self, place: str) -> bool:
        inside = place.startswith(self._prefix)
        # A virtual environment may lie within a checkout.
        return inside and f"{os.sep}site-packages{os.sep}" not in place[len(self._prefix) - 1 :]


class _Files:
    """The files that a distribution has put into a folder it shares with others."""

    def __init__(self, distribution: Distribution) -> None:
        try:
            record = (distribution.info / "RECORD").read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            record = ""
        root = os.path.realpath(distribution.path)
        listed = recorded(record)
        self._files = {os.path.normpath(os.path.join(root, path)) for path in listed}  # noqa: PTH118
        # Also what a former version had in its packages.
        tops = {path.partition("/")[0] for path in listed if path.count("/") == 1 and path.endswith("/__init__.py")}
        self._folders = tuple(os.path.join(root, top, "") for top in tops)  # noqa: PTH118

    def holds(self, place: str) -> bool:
        return place in self._files or place.startswith(self._folders)


def _places(module: ModuleType | None) -> list[str]:
    file = getattr(module, "__file__", None)
    if isinstance(file, str):
        return [os.path.realpath(file)]
    # A package without __init__.py has folders only, perhaps of several distributions.
    try:
        return [os.path.join(os.path.realpath(str(path)), "") for path in getattr(module, "__path__", ())]  # noqa: PTH118
    except (TypeError, KeyError):
        return []
