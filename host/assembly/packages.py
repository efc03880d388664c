"""The parts of the host that have to do with packages, put together."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path

from sqlalchemy.orm import Session

from host.assembly.ground import Ground
from host.assembly.plugins import PluginParts
from host.errors import BusyError, HostError
from host.packages.install import Packages
from host.packages.options import PackageCallbacks, PackageOptions
from host.packages.policy import Policy
from host.packages.wheels import SharedWheels
from host.plugins.installing import PackageWatch, PluginPackages

_LOG = logging.getLogger("plugyard")


class PackageParts:
    """Everything that has to do with packages.

    Args:
        ground: what all parts stand on.
        plugins: the parts that follow what is installed.

    """

    def __init__(self, ground: Ground, plugins: PluginParts) -> None:
        self._report = ground.report
        self._plugins = plugins
        config = ground.config
        watch = PackageWatch(lambda: plugins.registries)
        self.packages = Packages(
            ground.database,
            PackageOptions(
                home=ground.home,
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
                inspect=watch.inspect, on_switch=self._on_switch, after_switch=watch.follow, report=ground.report
            ),
            wheels=SharedWheels(ground.files, ground.home / "cache" / "wheels")
            if config.files_url.get_secret_value()
            else None,
        )
        self.plugin_packages = PluginPackages(self.packages, plugins.registries, plugins.plugins)

    def store_folders(self) -> Sequence[Path]:
        """Return the folders of the installed packages; those that are missing on this machine are made first."""
        current = self.packages.current()
        if not all(folder.is_dir() for folder in current.folders):
            # Another machine has installed something; the wheels it kept may be within reach.
            try:
                return self.packages.materialise().folders
            except (HostError, OSError) as error:
                self._report("packages:materialise", str(error), "")
        return current.folders

    def follow_plugins_file(self) -> None:
        """Install what the plugins file says, where that is not installed; what fails is reported."""
        try:
            if not self.packages.follows_file():
                _LOG.info(self.packages.sync().result)
        except BusyError as error:
            _LOG.info("Another process is following the plugins file: %s", error)
        except (HostError, OSError) as error:
            # What is installed serves all the same.
            _LOG.warning("The plugins file could not be followed at the start: %s", error)
            self._report("packages:startup", str(error), "")

    def _on_switch(self, session: Session, number: int) -> None:
        self._plugins.convergence.bump(session, package_generation=number, full=True)
        self._plugins.events.emit(session, "packages.switched", {"generation": number})
