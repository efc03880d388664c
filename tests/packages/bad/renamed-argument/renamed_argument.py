"""Gives an argument another name than the hook."""

from __future__ import annotations

from host import ActionResult, Json, Plugin, User, hookimpl


class Wrong(Plugin):
    @hookimpl
    def perform_action(self, action: str, payload: Json, user: User) -> ActionResult | None:
        return ActionResult(result=payload)
