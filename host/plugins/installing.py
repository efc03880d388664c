"""Where plugins meet packages: what a package's plugins forbid, and what goes with a package that is removed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from pathlib import Path

from packaging.utils import canonicalize_name

from host.contract.values import User
from host.errors import InvalidInputError
from host.packages.install import Packages
from host.packages.operations import OnProgress
from host.packages.options import Outcome
from host.packages.requests import InstallRequest
from host.plugins.lifecycle import Plugins
from host.plugins.manifest import PluginManifest
from host.plugins.reloading import Registries, ReloadFlags


class PackageWatch:
    """What the packages area asks of the registry while it changes packages."""

    def __init__(self, registries: Callable[[], Registries]) -> None:
        self._registries = registries

    def inspect(self, folders: Sequence[Path], name: str) -> list[str]:
        """Say why a distribution must not be installed.

        Its plugins' keys belong to others or are malformed; or it replaces a plugin that is in use, and cannot be
        loaded. A new plugin that cannot be loaded is no reason: it is installed, and cannot be activated.
        """
        registries = self._registries()
        found = registries.inspect(folders, name)
        reasons = [failure.message for failure in found.clashes]
        if found.distribution is None:
            return reasons + [failure.message for failure in found.failures]
        declared = {plugin.key for plugin in found.plugins}
        in_use = set(registries.current.plugins)
        return reasons + [
            f"Plugin '{failure.name}' cannot be loaded ({failure.stage}): {failure.message}"
            for failure in found.failures
            if failure.name not in declared or failure.name in in_use
        ]

    def follow(self, _number: int) -> None:
        """Load the plugins of the package generation that is in force now, and store what became of them."""
        self._registries().reload(ReloadFlags(collect_plugins=True, full_reload=True))


class PluginPackages:
    """Installs and removes packages together with what the host keeps of their plugins.

    Args:
        packages: changes the installed packages.
        registries: knows which plugin came with which package.
        plugins: keeps the plugins' records.

    """

    def __init__(self, packages: Packages, registries: Registries, plugins: Plugins) -> None:
        self._packages = packages
        self._registries = registries
        self._plugins = plugins

    def install(
        self,
        request: InstallRequest,
        *,
        by: User | None = None,
        on_progress: OnProgress | None = None,
        operation_id: str | None = None,
    ) -> Outcome:
        """Install a package, or move it to another version.

        Warns of plugins in it that cannot be loaded, and of any plugin that was in use and is not any more.

        Raises:
            InvalidInputError: it was refused, and why; nothing was changed.
            BusyError: another operation is at work.
            UnavailableError: a file could not be read or written; nothing was changed.

        """
        before = set(self._registries.current.plugins)
        outcome = self._packages.install(request, by=by, on_progress=on_progress, operation_id=operation_id)
        lost = self._lost(before)
        warnings = [
            f"Plugin '{plugin.key}' cannot be activated ({plugin.failure.stage}): {plugin.failure.message}"
            for plugin in self.plugins_of(outcome.name)
            if plugin.failure is not None and plugin.key not in lost
        ]
        return replace(outcome, warnings=(*outcome.warnings, *warnings, *lost.values()))

    def uninstall_plugin(
        self, key: str, *, delete_config: bool = True, by: User | None = None, operation_id: str | None = None
    ) -> Outcome:
        """Remove the package that a plugin came with.

        Raises:
            NotFoundError: there is no such plugin.
            InvalidInputError: it, or another plugin of its package, is active; it is mandatory, came with the host, is
                not installed, or was installed by other means.
            BusyError: another operation is at work.

        """
        distribution = self._distribution_of(key)
        return self.uninstall(distribution, delete_config=delete_config, by=by, operation_id=operation_id)

    def uninstall(
        self,
        name: str,
        *,
        delete_config: bool = True,
        by: User | None = None,
        on_progress: OnProgress | None = None,
        operation_id: str | None = None,
    ) -> Outcome:
        """Remove a package by its name.

        Args:
            name: name of the distribution.
            delete_config: also remove the records of its plugins, with their settings.
            by: who asks.
            on_progress: told of each step.
            operation_id: for the record of the operation, where it was announced before.

        Raises:
            InvalidInputError: one of its plugins is active, or the package is not managed here.
            BusyError: another operation is at work.

        """
        plugins = self.plugins_of(canonicalize_name(name))
        active = sorted(plugin.key for plugin in plugins if self._registries.records.get(plugin.key).active)
        if active:
            keys = ", ".join(f"'{key}'" for key in active)
            raise InvalidInputError.of(f"{name} holds active plugins ({keys}). Deactivate them first.")
        outcome = self._packages.uninstall(name, by=by, on_progress=on_progress, operation_id=operation_id)
        if delete_config:
            for plugin in plugins:
                if plugin.key not in self._registries.current.known:
                    self._plugins.delete(plugin.key, by=by)
        return outcome

    def _lost(self, before: Collection[str]) -> dict[str, str]:
        """Say of each plugin that was in use before, and is installed, why it is not in use any more."""
        registry = self._registries.current
        return {
            failure.name: f"Plugin '{failure.name}' was in use and could not be loaded again ({failure.stage}): "
            f"{failure.message}"
            for failure in registry.failures
            if failure.name in before and failure.name not in registry.plugins
        }

    def plugins_of(self, distribution: str) -> list[PluginManifest]:
        """Return the plugins that came with a package, by its canonical name."""
        return [
            plugin
            for plugin in self._registries.current.known.values()
            if plugin.is_package and canonicalize_name(plugin.identity.distribution) == distribution
        ]

    def _distribution_of(self, key: str) -> str:
        stored = self._registries.records.get(key)
        plugin = self._registries.current.known.get(key)
        reason = None
        if stored.is_mandatory:
            reason = "is mandatory"
        elif plugin is None:
            reason = "is not installed"
        elif plugin.is_builtin or plugin.is_sample or not plugin.is_package:
            reason = "came with the host and has no package of its own"
        elif stored.active:
            reason = "is active; deactivate it first"
        if reason is not None or plugin is None:
            raise InvalidInputError.of(f"Plugin '{key}' cannot be uninstalled: it {reason}.")
        return plugin.identity.distribution
