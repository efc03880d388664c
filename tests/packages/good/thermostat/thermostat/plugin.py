"""Settings, user settings and an administration page."""

from __future__ import annotations

from collections.abc import Sequence

from host import ActionResult, AdminIntegration, Json, Plugin, Setting, SettingError, User, hookimpl


def _bearable(value: object) -> None:
    if isinstance(value, int | float) and not 5 <= value <= 30:
        raise SettingError("Between 5 and 30, please.")


class Thermostat(Plugin):
    title = "Thermostat"

    @hookimpl
    def plugin_settings(self) -> Sequence[Setting]:
        return [
            Setting(key="TARGET", name="Target", type="float", default=20.5, units="°C", validators=[_bearable]),
            Setting(key="ROOMS", name="Rooms", type="integer", default=3),
            Setting(key="HEATING", name="Heating", type="boolean", default=False),
            Setting(key="MODE", name="Mode", default="eco", choices=[("eco", "Sparing"), ("party", "Party")]),
            Setting(key="PASSWORD", name="Password of the boiler", protected=True),
            Setting(key="DANGER", name="Ignore limits", type="boolean", confirm=True, confirm_text="Sure?"),
        ]

    @hookimpl
    def user_settings(self) -> Sequence[Setting]:
        return [Setting(key="FAVOURITE", name="Favourite warmth", type="integer", default=21)]

    @hookimpl
    def admin_integration(self, user: User) -> AdminIntegration | None:
        return AdminIntegration(source="admin.js", context={"rooms": self.settings.get("ROOMS"), "user": user.username})

    @hookimpl
    def perform_action(self, action: str, data: Json, user: User) -> ActionResult | None:
        info = {
            "target": self.settings.get("TARGET"),
            "favourite": self.settings.get_for_user("FAVOURITE", user.id),
            "has_password": bool(self.settings.get("PASSWORD")),
        }
        return ActionResult(result=action, info=info)
