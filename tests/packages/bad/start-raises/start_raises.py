"""Cannot be started."""

from __future__ import annotations

from host import ActionResult, Json, Plugin, Services, User, hookimpl


class Wrong(Plugin):
    @hookimpl
    def start(self, services: Services) -> None:
        raise ConnectionError("the device does not answer")

    @hookimpl
    def perform_action(self, action: str, data: Json, user: User) -> ActionResult | None:
        return ActionResult(result=True)
