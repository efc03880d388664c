"""Sample: settings of every kind, for the plugin and for each user."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from host import ActionResult, Json, Plugin, Setting, SettingError, User, hookimpl


def _even(value: object) -> None:
    if isinstance(value, int) and value % 2:
        msg = "Write an even number."  # whoever sets the value reads this
        raise SettingError(msg)


def _weekdays() -> Sequence[tuple[int, str]]:
    return list(enumerate(("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")))


def _this_year() -> int:
    return datetime.now(UTC).year


class SampleSettings(Plugin):
    """Declares settings, and shows with an action how to read and write them."""

    title = "Sample: settings"
    description = "One setting of each kind"

    @hookimpl
    def plugin_settings(self) -> Sequence[Setting]:
        return [
            Setting(key="ENABLED", name="Enabled", description="Yes or no", type="boolean", default=True),
            Setting(key="RETRIES", name="Retries", type="integer", default=4, validators=[_even]),
            Setting(key="THRESHOLD", name="Threshold", type="float", default=21.5, units="°C"),
            Setting(key="GREETING", name="Greeting", default="Hello"),
            # Choices are pairs of value and label; both they and the default may be worked out when they are needed.
            Setting(key="COLOR", name="Colour", default="red", choices=[("red", "Red"), ("blue", "Blue")]),
            Setting(key="WEEKDAY", name="Weekday", type="integer", default=0, choices=_weekdays),
            Setting(key="YEAR", name="Year", type="integer", default=_this_year),
            # Never shown again once stored, not even to staff; the plugin itself reads it.
            Setting(key="API_TOKEN", name="API token", protected=True),
            Setting(key="ADDRESS", name="Address of the device", required=True),
            Setting(
                key="DESTRUCTIVE",
                name="Allow deleting",
                type="boolean",
                default=False,
                confirm=True,
                confirm_text="Deleted records cannot be brought back. Go on?",
            ),
            # A reference: clients offer the records of that model to choose from.
            Setting(
                key="CARETAKER",
                name="Caretaker",
                model="auth.user",
                model_filters={"is_active": True},
                api_url="/api/user/",
            ),
            Setting(key="LAST_RUN", name="Last run", hidden=True),
            Setting(
                key="LOG_LEVEL",
                name="Log level",
                default="INFO",
                choices=[("DEBUG", "Everything"), ("INFO", "What matters")],
                after_save=self._set_level,
            ),
        ]

    @hookimpl
    def user_settings(self) -> Sequence[Setting]:
        return [
            Setting(key="NOTIFY", name="Tell me about runs", type="boolean", default=False),
            Setting(key="NICKNAME", name="What to call me", default=""),
        ]

    @hookimpl
    def perform_action(self, action: str, data: Json, user: User) -> ActionResult:
        # Without `action_names` a plugin answers to its own key.
        name = self.settings.get_for_user("NICKNAME", user.id) or user.username
        self.settings.set("LAST_RUN", datetime.now(UTC).isoformat(timespec="seconds"))
        return ActionResult(result=data, info=f"{self.settings.get('GREETING')}, {name}: {action} was run")

    def _set_level(self, value: object) -> None:
        self.log.setLevel(str(value))
