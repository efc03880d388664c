"""The assembled host: every service, made from the configuration and handed what it needs."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from sqlalchemy.orm import Session

from host.about import API_VERSION, DISTRIBUTION, installer, server_details, server_info
from host.accounts.administrators import CreatedAdministrator, ensure_administrator
from host.accounts.live_options import live_options
from host.accounts.oauth.server import OAuth
from host.accounts.services import SignIn
from host.assembly.accounts import AccountNeeds, AccountParts
from host.assembly.ground import Ground
from host.assembly.notices import Notices
from host.assembly.packages import PackageParts
from host.assembly.plugins import Elsewhere, PluginParts
from host.assembly.settings import SettingNeeds, make_global_settings
from host.assembly.tasks import make_tasks
from host.config import Config
from host.contract.values import Json, User
from host.entrance import Entrance, Place
from host.plugins.convergence import COMMAND
from host.plugins.discovery import host_path
from host.plugins.plugin_loop import stop_plugin_loop
from host.record_services import RecordServices
from host.records.errors import ErrorReports
from host.release.licences import LicenceReader
from host.release.release import Release
from host.settings.store import SettingStore
from host.settings.user_settings import UserSettings
from host.storage.engine import Database
from host.storage.files import FileStore
from host.storage.kept_texts import keep
from host.storage.migrate import migrate
from host.storage.tables import now

_LOG = logging.getLogger("plugyard")


class Host:
    """Every service of the host, assembled.

    Making one opens nothing. :meth:`open` brings the database up to date and loads the plugins, which is all that a
    command needs; :meth:`start` begins the work in the background besides, as a server needs it.

    Args:
        config: what the administrator has set.
        kind: what this process is for, as shown in the registry status.
        clock: the present moment, for accounts.
        runs_tasks: whether it runs background tasks once it has started; of several web processes with the same home
            folder, one does.

    """

    def __init__(
        self, config: Config, *, kind: str = "web", clock: Callable[[], datetime] = now, runs_tasks: bool = False
    ) -> None:
        self.config, self.clock = config, clock
        self._kind, self._runs_tasks = kind, runs_tasks
        self.home = config.home.absolute()
        self.version = metadata.version(DISTRIBUTION)
        self.database = Database(config.database)
        self.error_reports = ErrorReports(self.database)
        self.uploads = self.home / "tmp"
        """Folder where uploads wait while they are received."""
        self.files = FileStore(self.home / "files", config.files_url.get_secret_value())
        self._assemble_settings()
        self._assemble_accounts()
        self._assemble_plugins()
        self._assemble_entrance()
        self.tasks = make_tasks(self._ground, self._plugins, lambda: self.records)
        environment = host_path()  # as it is before any package joins it
        self.licences = LicenceReader(
            self.registries, lambda: (*environment, *self._packages.store_folders()), host=DISTRIBUTION
        )
        self.release = Release(DISTRIBUTION, self.version, API_VERSION)
        self.records = RecordServices(
            database=self.database,
            files=self.files,
            error_reports=self.error_reports,
            enqueue=self.tasks.enqueue,
            registries=self.registries,
            calls=self.calls,
            rights=self.rights,
            emit=self._emit,
            settings=self.global_settings,
            packages=self.packages,
            mailer=lambda: self.entrance.mailer,
            find_user=self.users.user,
            scratch=self.uploads,
            news_url=config.news_url.get_secret_value(),
        )
        self.error_reports.on_new = self._notices.error
        self._is_open = False

    def _assemble_settings(self) -> None:
        self._stored_settings = SettingStore(self.database, self.home / "settings.signal")
        self.global_settings = make_global_settings(
            self.config,
            self.home,
            self.database,
            self._stored_settings,
            SettingNeeds(
                groups=lambda: self.groups,
                registry=lambda: self.registries.current,
                reload=self._reload_plugins,
                emit=self._emit,
                report=self.error_reports.record,
            ),
        )
        self.user_settings = UserSettings(self.database, self._stored_settings, emit=self._emit)

    def _assemble_accounts(self) -> None:
        parts = AccountParts(
            self.config,
            self.database,
            AccountNeeds(
                emit=self._emit,
                clock=self.clock,
                password_problems=self._password_problems,
                password_guard=lambda: self.sign_in.password_guard,
                roles_of_models=self._roles_of_models,
            ),
        )
        self._passwords, self.users, self.groups, self.tokens = parts.passwords, parts.users, parts.groups, parts.tokens
        self.authenticate, self.directory = parts.authenticate, parts.directory
        self.rights, self.own_account = parts.rights, parts.own_account

    def _assemble_plugins(self) -> None:
        self._ground = ground = Ground(
            config=self.config,
            home=self.home,
            version=self.version,
            kind=self._kind,
            database=self.database,
            files=self.files,
            settings=self.global_settings,
            stored_settings=self._stored_settings,
            report=self.error_reports.record,
        )
        self._notices = Notices(lambda: self.records.notifications)
        self._plugins = parts = PluginParts(
            ground,
            Elsewhere(
                store_folders=self._store_folders,
                package_generation=lambda: self.packages.current().number,
                notify=self._notices.of_plugin,
                inbox=lambda: self.entrance.mailer.inbox,
                on_quarantine=self._notices.quarantine,
            ),
        )
        self.calls, self.events, self.plugin_settings = parts.calls, parts.events, parts.settings
        self.convergence, self.registries, self.plugins = parts.convergence, parts.registries, parts.plugins
        self.actions, self.locate, self.admin = parts.actions, parts.locate, parts.admin
        self.ui, self.icons = parts.ui, parts.icons
        self._packages = PackageParts(ground, parts)
        self.packages, self.plugin_packages = self._packages.packages, self._packages.plugin_packages

    def _assemble_entrance(self) -> None:
        config = self.config
        self.entrance = Entrance(
            place=Place(
                instance=lambda: self.instance,
                site_url=config.site_url,
                home=self.home,
                secret_key=lambda: self.secret_key,
            ),
            options=live_options(config, self.global_settings),
            mail=config,
            database=self.database,
            users=self.users,
            passwords=self._passwords,
            plugins=self._plugins.accounts,
            couriers=self._plugins.mail,
            emit=self.events.emit,
            report=self.error_reports.record,
            clock=self.clock,
        )

    @property
    def sign_in(self) -> SignIn:
        """What signs people in, and all they do with their accounts."""
        return self.entrance.sign_in

    @property
    def oauth(self) -> OAuth:
        """The authorization server."""
        return self.entrance.oauth

    # -- life ---------------------------------------------------------------------------------------------------

    def open(self) -> None:
        """Bring the database up to date, put the packages in order and load the plugins.

        Raises:
            UnavailableError: the home folder, the place for files or the database cannot be used.

        """
        self.uploads.mkdir(parents=True, exist_ok=True)
        _ = self.secret_key  # made before anything is signed with it
        self.files.prepare()
        migrate(self.database)
        self.global_settings.settle()
        _ = self.sign_in  # made now: its options may be wrong
        _LOG.info(self.packages.recover())
        if self._kind != COMMAND and self.global_settings.flag("PLUGIN_ON_STARTUP"):
            self._packages.follow_plugins_file()
        self.registries.boot()
        self._is_open = True

    def start(self) -> None:
        """Open the host, and begin the work in the background."""
        self.open()
        self.events.start()
        self.entrance.start()
        self._plugins.follower.start()
        self.tasks.start(run=self._runs_tasks, one_of_many=self._kind == "web")

    def close(self) -> None:
        """End the work in the background, stop the plugins and let go of the database."""
        self.tasks.stop()
        self._plugins.follower.stop()
        self.events.stop()
        if self._is_open:
            self._is_open = False
            self.entrance.stop()
            self.registries.stop()
            self.authenticate.flush()
        stop_plugin_loop()
        self.error_reports.stop()
        self.database.close()

    def ensure_administrator(self) -> CreatedAdministrator | None:
        """Make the first account, an administrator, if there is no account at all."""
        config = self.config
        password = config.admin_password.get_secret_value() or None
        return ensure_administrator(
            self.database, self._passwords, config.admin_user, password, config.admin_email, rules=self.users.rules
        )

    # -- what the host knows of itself ----------------------------------------------------------------------------

    @property
    def route_deadline(self) -> float:
        """Seconds until a plugin's own endpoint has to begin its answer."""
        return self.config.hook_deadlines.get("urls", self.config.hook_deadline)

    @property
    def secret_key(self) -> str:
        """The key that signatures are made with; made at the first use where none is configured."""
        return self.config.secret_key.get_secret_value() or keep(self.home / "secret.key", secrets.token_urlsafe)

    @property
    def instance(self) -> str:
        """The name of this instance, as people see it."""
        return self.global_settings.text("INVENTREE_INSTANCE")

    @property
    def instance_id(self) -> str:
        """The identifier of this instance; made at the first use where none is set."""
        return self.global_settings.text("INVENTREE_INSTANCE_ID")

    def server_info(self) -> dict[str, Any]:
        """Describe the server, for anybody; the shape is that of ``GET /api/``."""
        return server_info(self.config, self.registries.current, self.global_settings, self.tasks.in_short()) | {
            "version": self.version,
            "id": self.instance_id if self.global_settings.flag("INVENTREE_ANNOUNCE_ID") else None,
        }

    def server_details(self) -> dict[str, Any]:
        """Describe what only the staff may know of the server."""
        return server_details(self.database)

    @property
    def installer(self) -> str:
        """How the host itself was installed: ``pip``, ``editable`` or ``container``."""
        return installer()

    # -- inside ---------------------------------------------------------------------------------------------------

    def _store_folders(self) -> Sequence[Path]:
        # The packages are assembled after the plugins.
        return self._packages.store_folders()

    def _reload_plugins(self) -> None:
        self.registries.reload()

    def _password_problems(self, password: str, user: User | None) -> list[str]:
        return self._plugins.accounts.password_problems(password, user)

    def _emit(self, session: Session, name: str, data: Mapping[str, Json], user_id: int | None = None) -> None:
        # The events are assembled after the accounts.
        self.events.emit(session, name, data, user_id)

    def _roles_of_models(self) -> Mapping[str, str]:
        return {name: model.role for name, model in self.registries.current.model_types.items()}
