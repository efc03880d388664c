"""Writes the name of a hook wrongly."""

from __future__ import annotations

from host import ActionResult, Json, Plugin, User, hookimpl


class Wrong(Plugin):
    @hookimpl
    def preform_action(self, action: str, data: Json, user: User) -> ActionResult | None:
        return ActionResult(result=True)
