"""What all commands have in common."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import version
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from host.cli.commands import RootCommands, command
from host.cli.main import app
from host.cli.output import CommandError, Output
from host.errors import InvalidInputError, NotFoundError
from host.packages.failures import PackageRefusedError
from tests.cli.conftest import Answer, Run


def _all_commands() -> Iterator[tuple[str, Any]]:
    def below(group: Any, path: str) -> Iterator[tuple[str, Any]]:
        for name, one in group.commands.items():
            if hasattr(one, "commands"):
                yield from below(one, f"{path}{name} ")
            else:
                yield path + name, one

    yield from below(typer.main.get_command(app), "")


COMMANDS = dict(_all_commands())


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_the_common_options_and_says_what_it_does(name, run):
    """``--json``, ``--debug`` and ``--help`` are everywhere, and each option has a help text that is a sentence."""
    one = COMMANDS[name]
    options = {option for parameter in one.params for option in parameter.opts}

    assert {"--json", "--debug"} <= options
    assert one.help.partition("\n")[0].endswith(".")
    assert all(parameter.help.endswith(".") for parameter in one.params)
    assert run(*name.split(), "--help").ok().out.startswith(f"Usage: plugyard {name} ")


def test_the_version_is_that_of_the_distribution(run):
    """``--version`` speaks to people and to programs."""
    assert run("--version").ok().out == f"plugyard {version('plugyard')}\n"
    assert run("--version", "--json").ok().document == {"version": version("plugyard")}


@pytest.mark.parametrize("arguments", [[], ["plugin"], ["user"]], ids=" ".join)
def test_a_group_without_a_command_shows_its_help(arguments, run):
    """The help goes to standard error, for nothing was done."""
    answer = run(*arguments)

    assert answer.code == 2
    assert answer.err.startswith("Usage: plugyard")
    assert answer.out == ""


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        pytest.param(["plugin", "lst"], "Did you mean 'list'?", id="unknown command"),
        pytest.param(["migrate", "--fast"], "No such option: --fast", id="unknown option"),
        pytest.param(["user", "create", "ada"], "Missing option '--email'", id="missing option"),
        pytest.param(["serve", "--port", "many"], "Invalid value for '--port'", id="wrong value"),
    ],
)
def test_wrong_usage_is_told_apart_from_failure(arguments, words, run):
    """Exit code 2, the reason and the way to the help, on standard error or as JSON."""
    answer = run(*arguments)
    as_json = run(*arguments, "--json")

    assert (answer.code, answer.out) == (2, "")
    assert words in answer.err
    assert f"Try 'plugyard {' '.join(arguments[:1])}" in answer.err
    assert as_json.code == 2
    assert words in as_json.document["error"]
    assert as_json.err == ""


def _failing(error: Exception) -> Any:
    made = typer.Typer(cls=RootCommands, rich_markup_mode=None)

    @made.callback()
    def root() -> None: ...

    def fail(out: Output) -> None:
        """Fail."""
        raise error

    command(made, "fail")(fail)
    return made


def _fail(error: Exception, *options: str) -> Answer:
    return Answer(CliRunner().invoke(_failing(error), ["fail", *options], catch_exceptions=False))


@pytest.mark.parametrize(
    ("error", "shown"),
    [
        pytest.param(NotFoundError("There is no lamp."), "Error: There is no lamp.\n", id="an error of a service"),
        pytest.param(CommandError("Not here."), "Error: Not here.\n", id="an error of a command"),
        pytest.param(
            InvalidInputError({"email": ["Too long.", "Too odd."], "non_field_errors": ["Taken."]}),
            "Error: email: Too long. Too odd.\nTaken.\n",
            id="refused values",
        ),
        pytest.param(
            PackageRefusedError("No such package.", ["line of pip"]), "Error: No such package.\n", id="refused package"
        ),
        pytest.param(
            PermissionError(13, "Permission denied", "/etc/key"),
            "Error: /etc/key cannot be used: Permission denied. Check its owner, permissions and free space.\n",
            id="a file",
        ),
        pytest.param(
            ZeroDivisionError("by zero\nparameters: secret"),
            "Error: ZeroDivisionError: by zero. Add --debug to see where.\n",
            id="anything else",
        ),
    ],
)
def test_an_error_is_a_line_or_two(error, shown):
    """No traceback unless it is asked for, and exit code 1."""
    answer = _fail(error)
    told = _fail(error, "--debug")

    assert (answer.code, answer.out, answer.err) == (1, "", shown)
    assert told.code == 1
    assert told.err.startswith("Traceback")


def test_a_program_is_told_which_values_were_refused():
    """``fields`` maps each value to its messages."""
    answer = _fail(InvalidInputError({"email": ["Too long."]}), "--json")

    assert answer.code == 1
    assert answer.document == {"error": "email: Too long.", "fields": {"email": ["Too long."]}}
    assert answer.err == ""


def test_an_interruption_has_its_own_exit_code():
    """Shells and scripts know 130."""
    assert _fail(KeyboardInterrupt()).code == 130  # type: ignore[arg-type]
    assert _fail(typer.Abort()).err == "\nError: Interrupted.\n"


def test_the_help_loads_neither_database_nor_server():
    """Whoever asks for help does not wait for what the command would need."""
    heavy = ("alembic", "host.config", "host.server", "pydantic", "sqlalchemy", "starlette", "uvicorn")
    code = f"import sys, host.cli.main; print([one for one in {heavy!r} if one in sys.modules])"

    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ)

    assert shown.stdout.strip() == "[]"


@pytest.mark.parametrize("order", [["--json", "migrate"], ["migrate", "--json"]], ids=" ".join)
def test_json_may_stand_before_the_command(order, run: Run, home):
    """Both places mean the same."""
    assert run(*order).ok().document == {"migrated": False}
