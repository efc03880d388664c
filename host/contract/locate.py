"""Locate: identify a stock item or a stock location physically."""

from __future__ import annotations

from dataclasses import dataclass

from host.contract.markers import Asked, MaybeAwaitable, hookspec
from host.contract.values import User


@dataclass(frozen=True, slots=True, kw_only=True)
class LocateResult:
    """What was done to show the item or location; ``message`` is read by a person."""

    message: str = ""


class LocateHooks:
    """Hooks of plugins that show where something is."""

    key = "locate"
    human_name = "Locate"

    @hookspec(asked=Asked.NAMED, returns=LocateResult, optional=True)
    def locate_item(self, item_id: int, user: User) -> MaybeAwaitable[LocateResult | None]:
        """Show where one stock item is.

        When: a client posts ``{"plugin": <key>, "item": <id>}`` to ``/api/locate/``.
        Return: what was done, or ``None`` when this plugin has no such item; the caller then gets 404.
        Failure: the caller gets a 400 that names this plugin; no other plugin is asked.
        Since: 0.1.
        """
        raise NotImplementedError

    @hookspec(asked=Asked.NAMED, returns=LocateResult, optional=True)
    def locate_location(self, location_id: int, user: User) -> MaybeAwaitable[LocateResult | None]:
        """Show where one stock location is.

        When: a client posts ``{"plugin": <key>, "location": <id>}`` to ``/api/locate/``.
        Return: what was done, or ``None`` when this plugin has no such location; the caller then gets 404.
        Failure: the caller gets a 400 that names this plugin; no other plugin is asked.
        Since: 0.1.
        """
        raise NotImplementedError
