"""The assembled host: every service, made from the configuration and handed what it needs."""

from __future__ import annotations

import logging
import platform
import secrets
import uuid
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Any

from sqlalchemy.orm import Session

from host.about import DISTRIBUTION, installer, server_details, server_info
from host.accounts.administrators import CreatedAdministrator, ensure_administrator
from host.accounts.authenticate import Authenticate
from host.accounts.directory import Directory
from host.accounts.groups import Groups
from host.accounts.oauth.server import OAuth
from host.accounts.own_account import OwnAccount
from host.accounts.password_rules import PasswordRules
from host.accounts.passwords import Passwords
from host.accounts.rights import Rights
from host.accounts.services import SignIn
from host.accounts.sightings import Sightings
from host.accounts.tokens import Tokens
from host.accounts.users import Users
from host.config import Config
from host.contract.values import Json, User
from host.entrance import Entrance, Place
from host.errors import HostError
from host.packages.install import Packages
from host.packages.options import PackageCallbacks, PackageOptions
from host.packages.policy import Policy
from host.plugins.accounts import AccountPlugins
from host.plugins.actions import Actions
from host.plugins.admin import Admin
from host.plugins.boot import BootGuard
from host.plugins.budget import ErrorBudget
from host.plugins.building import Builder
from host.plugins.calls import Calls
from host.plugins.convergence import Convergence
from host.plugins.current import CurrentRegistry
from host.plugins.discovery import Discovery
from host.plugins.events import Events
from host.plugins.follower import Follower
from host.plugins.installing import PackageWatch, PluginPackages
from host.plugins.lifecycle import Plugins
from host.plugins.loading import Loader
from host.plugins.locate import Locate
from host.plugins.manifests import Composer, ManifestStore
from host.plugins.models import prepare_tables
from host.plugins.plugin_loop import stop_plugin_loop
from host.plugins.probing import Limits, Probing
from host.plugins.records import Records
from host.plugins.reloading import Registries
from host.plugins.services import PluginServices
from host.plugins.setting_store import SettingStore
from host.plugins.settings import PluginSettings
from host.plugins.ui import UI
from host.records.errors import ErrorReports
from host.storage.engine import Database
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

    """

    def __init__(self, config: Config, *, kind: str = "web", clock: Callable[[], datetime] = now) -> None:
        self.config = config
        self.clock = clock
        self.home = config.home.absolute()
        self.version = metadata.version(DISTRIBUTION)
        self.database = Database(config.database)
        self.error_reports = ErrorReports(self.database)
        self._assemble_accounts()
        self._assemble_plugins(kind)
        self._assemble_packages()
        self._assemble_entrance()
        self._is_open = False

    def _assemble_accounts(self) -> None:
        self._passwords = Passwords(
            time_cost=self.config.account_password_time_cost, memory_kib=self.config.account_password_memory_kib
        )
        self.users = Users(
            self.database,
            self._passwords,
            PasswordRules(min_length=self.config.account_password_min_length, ask=self._password_problems),
            username_blacklist=self.config.account_username_blacklist,
            emit=self._emit,
        )
        self.groups = Groups(self.database, emit=self._emit)
        self.tokens = Tokens(self.database, emit=self._emit, clock=self.clock)
        self.authenticate = Authenticate(
            self.database,
            self._passwords,
            sightings=Sightings(self.database, emit=self._emit, clock=self.clock),
            guard=lambda: self.sign_in.password_guard,
        )
        self.directory = Directory(self.database)
        self.rights = Rights(self.database, self._roles_of_models)
        self.own_account = OwnAccount(self.users, self.rights)

    def _assemble_plugins(self, kind: str) -> None:
        config, report = self.config, self.error_reports.record
        self._current = CurrentRegistry()
        budget = ErrorBudget(limit=config.hook_error_limit)
        self.calls = Calls(
            report,
            {"default": config.hook_deadline, **config.hook_deadlines},
            strict=config.strict,
            budget=budget,
        )
        self.events = Events(self.database, self._current, self.calls, catch_up=self._follow)
        self.plugin_settings = PluginSettings(
            self.database,
            self._current,
            self.calls,
            SettingStore(self.database, self.home / "settings.signal"),
            report=report,
            emit=self.events.emit,
            overrides=config.plugin_settings,
        )
        self._account_plugins = AccountPlugins(self._current, self.calls, report)
        self.convergence = Convergence(
            database=self.database, file=self.home / "registry.generation", kind=kind, node=platform.node()
        )
        guard = BootGuard(self.home / "boot")
        self.registries = Registries(
            builder=self._builder(guard),
            records=Records(self.database),
            convergence=self.convergence,
            guard=guard,
            package_generation=lambda: self.packages.current().number,
        )
        self._current.follow(self.registries)
        budget.on_exhausted = self.registries.quarantine
        self.plugins = Plugins(
            registries=self.registries,
            convergence=self.convergence,
            emit=self.events.emit,
            forget=self.plugin_settings.forget,
        )
        self.actions = Actions(self.registries, self.calls, report)
        self.locate = Locate(self.registries, self.calls)
        self.ui = UI(self.registries, self.calls, report)
        self.admin = Admin(self.registries, self.calls, report, has_record=self._has_record)
        self._follower = Follower(
            convergence=self.convergence,
            generation=lambda: self.registries.current.generation,
            catch_up=self.registries.catch_up,
        )

    def _builder(self, guard: BootGuard) -> Builder:
        config = self.config
        discovery = Discovery(store_folders=self._store_folders, cache=self.home / "cache" / "discovery.json")
        return Builder(
            discovery=discovery,
            probing=Probing(
                store=ManifestStore(self.home / "manifests", host_version=self.version),
                composer=Composer(mandatory=config.plugins_mandatory, samples=config.sample_plugins),
                environment=discovery.environment,
                limits=Limits(seconds=config.probe_timeout, memory=config.probe_memory_mb * 1024**2),
            ),
            loader=Loader(
                calls=self.calls,
                services_for=partial(
                    PluginServices, database=self.database, settings=self.plugin_settings, emit=self.events.emit
                ),
                create_tables=lambda key, models: prepare_tables(self.database, key, models),
                guard=guard,
                seconds=config.probe_timeout,
            ),
            only_builtin=config.safe_mode or not config.plugins_enabled,
        )

    def _assemble_packages(self) -> None:
        config = self.config
        watch = PackageWatch(lambda: self.registries)
        self.packages = Packages(
            self.database,
            PackageOptions(
                home=self.home,
                plugins_file=config.plugins_txt,
                policy=Policy(
                    install_disabled=config.plugins_install_disabled,
                    allow_vcs=config.plugins_allow_vcs,
                    allow_builds=config.plugins_allow_builds,
                ),
                index_url=config.index_url,
                find_links=config.find_links,
                pip_seconds=config.pip_timeout,
                keep_generations=config.plugins_keep_generations,
            ),
            PackageCallbacks(
                inspect=watch.inspect,
                on_switch=self._on_switch,
                after_switch=watch.follow,
                report=self.error_reports.record,
            ),
        )
        self.plugin_packages = PluginPackages(self.packages, self.registries, self.plugins)

    def _assemble_entrance(self) -> None:
        config = self.config
        self.entrance = Entrance(
            place=Place(
                instance=config.instance,
                site_url=config.site_url,
                home=self.home,
                secret_key=lambda: self.secret_key,
            ),
            options=config,
            mail=config,
            database=self.database,
            users=self.users,
            passwords=self._passwords,
            plugins=self._account_plugins,
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
            UnavailableError: the home folder or the database cannot be used.

        """
        self.home.mkdir(parents=True, exist_ok=True)
        _ = self.secret_key  # made before anything is signed with it
        migrate(self.database)
        _ = self.sign_in  # made now: its options may be wrong
        _LOG.info(self.packages.recover())
        self.registries.boot()
        self._is_open = True

    def start(self) -> None:
        """Open the host, and begin the work in the background."""
        self.open()
        self.events.start()
        self.entrance.start()
        self._follower.start()

    def close(self) -> None:
        """End the work in the background, stop the plugins and let go of the database."""
        self._follower.stop()
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
    def instance_id(self) -> str:
        """The identifier of this instance; made at the first use where none is configured."""
        return self.config.instance_id or keep(self.home / "instance.id", lambda: str(uuid.uuid4()))

    def server_info(self) -> dict[str, Any]:
        """Describe the server, for anybody; the shape is that of ``GET /api/``."""
        return server_info(self.config, self.registries.current) | {
            "version": self.version,
            "id": self.instance_id if self.config.announce_id else None,
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
        current = self.packages.current()
        if not all(folder.is_dir() for folder in current.folders):
            # Another machine has installed something; the wheels it kept may be within reach.
            try:
                return self.packages.materialise().folders
            except (HostError, OSError) as error:
                self.error_reports.record("packages:materialise", str(error))
        return current.folders

    def _on_switch(self, session: Session, number: int) -> None:
        self.convergence.bump(session, package_generation=number, full=True)
        self.events.emit(session, "packages.switched", {"generation": number})

    def _follow(self) -> None:
        if self.registries.is_stale():
            self.registries.catch_up()

    def _password_problems(self, password: str, user: User | None) -> list[str]:
        return self._account_plugins.password_problems(password, user)

    def _emit(self, session: Session, name: str, data: Mapping[str, Json], user_id: int | None = None) -> None:
        # The events are assembled after the accounts.
        self.events.emit(session, name, data, user_id)

    def _has_record(self, key: str) -> bool:
        return self.registries.records.exists(key)

    def _roles_of_models(self) -> Mapping[str, str]:
        return {name: model.role for name, model in self.registries.current.model_types.items()}
