"""The parts of the host that have to do with plugins, put together."""

from __future__ import annotations

import platform
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from host.assembly.ground import Ground
from host.contract.ui import NavigationItem
from host.mail.inbox import Inbox
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
from host.plugins.icons import Icons
from host.plugins.lifecycle import Plugins
from host.plugins.loading import Loader
from host.plugins.locate import Locate
from host.plugins.mail import MailPlugins
from host.plugins.manifests import Composer, ManifestStore
from host.plugins.models import prepare_tables
from host.plugins.probing import Limits, Probing
from host.plugins.records import Records
from host.plugins.reloading import Registries
from host.plugins.services import Notify, PluginServices
from host.plugins.settings import PluginSettings
from host.plugins.ui import UI
from host.records.scrubbing import scrub


@dataclass(frozen=True, slots=True, kw_only=True)
class Elsewhere:
    """What plugins need of parts that are put together later."""

    store_folders: Callable[[], Sequence[Path]]
    """Gives the folders of the installed packages."""
    package_generation: Callable[[], int]
    notify: Notify
    inbox: Callable[[], Inbox]
    on_quarantine: Callable[[str, str], object]


class PluginParts:
    """Everything that has to do with plugins.

    Args:
        ground: what all parts stand on.
        elsewhere: what is put together later.

    """

    def __init__(self, ground: Ground, elsewhere: Elsewhere) -> None:
        self._ground = ground
        self._elsewhere = elsewhere
        config, report, settings = ground.config, ground.report, ground.settings
        self.current = CurrentRegistry()
        self._budget = ErrorBudget(limit=config.hook_error_limit)
        self.calls = Calls(
            report,
            {"default": config.hook_deadline, **config.hook_deadlines},
            strict=config.strict,
            budget=self._budget,
            scrub=scrub,
        )
        self.events = Events(
            ground.database,
            self.current,
            self.calls,
            enabled=settings.flag_of("ENABLE_PLUGINS_EVENTS"),
            catch_up=self.follow,
        )
        self.settings = PluginSettings(
            ground.database,
            self.current,
            self.calls,
            ground.stored_settings,
            report=report,
            emit=self.events.emit,
            overrides=config.plugin_settings,
        )
        self._assemble_registry()
        self._assemble_families()

    def follow(self) -> None:
        """Take over what another process has changed."""
        if self.registries.is_stale():
            self.registries.catch_up()

    def has_record(self, key: str) -> bool:
        """Tell whether the host keeps a record of a plugin, installed or not."""
        return self.registries.records.exists(key)

    def _assemble_registry(self) -> None:
        ground = self._ground
        self.convergence = Convergence(
            database=ground.database,
            file=ground.home / "registry.generation",
            kind=ground.kind,
            node=platform.node(),
        )
        guard = BootGuard(ground.home / "boot")
        self.registries = Registries(
            builder=self._builder(guard),
            records=Records(ground.database),
            convergence=self.convergence,
            guard=guard,
            package_generation=self._elsewhere.package_generation,
        )
        self.current.follow(self.registries)
        self._budget.on_exhausted = self.registries.quarantine
        self.registries.on_quarantine = self._elsewhere.on_quarantine
        self.plugins = Plugins(
            registries=self.registries,
            convergence=self.convergence,
            emit=self.events.emit,
            forget=self.settings.forget,
        )
        self.follower = Follower(
            convergence=self.convergence,
            generation=lambda: self.registries.current.generation,
            catch_up=self.registries.catch_up,
        )

    def _assemble_families(self) -> None:
        config, report = self._ground.config, self._ground.report
        self.actions = Actions(self.registries, self.calls, report)
        self.locate = Locate(self.registries, self.calls)
        self.ui = UI(self.registries, self.calls, report, enabled=self._shows_features)
        self.icons = Icons(self.registries, self.calls, report)
        self.admin = Admin(self.registries, self.calls, report, has_record=self.has_record)
        self.accounts = AccountPlugins(self.current, self.calls, report)
        self.mail = MailPlugins(
            self.current,
            self.calls,
            report,
            seconds=config.hook_deadlines.get("mail", config.hook_deadline),
            enabled=self._ground.settings.flag_of("ENABLE_PLUGINS_MAILS"),
        )

    def _builder(self, guard: BootGuard) -> Builder:
        ground, config = self._ground, self._ground.config
        discovery = Discovery(
            store_folders=self._elsewhere.store_folders, cache=ground.home / "cache" / "discovery.json"
        )
        return Builder(
            discovery=discovery,
            probing=Probing(
                store=ManifestStore(ground.home / "manifests", host_version=ground.version),
                composer=Composer(mandatory=config.plugins_mandatory, samples=config.sample_plugins),
                environment=discovery.environment,
                limits=Limits(seconds=config.probe_timeout, memory=config.probe_memory_mb * 1024**2),
            ),
            loader=Loader(
                calls=self.calls,
                services_for=partial(
                    PluginServices,
                    database=ground.database,
                    settings=self.settings,
                    emit=self.events.emit,
                    notify=self._elsewhere.notify,
                    inbox=self._elsewhere.inbox,
                ),
                create_tables=lambda key, models: prepare_tables(ground.database, key, models),
                guard=guard,
                allows_records=partial(ground.settings.flag_now, "ENABLE_PLUGINS_APP"),
                seconds=config.probe_timeout,
            ),
            only_builtin=config.safe_mode or not config.plugins_enabled,
        )

    def _shows_features(self, feature_type: str) -> bool:
        settings = self._ground.settings
        is_allowed = feature_type != NavigationItem.feature_type or settings.flag("ENABLE_PLUGINS_NAVIGATION")
        return is_allowed and settings.flag("ENABLE_PLUGINS_INTERFACE")
