"""Prints at import, on both streams, also past Python's own; nothing may take that for an answer."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from host import ActionResult, Json, Plugin, User, hookimpl

print('{"plugins": []}')
print("a warning of no weight", file=sys.stderr)
os.write(1, b"\n[]\n")


class Chatty(Plugin):
    def __init__(self) -> None:
        print("made")

    @hookimpl
    def action_names(self) -> Sequence[str]:
        print("asked")
        return ["chatty.talk"]

    @hookimpl
    def perform_action(self, action: str, data: Json, user: User) -> ActionResult | None:
        print("talking")
        return ActionResult(result=True)
