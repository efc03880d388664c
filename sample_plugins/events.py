"""Sample: react to events, and send own ones."""

from __future__ import annotations

from collections.abc import Sequence

from host import Event, Plugin, hookimpl


class SampleEvents(Plugin):
    """Greets every plugin that is activated."""

    title = "Sample: events"
    description = "Says hello to plugins as they are activated"

    def __init__(self) -> None:
        self._last = 0

    @hookimpl
    def event_patterns(self) -> Sequence[str]:
        # Ask for what you need. Whoever asks for "*" and sends events hears of their own.
        return ["plugin.activated"]

    @hookimpl
    def on_event(self, event: Event) -> None:
        if event.id <= self._last:
            return  # after a crash an event may arrive twice; ids only grow
        self._last = event.id
        self.log.info("hello, %s", event.data.get("key"))
        # Others receive it as "sample-events.greeted". Put ids and plain values into it, never secrets.
        self.emit("greeted", {"key": event.data.get("key")}, user_id=event.user_id)
