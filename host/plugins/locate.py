"""Locate: let a plugin show where a stock item or a stock location is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from host.contract.locate import LocateResult
from host.contract.values import Json, User
from host.errors import NotFoundError, RefusedError
from host.plugins.calls import Calls, PluginFailedError
from host.plugins.current import Registries
from host.plugins.registry import Registry

_HOOKS: Mapping[str, str] = {"item": "locate_item", "location": "locate_location"}
_BIGGEST = 2**63 - 1


@dataclass(frozen=True, slots=True)
class LocateOutcome:
    """What was done; ``kind`` is ``item`` or ``location`` and ``target`` the id as it was sent."""

    plugin: str
    kind: str
    target: Json
    message: str

    @property
    def body(self) -> dict[str, Json]:
        """The answer for the client."""
        return {"success": self.message, "plugin": self.plugin, self.kind: self.target}


class Locate:
    """Asks the plugin that the caller names."""

    def __init__(self, registries: Registries, calls: Calls) -> None:
        self._registries = registries
        self._calls = calls

    def locate(self, plugin: Json, item: Json, location: Json, user: User) -> LocateOutcome:
        """Let a plugin show where an item is, or a location where no item is given; 0 and nothing count as not given.

        Raises:
            RefusedError: the plugin is not named, unknown, inactive, cannot locate or failed, or there is nothing to
                locate.
            NotFoundError: the id is no number, or the plugin has no such item or location.

        """
        registry = self._registries.current
        key = _locator(registry, plugin)
        kind, target = ("item", item) if item else ("location", location)
        if not target:
            msg = f"Plugin '{key}': name an 'item' or a 'location' to locate."
            raise RefusedError(msg)
        number = _number(kind, target)
        for implementation in registry.hooks.get(_HOOKS[kind], ()):
            if implementation.plugin == key:
                try:
                    result = self._calls.ask_one(implementation, **{f"{kind}_id": number, "user": user})
                except PluginFailedError as error:
                    msg = f"Plugin '{key}' failed to locate {kind} {number}; an error report was written."
                    raise RefusedError(msg) from error
                return _outcome(key, kind, target, result)
        msg = f"Plugin '{key}' cannot locate a stock {kind}."
        raise RefusedError(msg)


def _locator(registry: Registry, plugin: Json) -> str:
    if plugin is None or plugin == "":
        msg = "Name the 'plugin' that shall locate."
        raise RefusedError(msg)
    if not isinstance(plugin, str) or plugin not in registry.plugins:
        msg = f"No active plugin has the key {plugin!r}. Install or activate it first."
        raise RefusedError(msg)
    if not any(one.plugin == plugin for hook in _HOOKS.values() for one in registry.hooks.get(hook, ())):
        msg = f"Plugin '{plugin}' cannot locate anything: it implements no locate hook."
        raise RefusedError(msg)
    return plugin


def _number(kind: str, target: Json) -> int:
    number = 0
    if isinstance(target, float) and target.is_integer():
        number = int(target)
    elif isinstance(target, int) and not isinstance(target, bool):
        number = target
    elif (
        isinstance(target, str)
        and target.strip().isascii()
        and target.strip().isdigit()
        and len(target) < len(str(_BIGGEST))
    ):
        number = int(target)
    if not 0 < number <= _BIGGEST:
        msg = f"There is no stock {kind} {target!r}."
        raise NotFoundError(msg)
    return number


def _outcome(key: str, kind: str, target: Json, result: object) -> LocateOutcome:
    if not isinstance(result, LocateResult):
        msg = f"Plugin '{key}' knows no stock {kind} {target!r}."
        raise NotFoundError(msg)
    said: object = result.message
    message = said if isinstance(said, str) else ""
    # Half of a surrogate pair, which an answer cannot carry, is spelt out.
    message = message.encode("utf-8", "backslashreplace").decode("utf-8")
    return LocateOutcome(key, kind, target, message or f"Plugin '{key}' shows stock {kind} {target}.")
