"""Asks for an argument that the hook does not have."""

from __future__ import annotations

from host import ActionResult, Json, Plugin, User, hookimpl


class Wrong(Plugin):
    @hookimpl
    def perform_action(self, action: str, data: Json, user: User, urgent: bool) -> ActionResult | None:
        return ActionResult(result=urgent)
