"""The registry: an immutable picture of the plugins that the host knows and of those it has loaded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from host.contract.exports import ExportFormat, ExportOption
from host.contract.imports import ImportTarget
from host.contract.models import ModelType, StatusSet
from host.contract.schedules import ScheduledTask
from host.contract.settings import Setting
from host.errors import NotFoundError
from host.plugins.manifest import Failure, PluginManifest

if TYPE_CHECKING:
    from host.contract.services import Services
    from host.plugins.calls import Implementation


def _nothing() -> Mapping[str, Any]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LoadedPlugin:
    """An active plugin: its object, and what it answered when it was loaded."""

    manifest: PluginManifest
    object: object
    """The instance or module that carries the hook implementations."""
    services: Services
    settings: Mapping[str, Setting] = field(default_factory=dict)
    user_settings: Mapping[str, Setting] = field(default_factory=dict)
    actions: Sequence[str] = ()
    event_patterns: Sequence[str] = ()
    """Empty when the plugin has no ``on_event``; ``("*",)`` when it wants everything."""
    routes: Sequence[Any] = ()
    static_folder: Path | None = None
    models: Sequence[type] = ()
    model_types: Sequence[ModelType] = ()
    status_sets: Sequence[StatusSet] = ()
    scheduled_tasks: Sequence[ScheduledTask] = ()
    import_targets: Sequence[ImportTarget] = ()
    export_formats: Sequence[ExportFormat] = ()
    export_options: Sequence[ExportOption] = ()
    export_lists: Sequence[str] = ("*",)
    """Names of the lists that it exports; ``*`` for all."""
    whole: LoadedPlugin | None = None
    """The plugin with its records (models, model types, status sets, import targets), where these are left out because
    nobody may see them."""

    @property
    def key(self) -> str:
        """The plugin's key."""
        return self.manifest.key


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, weakref_slot=True)
class Registry:
    """One generation of the registry. A request keeps the one it started with."""

    generation: int = 0
    known: Mapping[str, PluginManifest] = field(default_factory=_nothing)
    """Every installed plugin, active or not, in registry order: built-in, sample, then the others, each by key."""
    plugins: Mapping[str, LoadedPlugin] = field(default_factory=_nothing)
    """The loaded ones, in the same order."""
    hooks: Mapping[str, tuple[Implementation, ...]] = field(default_factory=_nothing)
    """Hook name → implementations, in the order to ask them."""
    failures: tuple[Failure, ...] = ()
    actions: Mapping[str, tuple[str, ...]] = field(default_factory=_nothing)
    """Action name → keys of the plugins that perform it."""
    model_types: Mapping[str, ModelType] = field(default_factory=_nothing)
    status_sets: Mapping[str, StatusSet] = field(default_factory=_nothing)

    def with_mixin(self, key: str) -> list[PluginManifest]:
        """Describe the loaded plugins that implement hooks of a family."""
        return [plugin.manifest for plugin in self.plugins.values() if key in plugin.manifest.mixins]

    def loaded(self, key: str) -> LoadedPlugin:
        """Return a loaded plugin.

        Raises:
            NotFoundError: no active plugin has this key.

        """
        try:
            return self.plugins[key]
        except KeyError:
            msg = f"No active plugin has the key '{key}'. Install or activate it first."
            raise NotFoundError(msg) from None
