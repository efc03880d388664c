"""Events: react to what happens in the host and in other plugins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from host.contract.markers import Asked, MaybeAwaitable, hookspec
from host.contract.values import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that happened.

    ``name`` is dotted, subject first (``plugin.activated``, ``user.login_failed``, ``stockroom.item.moved``).
    ``data`` holds ids and plain values, never secrets. ``user_id`` is the account that caused it, where there was one.
    """

    id: int
    name: str
    data: Mapping[str, Json] = field(default_factory=dict)
    user_id: int | None = None
    time: datetime


class EventHooks:
    """Hooks of plugins that react to events."""

    key = "events"
    human_name = "Events"

    @hookspec(asked=Asked.ONCE, returns=str, many=True)
    def event_patterns(self) -> MaybeAwaitable[Sequence[str]]:
        """Name the events this plugin wants, as shell patterns (``plugin.*``).

        When: once, as the plugin is loaded. Without this hook the plugin gets every event.
        Return: the patterns, matched against the whole name with case.
        Failure: the plugin is not loaded and the registry status says why.
        Since: 0.1.
        """
        raise NotImplementedError

    @hookspec(asked=Asked.ALL)
    def on_event(self, event: Event) -> MaybeAwaitable[None]:
        """React to an event.

        When: soon after the change that caused the event was committed, outside of any request; events arrive in
        order of their ids. After a crash an event may arrive twice: compare ``event.id``.
        Return: nothing.
        Failure: an error report is written; other plugins still get the event, and it is not sent again. An event that
        is sent from here may cause others in turn; after eight in a row, sending one more fails.
        Since: 0.1.
        """
        raise NotImplementedError
