"""Takes all memory it can get while it is imported (at most 4 GiB, for the sake of whoever runs the tests)."""

from __future__ import annotations

from host import ActionResult, Json, Plugin, User, hookimpl

_hoard = [bytes([number % 256]) * (64 << 20) for number in range(64)]


class Wrong(Plugin):
    @hookimpl
    def perform_action(self, action: str, data: Json, user: User) -> ActionResult | None:
        return ActionResult(result=True)
