"""Needs a library that is no plugin."""

from __future__ import annotations

from collections.abc import Sequence

import helper_lib

from host import ActionResult, Json, Plugin, User, hookimpl


class NeedsHelper1(Plugin):
    @hookimpl
    def action_names(self) -> Sequence[str]:
        return ["needs-helper-1.version"]

    @hookimpl
    def perform_action(self, action: str, data: Json, user: User) -> ActionResult | None:
        return ActionResult(result=True, info={"helper": helper_lib.VERSION})
