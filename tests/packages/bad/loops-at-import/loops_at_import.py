"""Never ends to be imported."""

from __future__ import annotations

from host import ActionResult, Json, Plugin, User, hookimpl

while True:
    pass


class Wrong(Plugin):
    @hookimpl
    def perform_action(self, action: str, data: Json, user: User) -> ActionResult | None:
        return ActionResult(result=True)
