"""What the packages area is given, and what it hands back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from host.packages.generations import OnSwitch
from host.packages.policy import Policy

Inspect = Callable[[Sequence[Path], str], Sequence[str]]
"""Look at the plugins of a distribution, given all folders of a generation and its name; return what is wrong."""


def _nothing(*_: object) -> None:
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class PackageOptions:
    """How packages are handled, in plain values."""

    home: Path
    """The store is ``<home>/store``, kept wheels are in ``<home>/files/wheels``, temporary files in ``<home>/tmp``."""
    plugins_file: Path
    policy: Policy = field(default_factory=Policy)
    index_url: str = ""
    """Empty leaves the choice to pip's own configuration."""
    find_links: Sequence[str] = ()
    pip_seconds: float = 300.0
    """How long one run of pip may take."""
    wait_seconds: float = 30.0
    """How long an operation waits for its turn."""
    lease_seconds: float = 15.0
    """How long a lock outlives a machine that is gone."""
    keep_generations: int = 10
    host: str = "plugyard"
    """Name of the host's own distribution."""
    environment: Mapping[str, str] | None = None
    """Variables that pip runs with, instead of this process's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PackageCallbacks:
    """What the layers above do when packages change."""

    inspect: Inspect
    """Called before a switch for each new or changed distribution with plugins: ``(folders, name) -> problems``."""
    on_switch: OnSwitch
    """Called within the transaction of a switch: ``(session, number)``."""
    after_switch: Callable[[int], None] = _nothing
    """Called once that transaction is committed, with the number."""
    report: Callable[[str, str, str], None] = _nothing
    """Record an error: ``(path, info, data)``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What an operation did."""

    result: str
    """One sentence for people."""
    output: str
    """What pip printed, without credentials."""
    name: str
    """Canonical name of the package; empty when none was named."""
    version: str
    generation: int
    changed: bool
    """Packages were added, changed or removed."""
    operation: str
    warnings: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return the outcome for an answer or a record."""
        return asdict(self) | {"warnings": list(self.warnings)}
