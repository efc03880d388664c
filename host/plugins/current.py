"""The registry in force, for the services that work with it."""

from __future__ import annotations

from typing import Protocol

from host.plugins.registry import Registry


class Registries(Protocol):
    """Gives the registry in force."""

    @property
    def current(self) -> Registry:
        """The registry in force; take it once per piece of work."""


class CurrentRegistry:
    """Gives the registry in force to services that are made before the registry is, as those that plugins get."""

    def __init__(self) -> None:
        self._source: Registries | None = None
        self._nothing = Registry()

    def follow(self, source: Registries) -> None:
        """Give what the source gives from now on."""
        self._source = source

    @property
    def current(self) -> Registry:
        """The registry in force; an empty one of generation 0 until there is a source."""
        return self._nothing if self._source is None else self._source.current
