"""Which version of the host runs, from where, and what to read about it."""

from __future__ import annotations

import platform
import re
from collections.abc import Mapping
from functools import cached_property
from importlib import metadata
from pathlib import Path
from typing import Any, Final

from packaging.version import InvalidVersion, Version

from host.release.changes import interface_changes
from host.release.checkout import Commit, checked_out

_SHORT_HASH: Final = 7
_ROOT: Final = Path(__file__).parents[2]
# Label of an address in the metadata, in small letters without anything between them.
_CODE: Final = ("source", "sourcecode", "repository", "code", "github")
_DOCUMENTATION: Final = ("documentation", "docs", "doc")
_BUGS: Final = ("issues", "bugtracker", "issuetracker", "bugs", "tracker")


class Release:
    """Tells of the program that runs.

    Args:
        distribution: name of the host's own distribution.
        version: its version when this process started.
        api_version: version of the interface.
        root: the folder that may be a checkout.

    """

    def __init__(self, distribution: str, version: str, api_version: int, *, root: Path = _ROOT) -> None:
        self._distribution = distribution
        self._version = version
        self._api_version = api_version
        self._root = root

    def about(self, documentation: str) -> dict[str, Any]:
        """Describe the version, in the shape of ``GET /api/version/``.

        Args:
            documentation: address to read of the interface, where the distribution names none.

        """
        commit, links = self._commit, self._links
        return {
            "dev": self._is_in_development,
            "up_to_date": self._is_newest_known,
            "version": {
                "server": self._version,
                "api": self._api_version,
                "commit_hash": commit.hash[:_SHORT_HASH] if commit else None,
                "commit_date": commit.date.isoformat() if commit and commit.date else None,
                "commit_branch": commit.branch if commit else None,
                "python": platform.python_version(),
            },
            "links": {
                "doc": _first(links, _DOCUMENTATION) or documentation,
                "code": _first(links, _CODE),
                "bug": _first(links, _BUGS),
            },
        }

    def changes(self) -> dict[str, dict[str, Any]]:
        """Return what changed in the interface, by version, newest first."""
        return {
            f"v{change.api}": {
                "version": f"v{change.api}",
                "date": change.date.isoformat() if change.date else None,
                "gh": None,
                "text": list(change.text),
                "latest": change.api == self._api_version,
            }
            for change in interface_changes()
        }

    @cached_property
    def _commit(self) -> Commit | None:
        return checked_out(self._root)

    @property
    def _is_in_development(self) -> bool:
        version = _parsed(self._version)
        return self._commit is not None or version is None or version.is_prerelease

    @property
    def _is_newest_known(self) -> bool:
        # A newer one may have been installed since this process started, which then waits to be started again.
        try:
            installed = _parsed(metadata.version(self._distribution))
        except metadata.PackageNotFoundError:
            return True
        running = _parsed(self._version)
        return installed is None or running is None or installed <= running

    @cached_property
    def _links(self) -> Mapping[str, str]:
        try:
            headers = metadata.metadata(self._distribution)
        except metadata.PackageNotFoundError:
            return {}
        found: dict[str, str] = {}
        for line in headers.get_all("Project-URL") or ():
            label, _, url = str(line).partition(",")
            found.setdefault(re.sub(r"[^a-z]", "", label.lower()), url.strip())
        return found


def _first(links: Mapping[str, str], labels: tuple[str, ...]) -> str | None:
    return next((links[label] for label in labels if links.get(label)), None)


def _parsed(text: str) -> Version | None:
    try:
        return Version(text)
    except InvalidVersion:
        return None
