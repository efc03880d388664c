"""One of two plugins of the same distribution."""

from __future__ import annotations

from collections.abc import Sequence

from host import ActionResult, Json, Plugin, User, hookimpl


class Coffee(Plugin):
    title = "Coffee"

    @hookimpl
    def action_names(self) -> Sequence[str]:
        return ["coffee.brew", "brew"]

    @hookimpl
    def perform_action(self, action: str, data: Json, user: User) -> ActionResult | None:
        return ActionResult(result="coffee", info=action)
