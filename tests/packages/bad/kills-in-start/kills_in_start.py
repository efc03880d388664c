"""Takes its process along when it is started."""

from __future__ import annotations

import os

from host import ActionResult, Json, Plugin, Services, User, hookimpl


class Wrong(Plugin):
    @hookimpl
    def start(self, services: Services) -> None:
        os._exit(9)

    @hookimpl
    def perform_action(self, action: str, data: Json, user: User) -> ActionResult | None:
        return ActionResult(result=True)
