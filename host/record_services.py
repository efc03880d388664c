"""The generic records, put together with what they need: each service is made when it is first asked for."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from pathlib import Path

from host.accounts.events import Emit
from host.accounts.rights import Rights
from host.contract.values import User
from host.exporting.exports import Exports
from host.exporting.making import Needs as ExportNeeds
from host.importing.files import FOLDER as IMPORT_FOLDER
from host.importing.files import ImportLimits
from host.importing.service import Importing
from host.mail.mailer import Mailer
from host.packages.install import Packages
from host.packages.updates import Update, UpdateCheck
from host.plugins.calls import Calls
from host.plugins.currency import CurrencyPlugins
from host.plugins.current import Registries
from host.plugins.exports import ExportPlugins
from host.plugins.imports import ImportPlugins
from host.records.attachments.owners import Owners
from host.records.attachments.service import Attachments
from host.records.attachments.uploads import UploadRules
from host.records.content_types import ContentTypes
from host.records.data_outputs import FOLDER as DATA_OUTPUTS_FOLDER
from host.records.data_outputs import DataOutputs
from host.records.errors import ErrorReports
from host.records.exchange_rates import CurrencySettings, ExchangeRatesService
from host.records.mail_log import MailLog
from host.records.media import Media, any_user
from host.records.news.news import News
from host.records.notifications import Notifications
from host.records.states import States
from host.settings.global_settings import GlobalSettings
from host.storage.engine import Database
from host.storage.files import FileStore
from host.tasks.jobs import Enqueue


class RecordServices:
    """The services of the generic records.

    Args:
        database: where the rows are.
        files: where the files are.
        error_reports: keeps error reports.
        enqueue: puts work off until after the answer.
        registries: gives the plugins that there are at present.
        calls: calls their hooks.
        rights: know what accounts may do.
        emit: tells plugins of changes.
        settings: the global settings.
        packages: the installed packages.
        mailer: gives what sends mail.
        find_user: gives an active account by its id.
        scratch: a folder for temporary files, on this machine.
        news_url: the feed of news for the staff; empty means that there is none.

    """

    def __init__(  # noqa: PLR0913 - each is a part of the host of its own
        self,
        *,
        database: Database,
        files: FileStore,
        error_reports: ErrorReports,
        enqueue: Enqueue,
        registries: Registries,
        calls: Calls,
        rights: Rights,
        emit: Emit,
        settings: GlobalSettings,
        packages: Packages,
        mailer: Callable[[], Mailer],
        find_user: Callable[[int], User | None],
        scratch: Path,
        news_url: str = "",
    ) -> None:
        self._database = database
        self.files = files
        self.error_reports = error_reports
        self.enqueue = enqueue
        self._registries = registries
        self._calls = calls
        self._rights = rights
        self._emit = emit
        self.settings = settings
        self._news_url = news_url
        self._packages = packages
        self._mailer = mailer
        self._find_user = find_user
        self._scratch = scratch

    @cached_property
    def notifications(self) -> Notifications:
        """What people are told."""
        return Notifications(self._database)

    @cached_property
    def update_check(self) -> UpdateCheck:
        """What looks for newer versions of packages, and tells the superusers."""
        return UpdateCheck(self._packages, tell=self._tell_of_update, report=self.error_reports.record)

    @cached_property
    def mail_log(self) -> MailLog:
        """The mails that have left and come in."""
        return MailLog(
            self._database,
            self._mailer,
            is_protected=self.settings.flag_of("INVENTREE_PROTECT_EMAIL_LOG"),
            days=self.settings.number_of("INVENTREE_DELETE_EMAIL_DAYS"),
        )

    @cached_property
    def attachments(self) -> Attachments:
        """Files and links of records."""
        settings = self.settings
        return Attachments(
            self._database,
            self.files,
            Owners(self._registries, self._calls, self._rights),
            rules=UploadRules(
                megabytes=settings.number_of("INVENTREE_UPLOAD_MAX_SIZE"),
                allowed=settings.text_of("UPLOAD_ALLOWED_TYPES"),
                denied=settings.text_of("UPLOAD_DENIED_TYPES"),
            ),
            enqueue=self.enqueue,
            report=self.error_reports.record,
            emit=self._emit,
        )

    @cached_property
    def content_types(self) -> ContentTypes:
        """The numbers of all kinds of record."""
        return ContentTypes(self._database, self._registries)

    @cached_property
    def states(self) -> States:
        """Status sets, and the states that were added to them."""
        return States(self._database, self._registries, self.content_types, emit=self._emit)

    @cached_property
    def data_outputs(self) -> DataOutputs:
        """Files that were made for somebody."""
        return DataOutputs(self._database, self.files, days=self.settings.number_of("DATA_OUTPUT_DAYS"))

    @cached_property
    def exports(self) -> Exports:
        """Lists, written to files."""
        needs = ExportNeeds(
            plugins=ExportPlugins(self._registries, self._calls, self.error_reports.record),
            outputs=self.data_outputs,
            files=self.files,
            notifications=self.notifications,
            find_user=self._find_user,
            folder=self._scratch / "exports",
        )
        return Exports(self._database, self.enqueue, needs)

    @cached_property
    def news(self) -> News:
        """News for the staff."""
        return News(self._database, url=self._news_url, report=self.error_reports.record)

    @cached_property
    def exchange_rates(self) -> ExchangeRatesService:
        """What currencies are worth."""
        settings = self.settings
        return ExchangeRatesService(
            self._database,
            CurrencyPlugins(self._registries, self._calls, self.error_reports.record),
            CurrencySettings(
                base=settings.text_of("INVENTREE_DEFAULT_CURRENCY"),
                codes=settings.text_of("CURRENCY_CODES"),
                plugin=settings.text_of("CURRENCY_UPDATE_PLUGIN"),
                days=settings.number_of("CURRENCY_UPDATE_INTERVAL"),
            ),
        )

    @cached_property
    def importing(self) -> Importing:
        """Files of rows that become records."""
        settings = self.settings
        return Importing(
            self._database,
            self.files,
            plugins=ImportPlugins(self._registries, self._calls, self._database),
            registries=self._registries,
            states=self.states,
            rights=self._rights,
            notifications=self.notifications,
            enqueue=self.enqueue,
            emit=self._emit,
            find_user=self._find_user,
            limits=ImportLimits(
                megabytes=settings.number_of("IMPORT_MAX_FILE_MB"),
                rows=settings.number_of("IMPORT_MAX_ROWS"),
                columns=settings.number_of("IMPORT_MAX_COLUMNS"),
            ),
            days=settings.number_of("IMPORT_SESSION_DAYS"),
        )

    @cached_property
    def media(self) -> Media:
        """The stored files, for those who may read them."""
        rules = {
            "attachments/": any_user,
            DATA_OUTPUTS_FOLDER: self.exports.may_read,
            IMPORT_FOLDER: self.importing.files.may_read,
        }
        return Media(self.files, rules)

    def _tell_of_update(self, update: Update) -> None:
        self.notifications.tell(
            "superusers",
            category="plugin_update",
            name=f"{update.name} {update.available} is available",
            message=f"Version {update.installed} is installed.",
        )
