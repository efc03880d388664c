"""The reference page of the command line, made from the commands themselves."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator
from typing import Any

import typer

from host.cli.main import app

_COMMON = frozenset({"as_json", "debug", "help"})
_INTRODUCTION = """\
Every command takes `--json`, `--debug` and `--help`. With `--json` it prints one JSON document to standard output and
nothing else there; with `--debug` an error comes with its traceback. Both may also stand before the command.
`plugyard --version` shows the version.

Errors go to standard error, or with `--json` to standard output as `{"error": "…"}`, with `fields` where single values
were refused. The exit code is 0 when all went well, 1 when something was refused or failed, 2 for wrong usage and 130
after an interruption. Colours are left out where the output is no terminal and where `NO_COLOR` is set."""


def render() -> str:
    """Return the page as Markdown; it is the same wherever it is made."""
    root: Any = typer.main.get_command(app)
    context = root.make_context("plugyard", ["--version"], resilient_parsing=True)
    parts = ["# Command line", root.help, _INTRODUCTION]
    for path, command in _commands(root, ["plugyard"]):
        parts += _section(path, command, context)
    return "\n\n".join(part for part in parts if part) + "\n"


def _commands(group: Any, path: list[str]) -> Iterator[tuple[list[str], Any]]:
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from _commands(command, [*path, name])
        else:
            yield [*path, name], command


def _section(path: list[str], command: Any, context: Any) -> list[str]:
    own = [parameter for parameter in command.params if parameter.name not in _COMMON]
    arguments = [parameter for parameter in own if parameter.param_type_name == "argument"]
    options = [parameter for parameter in own if parameter.param_type_name == "option"]
    pieces = [piece for parameter in arguments for piece in parameter.get_usage_pieces(context)]
    usage = " ".join([*path, "[OPTIONS]", *pieces])
    return [
        f"## {' '.join(path)}",
        f"```sh\n{usage}\n```",
        inspect.cleandoc(command.help or ""),
        _table("Argument", arguments, context),
        _table("Option", options, context),
    ]


def _table(title: str, parameters: Iterable[Any], context: Any) -> str:
    records = [parameter.get_help_record(context) for parameter in parameters]
    rows = [f"| `{_cell(term)}` | {_cell(text)} |" for term, text in records]
    return "\n".join([f"| {title} | |", "|---|---|", *rows]) if rows else ""


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", r"\|")
