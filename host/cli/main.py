"""The ``plugyard`` command."""

from __future__ import annotations

from importlib.metadata import version
from typing import Annotated

import typer

from host.cli import clients, doctor, packages, plugins, projects, serve, users, worker
from host.cli.commands import Commands, DebugOption, JsonOption, RootCommands
from host.cli.output import Output

app = typer.Typer(
    name="plugyard",
    cls=RootCommands,
    help="Run Plugyard and manage its plugins.",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"]},
)


@app.callback(invoke_without_command=True)
def plugyard(
    ctx: typer.Context,
    *,
    show_version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
    as_json: JsonOption = False,
    debug: DebugOption = False,  # noqa: ARG001 - RootCommands reads it
) -> None:
    if show_version:
        number = version("plugyard")
        Output(as_json=as_json).show({"version": number}, f"plugyard {number}")
        raise typer.Exit
    if ctx.invoked_subcommand is None:
        ctx.fail("Missing command.")


_plugin = typer.Typer(name="plugin", cls=Commands, help="Install, activate and write plugins.", rich_markup_mode=None)
_client = typer.Typer(name="client", cls=Commands, help="Register OAuth clients.", rich_markup_mode=None)
_user = typer.Typer(name="user", cls=Commands, help="Create accounts and API tokens.", rich_markup_mode=None)

serve.add_to(app)
worker.add_to(app)
app.add_typer(_user)
users.add_to(_user)
app.add_typer(_client)
clients.add_to(_client)
app.add_typer(_plugin)
plugins.add_to(_plugin)
packages.add_to(_plugin)
projects.add_to(_plugin)
doctor.add_to(app)


def main() -> None:
    """Run the command line."""
    app(prog_name="plugyard")
