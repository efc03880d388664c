"""Raises whatever it is asked."""

from __future__ import annotations

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
        return ["raises-in-hook", "wrong"]

    @hookimpl
    def perform_action(self, action: str, data: Json, user: User) -> ActionResult | None:
        raise ValueError("the fuse has blown")

    @hookimpl
    def locate_item(self, item_id: int, user: User) -> LocateResult | None:
        raise ValueError("the fuse has blown")

    @hookimpl
    def ui_panels(self, context: UIContext) -> Sequence[Panel]:
        raise ValueError("the fuse has blown")

    @hookimpl
    def ui_dashboard_items(self, context: UIContext) -> Sequence[DashboardItem]:
        raise ValueError("the fuse has blown")

    @hookimpl
    def admin_integration(self, user: User) -> AdminIntegration | None:
        raise ValueError("the fuse has blown")

    @hookimpl
    def on_event(self, event: Event) -> None:
        raise ValueError("the fuse has blown")
