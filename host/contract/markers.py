"""Mark hook specifications and their implementations."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeAlias, TypeVar

import pluggy

PROJECT = "plugyard"
ENTRY_POINT_GROUP = "plugyard"

T = TypeVar("T")
MaybeAwaitable: TypeAlias = T | Awaitable[T]
"""What a hook may return: a plain value from ``def``, or the same from ``async def``."""

hookimpl = pluggy.HookimplMarker(PROJECT)
"""Mark a function or method as the implementation of the hook of the same name."""

_mark_spec = pluggy.HookspecMarker(PROJECT)
_INFO_ATTRIBUTE = "plugyard_hook"

_Function = TypeVar("_Function", bound=Callable[..., Any])


class Asked(Enum):
    """Who is asked when the host calls a hook."""

    ONCE = "once, when the plugin is loaded; the answer is kept until it is loaded again"
    NAMED = "the plugin that the caller named, and no other"
    FIRST = "plugins in registry order until one answers"
    ALL = "every plugin, in registry order"


@dataclass(frozen=True, slots=True)
class HookInfo:
    """What the host knows of a hook beyond its signature."""

    since: str
    asked: Asked
    returns: type | None
    """The class of the answer, or of its items where ``many`` is set; ``None`` for hooks that answer nothing."""
    many: bool
    optional: bool
    secret: bool = False
    """Its arguments hold what opens accounts, so that no report shows what a failing plugin says of them."""


def hookspec(
    *,
    asked: Asked,
    returns: type | None = None,
    many: bool = False,
    optional: bool = False,
    secret: bool = False,
    since: str = "0.1",
) -> Callable[[_Function], _Function]:
    """Declare a hook: who is asked, and what a right answer looks like."""

    def mark(function: _Function) -> _Function:
        setattr(function, _INFO_ATTRIBUTE, HookInfo(since, asked, returns, many, optional, secret))
        return _mark_spec(function)

    return mark


def hook_info(function: Callable[..., Any]) -> HookInfo | None:
    """Return what was declared of a hook, or ``None`` when the function is no hook specification."""
    info = getattr(function, _INFO_ATTRIBUTE, None)
    return info if isinstance(info, HookInfo) else None
