"""User interface features with static files."""

from __future__ import annotations

from collections.abc import Sequence

from host import DashboardItem, NavigationItem, Panel, Plugin, UIContext, UIFeature, hookimpl


class DashboardKit(Plugin):
    title = "Dashboard kit"

    @hookimpl
    def ui_dashboard_items(self, context: UIContext) -> Sequence[DashboardItem]:
        tile = DashboardItem(
            key="tile", title="Tile", source="tile.js", context={"for": context.user.username}, width=4
        )
        return [tile]

    @hookimpl
    def ui_panels(self, context: UIContext) -> Sequence[Panel]:
        return [Panel(key="panel", source="tile.js:renderAny", context={"query": dict(context.query)})]

    @hookimpl
    def ui_navigation_items(self, context: UIContext) -> Sequence[NavigationItem]:
        return [NavigationItem(key="kit", title="Kit", url=self.static_url("page.html"))]

    @hookimpl
    def ui_features(self, context: UIContext) -> Sequence[UIFeature]:
        return [UIFeature(key="own", options={"type": context.feature_type})] if context.feature_type == "kit" else []
