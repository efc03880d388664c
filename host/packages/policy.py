"""What may be installed: one set of rules for the API, the command line and the plugins file."""

from __future__ import annotations

from dataclasses import dataclass

from host.errors import InvalidInputError
from host.packages.masking import mask
from host.packages.sources import Source, problem_with_vcs, source_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """The administrator's rules."""

    install_disabled: bool = False
    """Nothing is installed, changed or removed."""
    allow_vcs: bool = False
    """Packages may come from version control, which builds them."""
    allow_builds: bool = False
    """Packages may be built from archives of sources and from local folders."""

    def check_enabled(self) -> None:
        """Refuse everything while installing is switched off.

        Raises:
            InvalidInputError: it is.

        """
        if self.install_disabled:
            raise InvalidInputError.of(
                "Installing is switched off on this server (plugins_install_disabled); plugins cannot be changed."
            )

    def refusal(self, url: str) -> str | None:
        """Return why a package may not come from an address, else None."""
        match source_of(url):
            case Source.VCS if problem := problem_with_vcs(url):
                return problem
            case Source.VCS if not self.allow_vcs:
                return f"{mask(url)}: packages from version control are not allowed here; install a wheel."
            case Source.SDIST | Source.FOLDER if not self.allow_builds:
                return f"{mask(url)} would be built from source, which is not allowed here; install a wheel."
            case _:
                return None
