"""Its entry point has a name that fits no path."""

from __future__ import annotations

from host import ActionResult, Json, Plugin, User, hookimpl


class Wrong(Plugin):
    @hookimpl
    def perform_action(self, action: str, data: Json, user: User) -> ActionResult | None:
        return ActionResult(result=True)
