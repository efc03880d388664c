"""How commands are declared and how they end: options that all of them have, errors and exit codes."""

from __future__ import annotations

import functools
import inspect
import sys
import traceback
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Concatenate, ParamSpec, get_type_hints

import typer
from typer.core import TyperGroup

from host.cli.output import CommandError, Output
from host.errors import HostError, InvalidInputError

FAILED = 1
USAGE = 2
INTERRUPTED = 130

P = ParamSpec("P")

JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
DebugOption = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]


class Commands(TyperGroup):
    """A group of commands; without a command it shows its help."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Show the help where no command is named."""
        if not args and not ctx.resilient_parsing:
            typer.echo(ctx.get_help(), err=True)
            ctx.exit(USAGE)
        return super().parse_args(ctx, args)


class RootCommands(Commands):
    """The outermost group: every error ends here, as a message and an exit code."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,  # noqa: FBT001, FBT002, ARG002 - the base class's signature
        windows_expand_args: bool = True,  # noqa: FBT001, FBT002 - as above
        **extra: Any,
    ) -> Any:
        """Run the command line and exit: 0 done, 1 refused or failed, 2 wrong usage, 130 interrupted."""
        args = list(sys.argv[1:] if args is None else args)
        flags = args[: args.index("--")] if "--" in args else args
        out = Output(as_json="--json" in flags)
        try:
            code = super().main(args, prog_name or "plugyard", complete_var, False, windows_expand_args, **extra)
        except typer.Abort:
            typer.echo(err=True)  # the cursor stands behind a question
            code = INTERRUPTED
        except typer.TyperException as error:
            out.fail(error.format_message() + _usage_hint(error))
            code = error.exit_code
        except Exception as error:  # noqa: BLE001 - the edge of the program, as a request is the edge of the server
            _explain(error, out, debug="--debug" in flags)
            code = FAILED
        if code == INTERRUPTED:
            out.fail("Interrupted.")
        sys.exit(code if isinstance(code, int) else 0)


def command(
    app: typer.Typer, name: str
) -> Callable[[Callable[Concatenate[Output, P], None]], Callable[Concatenate[Output, P], None]]:
    """Add a command, with the options that every command has.

    The function's first parameter gets the :class:`Output`; the others are the command's arguments and options.
    """

    def add(function: Callable[Concatenate[Output, P], None]) -> Callable[Concatenate[Output, P], None]:
        @functools.wraps(function)
        def run(ctx: typer.Context, *, as_json: bool, debug: bool, **values: Any) -> None:  # noqa: ARG001 - see main
            root = ctx.find_root().params
            function(Output(as_json=as_json or bool(root.get("as_json"))), **values)  # type: ignore[call-arg]

        # Typer reads the parameters of what it is given: the function's own, without the first, and ours.
        hints = get_type_hints(function, include_extras=True)
        own = list(inspect.signature(function).parameters.values())
        hints.pop(own[0].name)
        hints |= {"ctx": typer.Context, "as_json": JsonOption, "debug": DebugOption, "return": None}
        keyword = inspect.Parameter.KEYWORD_ONLY
        parameters = [inspect.Parameter("ctx", inspect.Parameter.POSITIONAL_OR_KEYWORD)]
        parameters += [parameter.replace(kind=keyword, annotation=hints[parameter.name]) for parameter in own[1:]]
        parameters += [
            inspect.Parameter(option, keyword, default=False, annotation=hints[option])
            for option in ("as_json", "debug")
        ]
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = hints
        del run.__wrapped__
        app.command(name)(run)
        return function

    return add


def _usage_hint(error: typer.TyperException) -> str:
    context = getattr(error, "ctx", None)
    return f"\nTry '{context.command_path} --help'." if context is not None else ""


def _explain(error: Exception, out: Output, *, debug: bool) -> None:
    if debug:
        traceback.print_exception(error)
    if isinstance(error, InvalidInputError):
        out.fail(_sentence(error), error.fields)
    elif isinstance(error, (HostError, CommandError)):
        out.fail(str(error))
    elif isinstance(error, OSError) and error.filename:
        out.fail(f"{error.filename} cannot be used: {error.strerror}. Check its owner, permissions and free space.")
    else:
        # Only the first line: the next ones of a database error hold the values of the statement.
        first = str(error).partition("\n")[0]
        hint = "" if debug else " Add --debug to see where."
        out.fail(f"{type(error).__name__}: {first}".rstrip(": ") + f".{hint}")


def _sentence(error: InvalidInputError) -> str:
    # Of a refused package the fields also hold what pip printed.
    if sentence := getattr(error, "sentence", None):
        return str(sentence)
    parts = []
    for name, messages in error.fields.items():
        text = " ".join(messages)
        parts.append(text if name == "non_field_errors" else f"{name}: {text}")
    return "\n".join(parts)
