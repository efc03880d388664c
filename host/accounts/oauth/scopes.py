"""Scopes: what an account can allow a client to do in its name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

READ: Final = "read"
WRITE: Final = "write"
PLUGINS: Final = "plugins"
STAFF: Final = "staff"

SCOPES: Final[Mapping[str, str]] = MappingProxyType(
    {
        READ: "See what you can see.",
        WRITE: "Create, change and delete what you can, other than plugins.",
        PLUGINS: "Install, change and remove plugins, where you can.",
        STAFF: "Use your rights as a member of the staff or superuser. Without this it acts as a plain user.",
    }
)
"""Every scope, with what it allows in the words of the page that asks for consent."""


def in_order(names: Iterable[str]) -> list[str]:
    """Return those of the names that are scopes, each once, in the order in which they are listed everywhere."""
    wanted = frozenset(names)
    return [name for name in SCOPES if name in wanted]
