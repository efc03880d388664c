"""From an entry point to the object that carries the hooks, and what to say when that fails."""

from __future__ import annotations

import importlib
import inspect
import traceback
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from types import ModuleType

DOING: Mapping[str, str] = {
    "import": "while being imported",
    "validate": "while its hooks were being checked",
    "init": "while being set up",
    "start": "in its start hook",
}
"""Stage → what was going on, to end a sentence with."""

_LONGEST = 2000


def resolve(entry_point: str) -> object:
    """Import what an entry point names: a class, an instance or a module."""
    name, _, path = entry_point.partition(":")
    found: object = importlib.import_module(name)
    for part in filter(None, path.split(".")):
        try:
            found = getattr(found, part)
        except AttributeError:
            raise ImportError(f"module {name} has no '{path}', which the entry point names") from None
    return found


def instantiate(found: object) -> object:
    """Make the plugin from what the entry point names; an instance or a module is the plugin itself."""
    return found() if inspect.isclass(found) else found


def name_of_object(entry_point: str, found: object = None) -> str:
    """Return the name of the class or module; without an object, what the entry point lets expect."""
    if isinstance(found, ModuleType):
        return found.__name__.rpartition(".")[2]
    if found is not None:
        return found.__name__ if inspect.isclass(found) else type(found).__name__
    module, _, path = entry_point.partition(":")
    return (path or module).rpartition(".")[2]


def texts_of(plugin: object) -> dict[str, str]:
    """Return the attributes that win over the distribution's metadata, where the plugin sets them."""
    texts = {}
    for name in ("title", "description", "website", "published"):
        value = getattr(plugin, name, None)
        if isinstance(value, date):
            value = value.isoformat()
        if isinstance(value, str) and value.strip():
            texts[name] = value.strip()
    return texts


def explain(error: BaseException, stage: str) -> str:
    """Say in one sentence what happened, and where in the plugin's code."""
    if isinstance(error, SystemExit):
        return f"called sys.exit({error.code!r}) {DOING.get(stage, '')}".strip()
    if isinstance(error, MemoryError):
        return f"ran out of memory {DOING.get(stage, '')}".strip()
    if isinstance(error, SyntaxError):
        return f"{type(error).__name__}: {error.msg} ({Path(error.filename or '?').name}, line {error.lineno})"
    try:
        text = str(error)
    except Exception:  # noqa: BLE001  # __str__ belongs to the plugin
        text = "(its message cannot be shown)"
    said = f"{type(error).__name__}: {text}"[:_LONGEST].removesuffix(": ")
    return said + _place(error)


def _place(error: BaseException) -> str:
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not frame.filename.startswith("<")]
    frames = [frame for frame in frames if Path(frame.filename).parent != Path(__file__).parent]
    frames = [frame for frame in frames if not frame.filename.startswith(importlib.__path__[0])]
    if not frames:
        return ""
    return f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})"
