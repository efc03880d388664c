"""Commands for plugin packages: ``plugin plan``, ``install``, ``uninstall``, ``sync`` and ``rollback``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer
from packaging.utils import canonicalize_name

from host.cli.commands import command
from host.cli.opening import open_host
from host.cli.output import CommandError, Output, table

if TYPE_CHECKING:
    from host.packages.generations import Generation
    from host.packages.install import InstallRequest, Outcome
    from host.packages.operations import OnProgress
    from host.packages.plan import Plan, PlannedPackage
    from host.server import Host

Package = Annotated[str, typer.Argument(metavar="PACKAGE", help="NAME, NAME==1.2, the path of a wheel, or an address.")]
Url = Annotated[str, typer.Option(help="Index to look in, or an address of version control.")]
Version = Annotated[str, typer.Option(help="Version, such as 1.4.2 or '>=1.4,<2'.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]

_STYLES = {"add": "green", "change": "yellow", "remove": "red", "keep": "dim"}


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    command(app, "plan")(plan)
    command(app, "install")(install)
    command(app, "uninstall")(uninstall)
    command(app, "sync")(sync)
    command(app, "rollback")(rollback)


def plan(out: Output, package: Package = "", *, url: Url = "", version: Version = "") -> None:
    """Show what an install would do.

    Without a package: what 'plugyard plugin sync' would do.
    """
    with open_host() as host:
        found = _plan(out, host, _request(package, url, version) if package or url else None)
    out.show(found.as_json())
    _show_plan(out, found)


def install(out: Output, package: Package = "", *, url: Url = "", version: Version = "", yes: Yes = False) -> None:
    """Install a plugin package, or move it to another version."""
    request = _request(package, url, version)
    with open_host() as host:
        found = _plan(out, host, request)
        _show_plan(out, found)
        out.confirm("Install this?", yes=yes)
        with _progress(out, f"Installing {found.name}") as on_progress:
            outcome = host.plugin_packages.install(request, on_progress=on_progress)
        keys = _keys_of(host, outcome.name)
    hints = [f"Activate it with: plugyard plugin activate {key}" for key, is_ready in keys.items() if is_ready]
    _show_outcome(out, outcome, *hints, plugins=list(keys))
    for warning in outcome.warnings:
        if warning not in found.warnings:
            out.warn(warning)


def uninstall(
    out: Output,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the package, or key of a plugin in it.")],
    *,
    keep_config: Annotated[bool, typer.Option("--keep-config", help="Keep the plugins' settings.")] = False,
    yes: Yes = False,
) -> None:
    """Remove a plugin package, and what only it needed."""
    with open_host() as host:
        package = _package_named(host, name)
        found = host.packages.plan_uninstall(package)
        _show_plan(out, found)
        out.confirm("Remove this?", yes=yes)
        with _progress(out, f"Removing {package}") as on_progress:
            outcome = host.plugin_packages.uninstall(package, delete_config=not keep_config, on_progress=on_progress)
    _show_outcome(out, outcome)


def sync(out: Output, *, yes: Yes = False) -> None:
    """Make the installed packages what plugins.txt says."""
    with open_host() as host:
        found = _plan(out, host, None)
        if found.changes_packages:
            _show_plan(out, found)
            out.confirm("Do this?", yes=yes)
        with _progress(out, "Following plugins.txt") as on_progress:
            outcome = host.packages.sync(on_progress=on_progress)
    _show_outcome(out, outcome)


def rollback(
    out: Output,
    number: Annotated[
        int | None, typer.Argument(metavar="NUMBER", help="Generation to go back to; by default the previous one.")
    ] = None,
    *,
    yes: Yes = False,
) -> None:
    """Go back to the packages of an earlier generation."""
    with open_host() as host:
        target = _previous(host) if number is None else host.packages.generation(number).number
        out.say(table(("", "package", "installed", "planned"), _difference(host, target), styles=_STYLES))
        out.confirm(f"Go back to generation {target}?", yes=yes)
        with _progress(out, f"Going back to generation {target}") as on_progress:
            outcome = host.packages.restore(target, on_progress=on_progress)
    _show_outcome(out, outcome)


def _request(package: str, url: str, version: str) -> InstallRequest:
    from host.packages.requests import InstallRequest  # noqa: PLC0415 - loads the package layer

    return InstallRequest(packagename=package, url=url, version=version)


def _plan(out: Output, host: Host, request: InstallRequest | None) -> Plan:
    with out.progress("Resolving"):
        return host.packages.plan(request) if request else host.packages.plan_sync()


@contextmanager
def _progress(out: Output, title: str) -> Iterator[OnProgress]:
    with out.progress(title) as report:
        yield lambda progress: report(progress.percent, f"{title}: {progress.stage}")


def _show_plan(out: Output, found: Plan) -> None:
    rows = [
        (action, package.name, package.previous or "", package.version if action != "remove" else "", package.url)
        for action, packages in _actions(found)
        for package in packages
    ]
    if rows:
        out.say(table(("", "package", "installed", "planned", "from"), rows, styles=_STYLES))
    if not found.changes_packages:
        out.say("No package changes.")
    for warning in found.warnings:
        out.warn(warning)


def _actions(found: Plan) -> list[tuple[str, tuple[PlannedPackage, ...]]]:
    return [("add", found.add), ("change", found.change), ("remove", found.remove), ("keep", found.keep)]


def _show_outcome(out: Output, outcome: Outcome, *lines: str, **more: object) -> None:
    out.show(outcome.as_json() | more, outcome.result, *lines)


def _keys_of(host: Host, package: str) -> dict[str, bool]:
    """Return the plugins of a package, and whether each can be activated."""
    loaded = host.registries.current.plugins
    return {
        plugin.key: plugin.key not in loaded and plugin.failure is None
        for plugin in host.plugin_packages.plugins_of(package)
    }


def _package_named(host: Host, name: str) -> str:
    generation = _current(host)
    canonical = canonicalize_name(name)
    plugin = host.registries.current.known.get(name)
    if plugin is None or not plugin.is_package or (generation and canonical in generation.lock.by_name):
        return canonical
    return canonicalize_name(plugin.identity.distribution)


def _current(host: Host) -> Generation | None:
    number = host.packages.current().number
    return host.packages.generation(number) if number else None


def _previous(host: Host) -> int:
    generation = _current(host)
    if generation is None or generation.previous is None:
        msg = "There is no earlier generation to go back to."
        raise CommandError(msg)
    return generation.previous


def _difference(host: Host, target: int) -> list[tuple[str, str, str, str]]:
    generation = _current(host)
    before = {one.name: one.version for one in generation.lock} if generation else {}
    after = {one.name: one.version for one in host.packages.generation(target).lock}
    rows = []
    for name in sorted(before | after):
        old, new = before.get(name, ""), after.get(name, "")
        action = "keep" if old == new else "add" if not old else "change" if new else "remove"
        rows.append((action, name, old, new))
    return rows
