"""Remembers the events it gets; actions tell of them and send one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from host import ActionResult, Event, Json, Plugin, User, hookimpl


class Listener(Plugin):
    def __init__(self) -> None:
        self._heard: list[dict[str, Json]] = []

    @hookimpl
    def event_patterns(self) -> Sequence[str]:
        return ["listener.*", "plugin.*"]

    @hookimpl
    def on_event(self, event: Event) -> None:
        self._heard.append({"id": event.id, "name": event.name, "data": dict(event.data), "user": event.user_id})

    @hookimpl
    def action_names(self) -> Sequence[str]:
        return ["listener.heard", "listener.say"]

    @hookimpl
    def perform_action(self, action: str, data: Json, user: User) -> ActionResult | None:
        if action == "listener.say":
            self.emit("said", dict(data) if isinstance(data, Mapping) else {}, user_id=user.id)
        return ActionResult(result=list(self._heard))
