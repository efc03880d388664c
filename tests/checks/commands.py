"""Which commands the command line has."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import typer
from typer.main import get_command


def commands_of(app: typer.Typer) -> Iterator[tuple[str, ...]]:
    """Iterate over the words of every command, groups left out: ``("plugin", "install")``."""
    yield from _leaves(get_command(app), ())


def _leaves(command: Any, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    below = getattr(command, "commands", None)
    if below is None:
        yield path
        return
    for name, one in below.items():
        yield from _leaves(one, (*path, name))
