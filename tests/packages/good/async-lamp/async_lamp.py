"""Every hook that is called later is a coroutine."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from host import ActionResult, Event, Json, LocateResult, NavigationItem, Plugin, UIContext, User, hookimpl


class AsyncLamp(Plugin):
    def __init__(self) -> None:
        self._heard: list[str] = []

    @hookimpl
    async def action_names(self) -> Sequence[str]:
        return ["async-lamp.switch"]

    @hookimpl
    async def perform_action(self, action: str, data: Json, user: User) -> ActionResult | None:
        await asyncio.sleep(0)
        return ActionResult(result=True, info={"light": "soft", "heard": list(self._heard)})

    @hookimpl
    async def locate_item(self, item_id: int, user: User) -> LocateResult | None:
        await asyncio.sleep(0)
        return LocateResult(message=f"soft light on {item_id}")

    @hookimpl
    async def on_event(self, event: Event) -> None:
        await asyncio.sleep(0)
        self._heard.append(event.name)

    @hookimpl
    async def ui_navigation_items(self, context: UIContext) -> Sequence[NavigationItem]:
        await asyncio.sleep(0)
        return [NavigationItem(key="soft", title="Soft", url="/soft/")]
