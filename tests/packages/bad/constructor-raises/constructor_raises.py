"""Cannot be made."""

from __future__ import annotations

from host import ActionResult, Json, Plugin, User, hookimpl


class Wrong(Plugin):
    def __init__(self) -> None:
        raise RuntimeError("the filament is broken")

    @hookimpl
    def perform_action(self, action: str, data: Json, user: User) -> ActionResult | None:
        return ActionResult(result=True)
