"""Answers with other things than the hooks ask for; beside each stands a right one where several are allowed."""

from __future__ import annotations

from host import DashboardItem, NavigationItem, Panel, UIFeature, hookimpl


class Wrong:
    @hookimpl
    def action_names(self):
        return ["wrong-shapes", "wrong"]

    @hookimpl
    def perform_action(self, action, data, user):
        return {"result": True}

    @hookimpl
    def locate_item(self, item_id, user):
        return item_id

    @hookimpl
    def ui_panels(self, context):
        return [Panel(key="right"), Panel(key=""), "a text", None, DashboardItem(key="other")]

    @hookimpl
    def ui_dashboard_items(self, context):
        return DashboardItem(key="not-in-a-list")

    @hookimpl
    def ui_navigation_items(self, context):
        return [
            NavigationItem(key="right", url="/"),
            NavigationItem(key="unwritable", url="/", context={"a": object()}),
        ]

    @hookimpl
    def ui_features(self, context):
        return (UIFeature(key=key) for key in ("right",)) if context.feature_type == "generated" else 7

    @hookimpl
    def admin_integration(self, user):
        return "admin.js"
