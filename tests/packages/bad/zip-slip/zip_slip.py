"""The wheel is given members that leave the folder it is unpacked into."""

from __future__ import annotations

from host import ActionResult, Json, Plugin, User, hookimpl


class Wrong(Plugin):
    @hookimpl
    def perform_action(self, action: str, data: Json, user: User) -> ActionResult | None:
        return ActionResult(result=True)
