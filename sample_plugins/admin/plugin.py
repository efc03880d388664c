"""Sample: an administration page of the plugin's own."""

from __future__ import annotations

from host import AdminIntegration, Plugin, User, hookimpl


class SampleAdmin(Plugin):
    """Adds a page that staff see beside the plugin's settings."""

    title = "Sample: administration page"
    description = "Shows a page of its own in the administration of plugins"

    @hookimpl
    def admin_integration(self, user: User) -> AdminIntegration:
        # `admin.js` lies in the folder `static` beside this module and exports `renderPluginSettings`.
        return AdminIntegration(source="admin.js", context={"plugin": self.identity.title, "reader": user.username})
