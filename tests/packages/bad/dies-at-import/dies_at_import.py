"""Takes its process along while it is imported."""

from __future__ import annotations

import os

from host import ActionResult, Json, Plugin, User, hookimpl

os._exit(7)


class Wrong(Plugin):
    @hookimpl
    def perform_action(self, action: str, data: Json, user: User) -> ActionResult | None:
        return ActionResult(result=True)
