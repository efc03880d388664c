"""Keeps a processor busy whatever it is asked, for long but not for ever."""

from __future__ import annotations

import time
from collections.abc import Sequence

from host import (
    ActionResult,
    AdminIntegration,
    DashboardItem,
    Event,
    Json,
    LocateResult,
    Panel,
    Plugin,
    UIContext,
    User,
    hookimpl,
)


def _spin() -> None:
    end = time.monotonic() + 30
    while time.monotonic() < end:
        pass


class Wrong(Plugin):
    @hookimpl
    def action_names(self) -> Sequence[str]:
        return ["spins-in-hook", "wrong"]

    @hookimpl
    def perform_action(self, action: str, data: Json, user: User) -> ActionResult | None:
        return _spin()

    @hookimpl
    def locate_item(self, item_id: int, user: User) -> LocateResult | None:
        return _spin()

    @hookimpl
    def ui_panels(self, context: UIContext) -> Sequence[Panel]:
        return _spin()

    @hookimpl
    def ui_dashboard_items(self, context: UIContext) -> Sequence[DashboardItem]:
        return _spin()

    @hookimpl
    def admin_integration(self, user: User) -> AdminIntegration | None:
        return _spin()

    @hookimpl
    def on_event(self, event: Event) -> None:
        return _spin()
