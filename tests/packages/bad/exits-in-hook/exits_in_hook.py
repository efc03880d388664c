"""Leaves whatever it is asked."""

from __future__ import annotations

import sys
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


class Wrong(Plugin):
    @hookimpl
    def action_names(self) -> Sequence[str]:
        return ["exits-in-hook", "wrong"]

    @hookimpl
    def perform_action(self, action: str, data: Json, user: User) -> ActionResult | None:
        sys.exit("good bye")

    @hookimpl
    def locate_item(self, item_id: int, user: User) -> LocateResult | None:
        sys.exit("good bye")

    @hookimpl
    def ui_panels(self, context: UIContext) -> Sequence[Panel]:
        sys.exit("good bye")

    @hookimpl
    def ui_dashboard_items(self, context: UIContext) -> Sequence[DashboardItem]:
        sys.exit("good bye")

    @hookimpl
    def admin_integration(self, user: User) -> AdminIntegration | None:
        sys.exit("good bye")

    @hookimpl
    def on_event(self, event: Event) -> None:
        sys.exit("good bye")
