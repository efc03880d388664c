"""The global settings, put together."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from host.accounts.events import Emit
from host.accounts.groups import Groups
from host.config import Config
from host.contract.settings import Choices
from host.plugins.registry import Registry
from host.settings.global_settings import Given, GlobalSettings
from host.settings.options import fixed_by
from host.settings.store import SettingStore
from host.storage.engine import Database
from host.storage.kept_texts import keep


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingNeeds:
    """What the global settings need of parts that are put together after them."""

    groups: Callable[[], Groups]
    registry: Callable[[], Registry]
    reload: Callable[[], None]
    """Loads the plugins again."""
    emit: Emit
    report: Callable[[str, str], Any]
    """Keeps an error report."""


def make_global_settings(
    config: Config, home: Path, database: Database, stored: SettingStore, needs: SettingNeeds
) -> GlobalSettings:
    """Return the global settings; the configuration may fix some of them."""

    def group_choices() -> Choices:
        return [("", "No group"), *((group.name, group.name) for group in needs.groups().all())]

    def currency_plugin_choices() -> Choices:
        found = needs.registry().with_mixin("currencyexchange")
        return [("", "The first that can"), *((one.key, one.identity.title) for one in found)]

    return GlobalSettings(
        database,
        stored,
        given=Given(
            fixed=fixed_by(config, config.model_fields_set),
            overrides=config.global_settings,
            defaults={"INVENTREE_INSTANCE_ID": lambda: keep(home / "instance.id", lambda: str(uuid.uuid4()))},
        ),
        choices={"SIGNUP_GROUP": group_choices, "CURRENCY_UPDATE_PLUGIN": currency_plugin_choices},
        reload=needs.reload,
        emit=needs.emit,
        report=needs.report,
    )
