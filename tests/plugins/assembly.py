"""The registry with everything it needs, put together over a temporary folder."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from host.contract.services import Services
from host.contract.settings import Setting
from host.contract.values import Identity
from host.plugins.boot import BootGuard
from host.plugins.budget import ErrorBudget
from host.plugins.building import Builder
from host.plugins.calls import Calls
from host.plugins.convergence import Convergence
from host.plugins.discovery import Discovery
from host.plugins.lifecycle import Plugins
from host.plugins.loading import Loader
from host.plugins.manifests import Composer, ManifestStore
from host.plugins.probing import Limits, Probing
from host.plugins.records import Records
from host.plugins.registry import Registry
from host.plugins.reloading import Registries
from host.storage.engine import Database
from tests.databases import make_tables


class FakeServices:
    """What a plugin gets in these tests."""

    def __init__(self, identity: Identity, settings: Mapping[str, Setting]) -> None:
        self.identity = identity
        self.settings = settings
        self.log = logging.getLogger("plugin")


@dataclass
class Host:
    """One process's registry over a folder that others may share."""

    home: Path
    url: str
    kind: str = "web"
    mandatory: Sequence[str] = ()
    only_builtin: bool = False
    allows_records: bool = True
    database: Database = field(init=False)
    store: list[Path] = field(default_factory=list)
    packages: int = 0
    events: list[tuple[str, object, int | None]] = field(default_factory=list)
    forgotten: list[str] = field(default_factory=list)
    reports: list[tuple[str, str]] = field(default_factory=list)
    tables: list[tuple[str, Sequence[type]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.database = Database(self.url)
        make_tables(self.url)
        self.site = self.home / "site-packages"
        self.site.mkdir(parents=True, exist_ok=True)
        self.discovery = Discovery(
            store_folders=lambda: tuple(self.store),
            cache=self.home / "cache" / "discovery.json",
            environment=[self.site],
        )
        self.probing = Probing(
            store=ManifestStore(self.home / "manifests", host_version="1"),
            composer=Composer(mandatory=self.mandatory),
            environment=[self.site],
            limits=Limits(seconds=15),
        )
        self.budget = ErrorBudget(limit=2)
        self.calls = Calls(self._report, {"default": 10.0}, budget=self.budget)
        self.guard = BootGuard(self.home / "boot")
        self.loader = Loader(
            calls=self.calls,
            services_for=self._services,
            create_tables=self._create_tables,
            guard=self.guard,
            allows_records=lambda: self.allows_records,
        )
        self.convergence = Convergence(
            database=self.database, file=self.home / "registry.generation", kind=self.kind, node="here"
        )
        self.registries = Registries(
            builder=Builder(
                discovery=self.discovery, probing=self.probing, loader=self.loader, only_builtin=self.only_builtin
            ),
            records=Records(self.database),
            convergence=self.convergence,
            guard=self.guard,
            package_generation=lambda: self.packages,
        )
        self.budget.on_exhausted = self.registries.quarantine
        self.plugins = Plugins(
            registries=self.registries,
            convergence=self.convergence,
            emit=lambda _session, name, data, user: self.events.append((name, data, user)),
            forget=lambda _session, key: self.forgotten.append(key),
        )

    @property
    def current(self) -> Registry:
        """The registry in use."""
        return self.registries.current

    def object(self, key: str) -> object:
        """Return the object of a loaded plugin."""
        return self.current.loaded(key).object

    def errors(self) -> list[tuple[str, str]]:
        """Return stage and name of every registry error."""
        return [(one["stage"], one["name"]) for one in self.registries.status()["registry_errors"]]

    def close(self) -> None:
        """Stop, and give everything back."""
        self.registries.stop()
        self.database.close()

    def _report(self, path: str, info: str, data: str) -> None:
        del data
        self.reports.append((path, info))

    def _services(
        self, identity: Identity, settings: Mapping[str, Setting], user_settings: Mapping[str, Setting], /
    ) -> Services:
        del user_settings
        return FakeServices(identity, settings)  # type: ignore[return-value]  # as much of it as is used

    def _create_tables(self, key: str, models: Sequence[type]) -> None:
        self.tables.append((key, models))
