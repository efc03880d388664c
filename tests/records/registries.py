"""Registries as they would be with certain plugins, without any plugin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from host.contract.models import ModelType, StatusSet
from host.contract.values import Identity
from host.plugins.manifest import PluginManifest
from host.plugins.registry import LoadedPlugin, Registry


@dataclass
class FixedRegistry:
    """Gives a registry; a test puts another one in its place."""

    current: Registry


def loaded(
    key: str,
    *,
    model_types: Sequence[ModelType] = (),
    models: Sequence[type] = (),
    status_sets: Sequence[StatusSet] = (),
    static_folder: Path | None = None,
    distribution: str = "",
    is_builtin: bool = False,
) -> LoadedPlugin:
    """Return a loaded plugin that declares some things."""
    identity = Identity(key=key, name=key.title(), title=key.title(), distribution=distribution)
    services: Any = None
    return LoadedPlugin(
        manifest=PluginManifest(
            identity=identity, entry_point=key, is_builtin=is_builtin, is_package=bool(distribution)
        ),
        object=key,
        services=services,
        model_types=model_types,
        models=models,
        status_sets=status_sets,
        static_folder=static_folder,
    )


def registry_of(*plugins: LoadedPlugin) -> Registry:
    """Return a registry of some plugins; as in a real one, the first of a name counts."""
    model_types = {one.name: one for plugin in reversed(plugins) for one in plugin.model_types}
    status_sets = {one.name: one for plugin in reversed(plugins) for one in plugin.status_sets}
    return Registry(
        generation=1, plugins={one.key: one for one in plugins}, model_types=model_types, status_sets=status_sets
    )
