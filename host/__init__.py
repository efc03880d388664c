"""The names a plugin author imports."""

from typing import TYPE_CHECKING

from host.contract.accounts import SignInProvider
from host.contract.actions import ActionResult
from host.contract.admin import AdminIntegration
from host.contract.events import Event
from host.contract.locate import LocateResult
from host.contract.markers import hookimpl
from host.contract.models import ModelType, State, StatusSet
from host.contract.plugin import Plugin
from host.contract.routes import access
from host.contract.services import Services, SettingsAccess
from host.contract.settings import Setting, SettingError
from host.contract.ui import (
    DashboardItem,
    NavigationItem,
    Panel,
    PrimaryAction,
    SpotlightAction,
    TemplateEditor,
    TemplatePreview,
    UIContext,
    UIFeature,
)
from host.contract.values import Identity, Json, User

if TYPE_CHECKING:
    from host.contract.tables import table_base

__all__ = [
    "ActionResult",
    "AdminIntegration",
    "DashboardItem",
    "Event",
    "Identity",
    "Json",
    "LocateResult",
    "ModelType",
    "NavigationItem",
    "Panel",
    "Plugin",
    "PrimaryAction",
    "Services",
    "Setting",
    "SettingError",
    "SettingsAccess",
    "SignInProvider",
    "SpotlightAction",
    "State",
    "StatusSet",
    "TemplateEditor",
    "TemplatePreview",
    "UIContext",
    "UIFeature",
    "User",
    "access",
    "hookimpl",
    "table_base",
]


def __getattr__(name: str) -> object:
    # Most plugins have no tables, and SQLModel takes longer to import than everything else here together.
    if name == "table_base":
        from host.contract.tables import table_base  # noqa: PLC0415

        return table_base
    msg = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(msg)
