"""Links and commands for the pages that the host itself serves."""

from __future__ import annotations

from collections.abc import Sequence

from host import NavigationItem, Plugin, SpotlightAction, UIContext, User, hookimpl

_FOR_USERS = (
    NavigationItem(
        key="api-docs",
        title="API documentation",
        description="Every endpoint of this server, to read and to try",
        icon="ti:book:outline",
        url="/api/docs/",
    ),
    NavigationItem(
        key="plugins",
        title="Plugins",
        description="What is installed here and what it can do",
        icon="ti:plug:outline",
        url="/api/plugins/",
    ),
)

_FOR_STAFF = (
    NavigationItem(
        key="error-reports",
        title="Error reports",
        description="What went wrong lately, in the host and in plugins",
        icon="ti:bug:outline",
        url="/api/error-report/",
    ),
    NavigationItem(
        key="background-tasks",
        title="Background tasks",
        description="What is queued, scheduled, running and failed",
        icon="ti:list-check:outline",
        url="/api/background-task/",
    ),
)

_FOR_SUPERUSERS = (
    NavigationItem(
        key="plugin-status",
        title="Plugin status",
        description="Which plugins could not be loaded, and why",
        icon="ti:heartbeat:outline",
        url="/api/plugins/status/",
    ),
    NavigationItem(
        key="configuration",
        title="Configuration",
        description="How this server was configured",
        icon="ti:settings:outline",
        url="/api/admin/config/",
    ),
    NavigationItem(
        key="mail-log",
        title="Mail log",
        description="What was sent, and what could not be",
        icon="ti:mail:outline",
        url="/api/admin/email/",
    ),
)


class CoreNavigation(Plugin):
    """The host's own pages in the menu, and its commands in the spotlight search."""

    title = "Core navigation"
    description = "Menu links and spotlight commands for the pages of the host itself"

    @hookimpl
    def ui_navigation_items(self, context: UIContext) -> Sequence[NavigationItem]:
        user = context.user
        items = list(_FOR_USERS)
        if _is_staff(user):
            items += _FOR_STAFF
        if user.is_superuser:
            items += _FOR_SUPERUSERS
        return items

    @hookimpl
    def ui_spotlight_actions(self, context: UIContext) -> Sequence[SpotlightAction]:
        actions = [
            SpotlightAction(
                key="open-api-docs",
                title="Open the API documentation",
                icon="ti:book:outline",
                source="spotlight.js:openPage",
                context={"url": "/api/docs/"},
            )
        ]
        if context.user.is_superuser:
            actions.append(
                SpotlightAction(
                    key="reload-plugins",
                    title="Reload plugins",
                    description="Look for new plugin packages and load the active ones afresh",
                    icon="ti:refresh:outline",
                    source="spotlight.js:reloadPlugins",
                    context={"url": "/api/plugins/reload/"},
                )
            )
        return actions


def _is_staff(user: User) -> bool:
    return user.is_staff or user.is_superuser
