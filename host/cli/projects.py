"""Commands for people who write plugins: ``plugin new`` and ``plugin check``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import RenderableType
from rich.text import Text

from host.cli.commands import command
from host.cli.output import Output, table
from host.cli.scaffold import Kind, write_project

if TYPE_CHECKING:
    from host.cli.examine import Examination
    from host.plugins.manifest import PluginManifest


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    command(app, "new")(new)
    command(app, "check")(check)


def new(
    out: Output,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Key of the plugin, such as shelf-lamp.")],
    *,
    path: Annotated[Path, typer.Option(help="Folder in which the project's folder is made.")] = Path(),
    kind: Annotated[Kind, typer.Option(help="What the plugin does at first.")] = Kind.ACTION,
) -> None:
    """Write a small plugin project to begin with."""
    project = write_project(name, kind=kind, parent=path)
    out.show(
        project,
        f"Wrote {project.folder}:",
        "\n".join(f"  {file}" for file in project.files),
        "\nNext:",
        f"  cd {project.folder}\n  plugyard plugin check .\n  python -m pytest\n  pip wheel --no-deps -w dist .\n"
        f"  plugyard plugin install dist/{project.package}-0.1.0-py3-none-any.whl\n"
        f"  plugyard plugin activate {project.key}",
    )


def check(
    out: Output,
    path: Annotated[Path, typer.Argument(metavar="PATH", help="A wheel, or the folder of a project.")],
    *,
    isolation: Annotated[
        bool, typer.Option("--isolation/--no-isolation", help="Build a project in an environment of its own.")
    ] = True,
) -> None:
    """Show what the host would see in a package.

    Every problem is shown too, and makes the exit code 1. What the package requires must be installed beside Plugyard.
    """
    from host.cli.examine import examine  # noqa: PLC0415 - loads the plugin layer, which --help can do without

    with out.progress(f"Checking {path.name or path}"):
        examination = examine(path, isolated=isolation)
    out.show(examination.document(), *_describe(examination))
    if examination.problems:
        raise typer.Exit(1)


def _describe(examination: Examination) -> list[RenderableType]:
    shown: list[RenderableType] = [Text(f"{examination.name} {examination.version}", "bold")]
    for plugin in examination.plugins:
        shown += ["", table(("plugin", plugin.key), _rows(plugin))]
    shown.append("")
    if not examination.problems:
        return [*shown, Text("No problems.", "green")]
    count = len(examination.problems)
    shown.append(Text(f"{count} problem{'s' if count > 1 else ''}:", "bold red"))
    shown += [f"  {problem.name} ({problem.stage}): {problem.message}" for problem in examination.problems]
    return shown


def _rows(plugin: PluginManifest) -> list[tuple[str, object]]:
    identity = plugin.identity
    rows: list[tuple[str, object]] = [
        ("title", identity.title),
        ("description", identity.description),
        ("author", identity.author),
        ("website", identity.website),
        ("license", identity.license),
        ("entry point", plugin.entry_point),
        ("hooks", ", ".join(plugin.hooks)),
        ("mixins", ", ".join(plugin.mixins)),
        ("lacks @hookimpl", ", ".join(plugin.unmarked)),
        ("actions", ", ".join(plugin.actions)),
        ("settings", ", ".join(plugin.settings)),
        ("user settings", ", ".join(plugin.user_settings)),
    ]
    return [(name, value) for name, value in rows if value]
