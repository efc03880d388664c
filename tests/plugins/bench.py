"""A registry of plugins that a test defines, without packages and discovery."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from host.contract.plugin import Plugin
from host.contract.services import Services
from host.contract.values import Identity, User
from host.plugins.budget import ErrorBudget
from host.plugins.calls import Calls
from host.plugins.manifest import PluginManifest
from host.plugins.registry import LoadedPlugin, Registry
from host.plugins.specs import new_manager

USER = User(id=7, username="ada")


class Bench:
    """Gives the registry of some plugins, and keeps the error reports."""

    def __init__(self, deadline: float = 5.0) -> None:
        self.reports: list[tuple[str, str, str]] = []
        self.calls = Calls(self.report, {"default": deadline}, budget=ErrorBudget(limit=1000))
        self.current = Registry()

    def report(self, path: str, info: str, data: str) -> None:
        """Keep an error report."""
        self.reports.append((path, info, data))

    @property
    def reported(self) -> list[str]:
        """Paths of the error reports so far."""
        return [path for path, _, _ in self.reports]

    def load(
        self, plugins: Mapping[str, object], *, services_for: Any = None, inactive: Sequence[str] = ()
    ) -> Registry:
        """Make a registry of these plugins the one in force."""
        manager = new_manager()
        loaded = {key: self._loaded(key, plugin, services_for) for key, plugin in plugins.items()}
        for key, plugin in plugins.items():
            manager.register(plugin, name=key)
        names = {name for plugin in loaded.values() for name in plugin.actions}
        self.current = Registry(
            generation=self.current.generation + 1,
            known={key: _manifest(key) for key in (*plugins, *inactive)},
            plugins=loaded,
            hooks=self.calls.table(manager, list(plugins)),
            actions={name: tuple(key for key, plugin in loaded.items() if name in plugin.actions) for name in names},
        )
        return self.current

    def _loaded(self, key: str, plugin: object, services_for: Any) -> LoadedPlugin:
        def ask(hook: str, default: Any = ()) -> Any:
            function: Any = getattr(plugin, hook, None)
            return function() if hasattr(function, "plugyard_impl") else default

        settings = {one.key: one for one in ask("plugin_settings")}
        user_settings = {one.key: one for one in ask("user_settings")}
        services = cast("Services", SimpleNamespace())
        if services_for is not None:
            services = services_for(_manifest(key).identity, settings, user_settings)
            if isinstance(plugin, Plugin):
                plugin.bind(services)
        wants_events = hasattr(getattr(plugin, "on_event", None), "plugyard_impl")
        return LoadedPlugin(
            manifest=_manifest(key),
            object=plugin,
            services=services,
            settings=settings,
            user_settings=user_settings,
            actions=ask("action_names", (key,)),
            event_patterns=ask("event_patterns", ("*",)) if wants_events else (),
            routes=ask("routes"),
            scheduled_tasks=ask("scheduled_tasks"),
            import_targets=ask("import_targets"),
            static_folder=cast("Path | None", ask("static_folder", None)),
        )


def _manifest(key: str) -> PluginManifest:
    return PluginManifest(identity=Identity(key=key, name=key, title=key), entry_point=f"{key}:{key}")
