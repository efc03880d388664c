"""A lamp that an action switches."""

from __future__ import annotations

from collections.abc import Sequence

from host import ActionResult, Json, Plugin, User, hookimpl
from lamp.bulb import glow


class Lamp(Plugin):
    """Knows its bulb by a submodule, which an upgrade replaces."""

    title = "Lamp"

    @hookimpl
    def action_names(self) -> Sequence[str]:
        return ["lamp.switch"]

    @hookimpl
    def perform_action(self, action: str, data: Json, user: User) -> ActionResult | None:
        return ActionResult(result=True, info={"light": glow(), "for": user.username, "data": data})
