"""Updates: which installed packages their index has newer versions of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from host.errors import HostError
from host.packages.install import Packages
from host.packages.requests import InstallRequest


@dataclass(frozen=True, slots=True)
class Update:
    """A newer version that could be installed beside everything else that is."""

    name: str
    """Canonical name of the package."""
    installed: str
    available: str


class UpdateCheck:
    """Looks for newer versions of the packages in the plugins file.

    Args:
        packages: knows what is installed, and finds out what installing would do.
        tell: is told of the updates that were found, if any.
        report: writes an error report (path, message).

    """

    def __init__(
        self,
        packages: Packages,
        *,
        tell: Callable[[Update], object],
        report: Callable[[str, str], object],
    ) -> None:
        self._packages = packages
        self._tell = tell
        self._report = report

    def run(self) -> list[Update]:
        """Ask the index about each package, tell of the updates, and return them; nothing is changed.

        A version that does not fit what else is installed is no update. What came from an address of its own is not
        asked about. It takes as long as pip does, once for each package.
        """
        found = []
        for name, installed in self._managed().items():
            try:
                plan = self._packages.plan(InstallRequest(packagename=name))
            except HostError as error:
                self._report("packages:update_check", f"Updates of {name} cannot be looked for: {error}")
                continue
            for change in plan.change:
                if change.name == name and change.version != installed:
                    update = Update(name, installed, change.version)
                    found.append(update)
                    self._tell(update)
        return found

    def _managed(self) -> dict[str, str]:
        number = self._packages.current().number
        if not number:
            return {}
        lock = self._packages.generation(number).lock
        return {one.name: one.version for one in lock if one.requested and not one.direct_url}
