"""Counts with a compiled module, where the wheel was built with a compiler."""

from __future__ import annotations

from collections.abc import Sequence

from host import ActionResult, Json, Plugin, User, hookimpl

try:
    from native._count import count
except ImportError:

    def count(text: str) -> int:
        return len(text)


class Native(Plugin):
    @hookimpl
    def action_names(self) -> Sequence[str]:
        return ["native.count"]

    @hookimpl
    def perform_action(self, action: str, data: Json, user: User) -> ActionResult | None:
        return ActionResult(result=count(str(data)))
