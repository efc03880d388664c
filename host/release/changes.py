"""What changed from one version of the interface to the next."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path
from typing import Final

_FILE: Final = Path(__file__).with_name("interface_changes.toml")


@dataclass(frozen=True, slots=True, kw_only=True)
class InterfaceChange:
    """What one version of the interface brought."""

    api: int
    date: date | None
    """Day of its release; ``None`` until then."""
    text: tuple[str, ...]


@cache
def interface_changes() -> Sequence[InterfaceChange]:
    """Return the changes of every version of the interface, newest first."""
    versions = tomllib.loads(_FILE.read_text("utf-8"))["version"]
    found = [InterfaceChange(api=one["api"], date=one.get("date"), text=tuple(one["text"])) for one in versions]
    return sorted(found, key=lambda change: -change.api)
