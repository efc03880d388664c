"""Imports what nobody has."""

from __future__ import annotations

import no_such_library

from host import ActionResult, Json, Plugin, User, hookimpl


class Wrong(Plugin):
    @hookimpl
    def perform_action(self, action: str, data: Json, user: User) -> ActionResult | None:
        return ActionResult(result=True)
