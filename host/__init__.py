"""The names a plugin author imports."""

from typing import TYPE_CHECKING

from host.contract.accounts import SignInProvider
from host.contract.actions import ActionResult
from host.contract.admin import AdminIntegration
from host.contract.currency import ExchangeRates
from host.contract.events import Event
from host.contract.exports import (
    ExportColumn,
    ExportFormat,
    ExportJob,
    ExportOption,
    ExportPlan,
    ExportSheet,
    ExportWriter,
)
from host.contract.icons import Icon, IconPack
from host.contract.imports import ImportField, ImportRecord, ImportTarget
from host.contract.locate import LocateResult
from host.contract.mail import IncomingMail, MailAccess, MailDelivery, OutgoingMail
from host.contract.markers import hookimpl
from host.contract.models import ModelType, State, StatusSet
from host.contract.plugin import Plugin
from host.contract.progress import report_progress
from host.contract.routes import access
from host.contract.schedules import ScheduledTask
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
    "ExchangeRates",
    "ExportColumn",
    "ExportFormat",
    "ExportJob",
    "ExportOption",
    "ExportPlan",
    "ExportSheet",
    "ExportWriter",
    "Icon",
    "IconPack",
    "Identity",
    "ImportField",
    "ImportRecord",
    "ImportTarget",
    "IncomingMail",
    "Json",
    "LocateResult",
    "MailAccess",
    "MailDelivery",
    "ModelType",
    "NavigationItem",
    "OutgoingMail",
    "Panel",
    "Plugin",
    "PrimaryAction",
    "ScheduledTask",
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
    "report_progress",
    "table_base",
]


def __getattr__(name: str) -> object:
    # Most plugins have no tables, and SQLModel takes longer to import than everything else here together.
    if name == "table_base":
        from host.contract.tables import table_base  # noqa: PLC0415

        return table_base
    msg = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(msg)
