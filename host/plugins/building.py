"""Build a registry from what is installed, what is stored and what runs already."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from host.plugins import modules
from host.plugins.convergence import State
from host.plugins.discovery import Discovery, Found
from host.plugins.loading import Loader, Selection
from host.plugins.manifest import Distribution, EntryPoint, Failure, Manifest, PluginManifest
from host.plugins.manifests import arrange
from host.plugins.metadata import name_of
from host.plugins.probing import Inspection, Probing, Retry
from host.plugins.records import Wanted
from host.plugins.registry import LoadedPlugin, Registry

RESTART = "restart"
"""Stage of what a process can only take up when it is started again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReloadFlags:
    """What a reload shall do beyond looking at what is switched on."""

    collect_plugins: bool = False
    """Look for new distributions."""
    force_reload: bool = False
    """Rebuild even when nothing changed."""
    full_reload: bool = False
    """Import the modules of third-party plugins afresh."""

    def covers(self, other: ReloadFlags) -> bool:
        """Tell whether a reload with these flags does all that one with the others would do."""
        return (
            self.collect_plugins >= other.collect_plugins
            and self.force_reload >= other.force_reload
            and self.full_reload >= other.full_reload
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What is installed, as far as discovery and probes tell."""

    manifests: Sequence[Manifest]
    plugins: Mapping[str, PluginManifest]
    failures: Sequence[Failure]
    folders: tuple[Path, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A registry that was built aside."""

    registry: Registry
    flags: ReloadFlags
    state: State
    """The common state as it was before the registry was built."""
    restart_required: tuple[str, ...]

    @property
    def errors(self) -> tuple[Failure, ...]:
        """The failures that are the same in every process."""
        return tuple(failure for failure in self.registry.failures if failure.stage != RESTART)


class Builder:
    """Builds registries, one at a time.

    Args:
        discovery: finds distributions.
        probing: describes them.
        loader: loads plugins.
        only_builtin: loads built-in plugins only, as in safe mode.

    """

    def __init__(self, *, discovery: Discovery, probing: Probing, loader: Loader, only_builtin: bool = False) -> None:
        self.loader = loader
        self._discovery = discovery
        self._probing = probing
        self._only_builtin = only_builtin
        self._path = modules.StorePath()
        self._found: Found | None = None
        self._distributions: dict[str, Distribution] = {}
        self._former: set[str] = set()

    def look(self, flags: ReloadFlags, retry: Retry | None = None) -> Known:
        """Find out what is installed, probing what is new."""
        fresh = flags.force_reload or flags.full_reload
        if self._found is None or flags.collect_plugins or fresh:
            self._found = self._discovery.find(fresh=fresh)
        folders = self._discovery.store_folders()
        manifests = self._probing.manifests(self._found.distributions, folders, retry=retry)
        plugins, clashes = arrange(manifests)
        wrong = [plugin.failure for plugin in plugins.values() if plugin.failure is not None]
        return Known(
            manifests=manifests, plugins=plugins, failures=(*self._found.failures, *clashes, *wrong), folders=folders
        )

    def build(self, known: Known, flags: ReloadFlags, *, current: Registry, wanted: Wanted, state: State) -> Candidate:
        """Build a registry aside; the modules of third-party plugins are dropped first where that is due."""
        self._former |= set(self._path.folders)
        before = dict(self._distributions)
        distributions = {plugin.key: one.distribution for one in known.manifests for plugin in one.plugins}
        changed = {
            key
            for key, plugin in current.plugins.items()
            if key in known.plugins and known.plugins[key].fingerprint != plugin.manifest.fingerprint
        }
        compiled = {key for key in current.plugins if key in before and modules.has_loaded_extension(before[key])}
        held = changed & compiled
        restart = held | (_outdated(self._former, known.folders) - {name_of(before[key].info) for key in held})
        full = flags.full_reload or bool(changed - compiled)
        self._path.switch(known.folders)
        if full:
            modules.drop({*before.values(), *distributions.values()}, {*self._former, *self._path.folders})
        keys = {key for key, plugin in known.plugins.items() if self._is_wanted(plugin, wanted)}
        reused = {
            key: plugin
            for key, plugin in current.plugins.items()
            if key in keys and self._stays(plugin, known.plugins[key], flags, full=full, compiled=key in compiled)
        }
        notes = [Failure(RESTART, name, _restart_message(name)) for name in sorted(restart)]
        registry = self.loader.build(
            Selection(
                known=known.plugins,
                keys=keys,
                failures=(*known.failures, *notes),
                reused=reused,
                generation=state.generation,
            )
        )
        kept = {key: before[key] for key in registry.plugins if key in held}
        self._distributions = {**distributions, **kept}
        return Candidate(
            registry=_with_losses(registry, current),
            flags=replace(flags, full_reload=full),
            state=state,
            restart_required=tuple(sorted(restart)),
        )

    def inspect(self, folders: Sequence[Path], name: str, known: Mapping[str, PluginManifest]) -> Inspection:
        """Probe a distribution that is not installed yet."""
        return self._probing.inspect(folders, name, known)

    def rehearse(self, plugin: PluginManifest) -> str | None:
        """Find out whether a plugin's ``start`` ends or holds up the process that runs it."""
        if "start" not in plugin.hooks or not plugin.is_package:
            return None
        return self._probing.rehearse(EntryPoint(plugin.key, plugin.entry_point), self._discovery.store_folders())

    def close(self) -> None:
        """Take the store folders off ``sys.path``."""
        self._path.switch(())

    def _is_wanted(self, plugin: PluginManifest, wanted: Wanted) -> bool:
        if self._only_builtin and not plugin.is_builtin:
            return False
        return (plugin.is_mandatory or plugin.key in wanted.active) and not wanted.is_quarantined(plugin.key)

    def _stays(
        self, plugin: LoadedPlugin, manifest: PluginManifest, flags: ReloadFlags, *, full: bool, compiled: bool
    ) -> bool:
        if compiled:
            # Its modules cannot be loaded twice.
            return True
        if manifest.failure or manifest.fingerprint != plugin.manifest.fingerprint or (full and manifest.is_package):
            return False
        return not flags.force_reload or self.loader.would_be_same(plugin)


def reprobed(keys: Collection[str]) -> Retry:
    """Probe the distributions again that hold one of these plugins."""
    return lambda distribution, _age: any(entry.key in keys for entry in distribution.entry_points)


def older_than(seconds: float) -> Retry:
    """Probe again what failed longer ago than this."""
    return lambda _distribution, age: age >= seconds


def _outdated(former: Collection[str], folders: Sequence[Path]) -> set[str]:
    """Name distributions of the store that have changed while a compiled module of theirs is loaded."""
    left = [Path(folder) for folder in set(former) - {os.path.realpath(folder) for folder in folders}]
    gone = {name for folder in left if modules.has_extension_from(folder) for name in _names_in(folder)}
    return gone & {name for folder in folders for name in _names_in(folder)} if gone else set()


def _names_in(folder: Path) -> set[str]:
    try:
        return {name_of(path) for path in folder.iterdir() if path.suffix == ".dist-info"}
    except OSError:
        return set()


def _restart_message(name: str) -> str:
    return f"'{name}' holds compiled modules that a running process cannot replace: restart required."


def _with_losses(registry: Registry, current: Registry) -> Registry:
    """Say of each plugin that ran until now and failed that it no longer runs."""
    failures = tuple(
        replace(failure, message=f"{failure.message} The plugin is not loaded any more.")
        if failure.name in current.plugins and failure.name not in registry.plugins
        else failure
        for failure in registry.failures
    )
    return replace(registry, failures=failures)
