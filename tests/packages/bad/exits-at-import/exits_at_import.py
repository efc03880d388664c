"""Leaves while it is imported."""

from __future__ import annotations

import sys

from host import ActionResult, Json, Plugin, User, hookimpl

sys.exit("good bye")


class Wrong(Plugin):
    @hookimpl
    def perform_action(self, action: str, data: Json, user: User) -> ActionResult | None:
        return ActionResult(result=True)
