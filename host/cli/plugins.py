"""Commands for plugins: ``plugin list``, ``activate``, ``deactivate`` and ``reload``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from host.cli.commands import command
from host.cli.opening import open_host
from host.cli.output import Output, table

if TYPE_CHECKING:
    from host.cli.states import PluginState

Key = Annotated[str, typer.Argument(metavar="KEY", help="Key of the plugin.")]

_STYLES = {"active": "green", "mandatory": "green", "broken": "red", "quarantined": "red", "not installed": "dim"}


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    command(app, "list")(list_plugins)
    command(app, "activate")(activate)
    command(app, "deactivate")(deactivate)
    command(app, "reload")(reload)


def list_plugins(out: Output) -> None:
    """List the plugins that the host knows, and how each is."""
    from host.cli.states import plugin_states  # noqa: PLC0415 - loads the plugin layer

    with open_host() as host:
        states = plugin_states(host.database, host.registries.current.known)
    out.show({"plugins": states}, _table(states), *(f"\n{one.key}: {one.message}" for one in states if one.message))


def activate(out: Output, key: Key) -> None:
    """Switch a plugin on."""
    with open_host() as host:
        host.plugins.activate(key, active=True)
    out.show({"key": key, "active": True}, f"Plugin '{key}' is active.")


def deactivate(out: Output, key: Key) -> None:
    """Switch a plugin off."""
    with open_host() as host:
        host.plugins.activate(key, active=False)
    out.show({"key": key, "active": False}, f"Plugin '{key}' is inactive.")


def reload(
    out: Output,
    *,
    full: Annotated[bool, typer.Option("--full", help="Import the modules of plugins afresh.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Rebuild even where nothing changed.")] = False,
    collect: Annotated[bool, typer.Option("--collect", help="Look for new packages.")] = False,
) -> None:
    """Load the plugins again, here and in every running process."""
    from host.plugins.reloading import ReloadFlags  # noqa: PLC0415 - loads the plugin layer

    with open_host() as host:
        flags = ReloadFlags(collect_plugins=collect, force_reload=force, full_reload=full)
        registry = host.registries.reload(flags, by_administrator=True)
    document = {
        "generation": registry.generation,
        "plugins": list(registry.plugins),
        "failures": registry.failures,
    }
    out.show(
        document,
        f"{len(registry.plugins)} plugins are loaded; generation {registry.generation}.",
        *(f"{failure.name} ({failure.stage}): {failure.message}" for failure in registry.failures),
    )


def _table(states: list[PluginState]) -> Table:
    rows = [(one.key, one.title, one.version, one.state, one.origin, ", ".join(one.mixins)) for one in states]
    return table(("key", "title", "version", "state", "origin", "mixins"), rows, styles=_STYLES)
