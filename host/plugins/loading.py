"""Load plugins into this process, and build a registry of them."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol

import pluggy

from host.contract.plugin import Plugin
from host.contract.services import Services
from host.contract.settings import Setting
from host.contract.values import Identity
from host.errors import HostError
from host.plugins.boot import BootGuard
from host.plugins.calls import Calls, Implementation, PluginFailedError
from host.plugins.declarations import AFTER_START, DeclarationError, Declared, checked
from host.plugins.manifest import Failure, PluginManifest
from host.plugins.names import Names
from host.plugins.objects import DOING, explain, instantiate, resolve
from host.plugins.registry import LoadedPlugin, Registry
from host.plugins.specs import new_manager

_LOG = logging.getLogger("plugyard.plugins.loading")

_Hooks = Mapping[str, tuple[Implementation, ...]]


class ServicesFor(Protocol):
    """Makes what one plugin gets from the host."""

    def __call__(
        self, identity: Identity, settings: Mapping[str, Setting], user_settings: Mapping[str, Setting], /
    ) -> Services:
        """Return the services of the plugin that has declared these settings."""


CreateTables = Callable[[str, Sequence[type]], object]
"""Creates the tables of a plugin: its key, and its models. Raises a ``HostError`` where that cannot be done."""


class LoadError(Exception):
    """A plugin cannot be loaded; the text says why."""

    def __init__(self, stage: str, message: str) -> None:
        self.stage = stage
        super().__init__(message)


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What to build a registry from."""

    known: Mapping[str, PluginManifest]
    """In registry order."""
    keys: Collection[str]
    """The plugins to load."""
    failures: Sequence[Failure] = ()
    """What is known to be wrong beforehand."""
    reused: Mapping[str, LoadedPlugin] = field(default_factory=dict)
    """Plugins that stay as they are."""
    generation: int = 0


def _always() -> bool:
    return True


class Loader:
    """Loads plugins.

    Args:
        calls: asks plugins, within time limits.
        services_for: makes what a plugin gets from the host.
        create_tables: creates a plugin's tables.
        guard: is told which third-party plugin is being loaded.
        allows_records: whether plugins may bring tables, model types and status sets; those that come with the host
            always may.
        seconds: how long the import and the constructor of a plugin may take together.

    """

    def __init__(
        self,
        *,
        calls: Calls,
        services_for: ServicesFor,
        create_tables: CreateTables,
        guard: BootGuard | None = None,
        allows_records: Callable[[], bool] = _always,
        seconds: float = 20.0,
    ) -> None:
        self._calls = calls
        self._services_for = services_for
        self._create_tables = create_tables
        self._guard = guard
        self._allows_records = allows_records
        self._seconds = seconds

    def build(self, selection: Selection) -> Registry:
        """Build a registry; a plugin that fails is left out and becomes a failure of the registry."""
        failures = list(selection.failures)
        plugins: dict[str, LoadedPlugin] = {}
        names = Names()
        allows_records = self._allows_records()
        for key, manifest in selection.known.items():
            reused = selection.reused.get(key)
            if key not in selection.keys or (reused is None and manifest.failure is not None):
                continue
            try:
                with_records = allows_records or manifest.is_builtin
                plugin = self._load(manifest, with_records) if reused is None else self._kept(reused, with_records)
            except LoadError as error:
                failures.append(Failure(error.stage, key, str(error)))
                continue
            problem = names.take(plugin, plugins.values())
            if problem:
                failures.append(Failure("init", key, problem))
                if reused is None:
                    self._stop(key, self._hooks_of(key, plugin.object)["stop"])
            else:
                plugins[key] = plugin
        return self._assemble(selection, plugins, names, failures)

    def stop(self, registry: Registry, keys: Collection[str]) -> None:
        """Ask plugins to let go of what they took; a failure is reported, nothing more."""
        for key in keys:
            self._stop(key, [one for one in registry.hooks.get("stop", ()) if one.plugin == key])

    def refresh(self, registry: Registry) -> None:
        """Make a registry the one whose calls are counted, after another one was built and not used."""
        self._table(registry.plugins)

    def would_be_same(self, plugin: LoadedPlugin) -> bool:
        """Tell whether loading the plugin again would give the very same object: a module or an instance."""
        name, _, path = plugin.manifest.entry_point.partition(":")
        found: object = sys.modules.get(name)
        for part in filter(None, path.split(".")):
            found = getattr(found, part, None)
        return found is plugin.object

    def _kept(self, plugin: LoadedPlugin, with_records: bool) -> LoadedPlugin:  # noqa: FBT001 - one of two ways
        if with_records == (plugin.whole is None):
            return plugin
        if plugin.whole is None:
            return _without_records(plugin)
        try:
            self._create_tables(plugin.key, plugin.whole.models)
        except HostError as error:
            raise LoadError("init", str(error)) from error
        return plugin.whole

    def _load(self, manifest: PluginManifest, with_records: bool) -> LoadedPlugin:  # noqa: FBT001 - one of two ways
        key = manifest.key
        guarded = self._guard is not None and not manifest.is_builtin
        if self._guard is not None and guarded:
            self._guard.loading(key)
        try:
            self._calls.release(key)
            plugin = self._loaded(manifest, self._made(manifest), with_records)
        except PluginFailedError as error:
            raise LoadError("init", f"{error.hook} {error.message}") from error
        except DeclarationError as error:
            raise LoadError("init", f"{error}.") from error
        except HostError as error:
            raise LoadError("init", str(error)) from error
        finally:
            if self._guard is not None and guarded:
                self._guard.loading(None)
        return plugin if with_records else _without_records(plugin)

    def _made(self, manifest: PluginManifest) -> object:
        stage = "import"

        def make() -> object:
            nonlocal stage
            found = resolve(manifest.entry_point)
            stage = "init"
            return instantiate(found)

        try:
            return self._calls.apart(make, deadline=self._seconds, name=manifest.key)
        except PluginFailedError as error:
            raise LoadError(stage, f"{error.message} {DOING[stage]}") from error
        except Exception as error:
            _LOG.exception("Plugin %s cannot be loaded.", manifest.key)
            raise LoadError(stage, explain(error, stage)) from error

    def _loaded(self, manifest: PluginManifest, plugin: object, with_records: bool) -> LoadedPlugin:  # noqa: FBT001
        key = manifest.key
        hooks = self._hooks_of(key, plugin)
        answers = self._answers(hooks, ("plugin_settings", "user_settings"))
        settings = {setting.key: setting for setting in answers.get("plugin_settings", ())}
        user_settings = {setting.key: setting for setting in answers.get("user_settings", ())}
        services = self._services_for(manifest.identity, settings, user_settings)
        if isinstance(plugin, Plugin):
            self._calls.call(key, "bind", plugin.bind, services)
        answers |= self._answers(hooks, ("models",))
        if with_records and answers.get("models"):
            self._create_tables(key, answers["models"])
        if hooks["start"]:
            self._calls.ask_one(hooks["start"][0], services=services)
        try:
            answers |= self._answers(hooks, AFTER_START)
        except (PluginFailedError, DeclarationError):
            self._stop(key, hooks["stop"])
            raise
        return LoadedPlugin(
            manifest=manifest,
            object=plugin,
            services=services,
            settings=MappingProxyType(settings),
            user_settings=MappingProxyType(user_settings),
            actions=Declared.of(key, (name for name, found in hooks.items() if found), answers).actions,
            event_patterns=answers.get("event_patterns", ("*",)) if hooks["on_event"] else (),
            routes=answers.get("routes", ()),
            static_folder=answers["static_folder"] if "static_folder" in answers else _static_folder(manifest),
            models=answers.get("models", ()),
            model_types=answers.get("model_types", ()),
            status_sets=answers.get("status_sets", ()),
            scheduled_tasks=answers.get("scheduled_tasks", ()),
            import_targets=answers.get("import_targets", ()),
            export_formats=answers.get("export_formats", ()),
            export_options=answers.get("export_options", ()),
            export_lists=answers.get("export_lists", ("*",)),
        )

    def _answers(self, hooks: _Hooks, names: Sequence[str]) -> dict[str, Any]:
        asked = [(name, hooks[name][0]) for name in names if hooks[name]]
        return {name: checked(name, self._calls.ask_one(implementation)) for name, implementation in asked}

    def _hooks_of(self, key: str, plugin: object) -> _Hooks:
        manager = new_manager()
        try:
            manager.register(plugin, name=key)
        except (pluggy.PluginValidationError, ValueError) as error:
            raise LoadError("validate", str(error)) from error
        return self._calls.table(manager, [key])

    def _stop(self, key: str, implementations: Sequence[Implementation]) -> None:
        quarantined = key in self._calls.quarantined
        if implementations and quarantined:
            # Nothing else is asked of it, but what it holds it shall give back.
            self._calls.release(key)
        for implementation in implementations:
            try:
                self._calls.ask_one(implementation)
            except PluginFailedError as error:
                _LOG.warning("Plugin %s did not stop as it should: %s", key, error)
        if implementations and quarantined:
            self._calls.quarantine(key)

    def _table(self, plugins: Mapping[str, LoadedPlugin]) -> _Hooks:
        manager = new_manager()
        for key, plugin in plugins.items():
            manager.register(plugin.object, name=key)
        return self._calls.table(manager, list(plugins))

    def _assemble(
        self, selection: Selection, plugins: dict[str, LoadedPlugin], names: Names, failures: Sequence[Failure]
    ) -> Registry:
        return Registry(
            generation=selection.generation,
            known=MappingProxyType(dict(selection.known)),
            plugins=MappingProxyType(plugins),
            hooks=MappingProxyType(dict(self._table(plugins))),
            failures=tuple(failures),
            actions=MappingProxyType(_actions(plugins.values())),
            model_types=MappingProxyType(names.model_types),
            status_sets=MappingProxyType(names.status_sets),
        )


def _without_records(plugin: LoadedPlugin) -> LoadedPlugin:
    return replace(plugin, models=(), model_types=(), status_sets=(), import_targets=(), whole=plugin)


def _actions(plugins: Collection[LoadedPlugin]) -> dict[str, tuple[str, ...]]:
    names = {name for plugin in plugins for name in plugin.actions}
    return {name: tuple(sorted(plugin.key for plugin in plugins if name in plugin.actions)) for name in sorted(names)}


def _static_folder(manifest: PluginManifest) -> Path | None:
    file = getattr(sys.modules.get(manifest.entry_point.partition(":")[0]), "__file__", None)
    folder = Path(file).parent / "static" if file else None
    return folder if folder is not None and folder.is_dir() else None
