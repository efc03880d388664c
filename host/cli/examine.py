"""Look at a plugin package as the host would, before it is installed anywhere."""

from __future__ import annotations

import platform
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import distributions, version
from pathlib import Path

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.tags import sys_tags
from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename

from host.cli.output import CommandError
from host.contract.markers import ENTRY_POINT_GROUP
from host.packages.environment import HostEnvironment
from host.packages.pip_process import Pip
from host.packages.unpack import WheelContent, inspect_wheel, unpack_wheel
from host.plugins.discovery import Discovery, host_path
from host.plugins.manifest import Failure, PluginManifest
from host.plugins.manifests import Composer, ManifestStore
from host.plugins.probing import Probing

_LAST_LINES = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Examination:
    """What the host would see in a package."""

    name: str
    version: str
    plugins: Sequence[PluginManifest]
    problems: Sequence[Failure]

    def document(self) -> dict[str, object]:
        """Return the examination as JSON."""
        return {
            "name": self.name,
            "version": self.version,
            "plugins": [
                {
                    "key": plugin.key,
                    "title": plugin.identity.title,
                    "description": plugin.identity.description,
                    "author": plugin.identity.author,
                    "website": plugin.identity.website,
                    "license": plugin.identity.license,
                    "entry_point": plugin.entry_point,
                    "hooks": plugin.hooks,
                    "unmarked": plugin.unmarked,
                    "mixins": plugin.mixins,
                    "actions": plugin.actions,
                    "settings": plugin.settings,
                    "user_settings": plugin.user_settings,
                }
                for plugin in self.plugins
            ],
            "problems": self.problems,
        }


def examine(path: Path, *, isolated: bool) -> Examination:
    """Examine a wheel, or the wheel that is built from a project.

    Args:
        path: a wheel, or the folder that holds a project's ``pyproject.toml``.
        isolated: build in an environment of its own, into which pip installs what the build needs.

    Raises:
        CommandError: there is nothing to examine, or the project cannot be built.
        PackageRefusedError: the wheel is broken.

    """
    with tempfile.TemporaryDirectory(prefix="plugyard-check-") as temporary:
        folder = Path(temporary)
        wheel = path if path.is_file() else _build(path, folder / "wheels", isolated=isolated)
        content = inspect_wheel(wheel)
        unpacked = folder / "package"
        unpack_wheel(wheel, unpacked, direct_url={}, requested=True)
        problems = [*_python_problems(unpacked, content.name)]
        problems += _installing_problems(wheel, content, HostEnvironment(folder))
        plugins: Sequence[PluginManifest] = ()
        if ENTRY_POINT_GROUP not in content.entry_points:
            message = f"It declares no plugin: add [project.entry-points.{ENTRY_POINT_GROUP}] to pyproject.toml."
            problems.append(Failure("discovery", content.name, message))
        else:
            plugins, found = _probe(unpacked, content.name, folder / "manifests")
            problems += found
        return Examination(name=content.name, version=content.version, plugins=plugins, problems=problems)


def _build(project: Path, folder: Path, *, isolated: bool) -> Path:
    if not any((project / name).is_file() for name in ("pyproject.toml", "setup.py")):
        msg = f"{project} is neither a wheel nor the folder of a project: there is no pyproject.toml in it."
        raise CommandError(msg)
    arguments = ["wheel", "--no-deps", "--wheel-dir", str(folder)]
    arguments += [] if isolated else ["--no-build-isolation"]
    run = Pip(allow_builds=True).run([*arguments, "--", str(project.absolute())], on_line=lambda _line: None)
    wheels = sorted(folder.glob("*.whl"))
    if run.code != 0 or len(wheels) != 1:
        lines = [line for line in run.lines if line.strip()][-_LAST_LINES:]
        msg = "\n".join([f"pip could not build {project}. The end of what it printed:", *lines])
        raise CommandError(msg)
    return wheels[0]


def _python_problems(folder: Path, name: str) -> Iterator[Failure]:
    running = platform.python_version()
    for distribution in distributions(path=[str(folder)]):
        wanted = distribution.metadata.json.get("requires_python")
        if isinstance(wanted, str) and not SpecifierSet(wanted).contains(running, prereleases=True):
            yield Failure("install", name, f"It requires Python {wanted}, and this is Python {running}.")


def _installing_problems(wheel: Path, content: WheelContent, environment: HostEnvironment) -> list[Failure]:
    try:
        tags = parse_wheel_filename(wheel.name)[3]
    except InvalidWheelFilename:
        message = f"{wheel.name} is no file name of a wheel (name-1.0-py3-none-any.whl), so pip would not install it."
        return [Failure("install", content.name, message)]
    problems = []
    if not any(tag in tags for tag in sys_tags()):
        running = f"Python {sys.version_info[0]}.{sys.version_info[1]} on {sys.platform}"
        problems.append(Failure("install", content.name, f"{wheel.name} is not made for {running}."))
    installed = environment.distributions()
    for text in content.requires:
        requirement = Requirement(text)
        if requirement.marker is not None and not requirement.marker.evaluate({"extra": ""}):
            continue
        present = installed.get(canonicalize_name(requirement.name))
        if present is not None and not requirement.specifier.contains(present.version, prereleases=True):
            message = f"It requires {requirement}, but {present.name} {present.version} is installed beside the host."
            problems.append(Failure("install", content.name, message))
    return problems


def _probe(folder: Path, name: str, manifests: Path) -> tuple[Sequence[PluginManifest], list[Failure]]:
    environment = host_path()
    probing = Probing(
        store=ManifestStore(manifests, host_version=version("plugyard")),
        composer=Composer(),
        environment=environment,
    )
    inspection = probing.inspect([folder], name, {})
    problems = list(inspection.failures)
    taken = {
        entry.key: distribution.name
        for distribution in Discovery(store_folders=lambda: (), environment=environment).find().distributions
        for entry in distribution.entry_points
        if canonicalize_name(distribution.name) != name
    }
    for plugin in inspection.plugins:
        if plugin.key in taken:
            message = f"The key '{plugin.key}' is taken by {taken[plugin.key]}; choose another."
            problems.append(Failure("discovery", plugin.key, message))
    return inspection.plugins, problems
