"""Sample: one feature of the user interface of every type.

``source`` names a JavaScript module in the folder ``static`` beside this file, ``context`` is handed to it. Which
function of the module is called is said by the type (``renderPanel``, ``renderDashboardItem`` …), or after a colon.
"""

from __future__ import annotations

from collections.abc import Sequence

from host import (
    DashboardItem,
    NavigationItem,
    Panel,
    Plugin,
    PrimaryAction,
    SpotlightAction,
    TemplateEditor,
    TemplatePreview,
    UIContext,
    UIFeature,
    hookimpl,
)


class SampleUI(Plugin):
    """Adds to every place of the web client that plugins can add to."""

    title = "Sample: user interface"
    description = "A panel, a tile, a menu link, commands, a button and a template editor"

    @hookimpl
    def ui_panels(self, context: UIContext) -> Sequence[Panel]:
        # What the client says arrives as text. This panel is shown on parts only.
        if context.query.get("target_model") != "part":
            return []
        return [
            Panel(
                key="sample-panel",
                title="Sample panel",
                description="Drawn by a plugin",
                icon="ti:layout:outline",
                source="panel.js",
                context={"part": context.query.get("target_id", ""), "reader": context.user.username},
            )
        ]

    @hookimpl
    def ui_dashboard_items(self, context: UIContext) -> Sequence[DashboardItem]:
        items = [DashboardItem(key="sample-clock", title="Clock", source="dashboard.js", width=3, height=2)]
        if context.user.is_staff:
            staff = DashboardItem(key="sample-staff", title="For staff", source="dashboard.js:renderStaffItem")
            items.append(staff)
        return items

    @hookimpl
    def ui_template_editors(self, context: UIContext) -> Sequence[TemplateEditor]:
        kind = context.query.get("template_type", "")
        return [
            TemplateEditor(
                key="sample-editor", title="Plain text", source="template.js:getEditor", options={"for": kind}
            )
        ]

    @hookimpl
    def ui_template_previews(self, context: UIContext) -> Sequence[TemplatePreview]:
        kind = context.query.get("template_type", "")
        return [TemplatePreview(key="sample-preview", title=f"As text {kind}".strip(), source="template.js:getPreview")]

    @hookimpl
    def ui_navigation_items(self, context: UIContext) -> Sequence[NavigationItem]:
        title = f"{context.user.username}'s account"
        return [NavigationItem(key="sample-link", title=title, icon="ti:link:outline", url="/api/user/me/")]

    @hookimpl
    def ui_spotlight_actions(self, context: UIContext) -> Sequence[SpotlightAction]:
        greeted = {"to": context.user.username}
        return [SpotlightAction(key="sample-command", title="Say hello", source="spotlight.js", context=greeted)]

    @hookimpl
    def ui_primary_actions(self, context: UIContext) -> Sequence[PrimaryAction]:
        target = context.query.get("target_id")
        if not target:
            return []
        return [
            PrimaryAction(key="sample-button", title="Show", color="blue", url=f"/plugin/{self.identity.key}/{target}/")
        ]

    @hookimpl
    def ui_features(self, context: UIContext) -> Sequence[UIFeature]:
        # Types without a hook of their own come here, so a client may invent new ones.
        if context.feature_type != "sample":
            return []
        return [UIFeature(key="sample-feature", title="Any other type", options={"kind": context.feature_type})]
