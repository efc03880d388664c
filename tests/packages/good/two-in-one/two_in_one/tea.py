"""One of two plugins of the same distribution."""

from __future__ import annotations

from collections.abc import Sequence

from host import ActionResult, Json, Plugin, User, hookimpl


class Tea(Plugin):
    title = "Tea"

    @hookimpl
    def action_names(self) -> Sequence[str]:
        return ["tea.brew", "brew"]

    @hookimpl
    def perform_action(self, action: str, data: Json, user: User) -> ActionResult | None:
        return ActionResult(result="tea", info=action)
