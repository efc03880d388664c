"""What a command shows: text for people, or one JSON document for programs."""

from __future__ import annotations

import os
import re
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias

import orjson
import typer
from rich.console import Console, RenderableType
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

_WIDTH_WITHOUT_TERMINAL = 200
_SHOW_PROGRESS_AFTER = 1.0
# What could move the cursor, recolour the screen or hide text: descriptions come from packages of other people.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")

Report: TypeAlias = Callable[[float | None, str], None]
"""Takes how far an operation is, in percent or ``None``, and what it does at the moment."""


class CommandError(Exception):
    """Raised by a command that cannot do what was asked; the text names the remedy."""


def printable(text: object) -> str:
    """Return the text without control characters other than line ends and tabs."""
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", str(text))


def json_text(document: object) -> str:
    """Return the document as JSON; dataclasses, dates and paths are understood."""
    return orjson.dumps(document, default=_to_json, option=orjson.OPT_INDENT_2 | orjson.OPT_NON_STR_KEYS).decode()


def table(
    columns: Sequence[str], rows: Iterable[Sequence[object]], *, styles: Mapping[str, str] | None = None
) -> Table:
    """Return a table; cells are shown literally, and ``styles`` colours the cells that equal its keys."""
    shown = Table(box=None, pad_edge=False, header_style="bold")
    for number, column in enumerate(columns):
        shown.add_column(Text(column), overflow="fold", no_wrap=number == 0)
    for row in rows:
        cells = [printable("" if cell is None else cell) for cell in row]
        shown.add_row(*(Text(cell, style=(styles or {}).get(cell, "")) for cell in cells))
    return shown


class Output:
    """Where one command shows its result."""

    def __init__(self, *, as_json: bool) -> None:
        self.as_json = as_json
        self._out = _console(stderr=False)
        self._err = _console(stderr=True)

    def show(self, document: object, *readable: RenderableType) -> None:
        """Show the command's result, once: the document to programs, the rest to people."""
        if self.as_json:
            sys.stdout.write(json_text(document) + "\n")
            sys.stdout.flush()
            return
        for part in readable:
            self.say(part)

    def say(self, part: RenderableType, *, style: str = "") -> None:
        """Tell people something; programs are told nothing."""
        if not self.as_json:
            literal = Text(printable(part), style) if isinstance(part, str) else part
            self._out.print(literal, soft_wrap=isinstance(literal, Text))

    def note(self, message: str) -> None:
        """Tell people something beside the result."""
        self._err.print(Text(printable(message)), soft_wrap=True)

    def warn(self, message: str) -> None:
        """Tell people something that must not be mistaken for the result."""
        self._err.print(Text.assemble(("Warning: ", "yellow"), printable(message)), soft_wrap=True)

    def fail(self, message: str, fields: Mapping[str, Sequence[str]] | None = None) -> None:
        """Tell why the command failed."""
        if self.as_json:
            document: dict[str, object] = {"error": message}
            if fields:
                document["fields"] = fields
            sys.stdout.write(json_text(document) + "\n")
            return
        self._err.print(Text.assemble(("Error: ", "bold red"), printable(message)), soft_wrap=True)

    def confirm(self, question: str, *, yes: bool) -> None:
        """Ask before something is changed, unless ``yes``.

        Raises:
            CommandError: the person refused, or there is nobody to ask.

        """
        if yes:
            return
        if self.as_json or not (sys.stdin.isatty() and sys.stdout.isatty()):
            msg = "Nothing was changed: this needs a confirmation, and nobody can be asked here. Add --yes."
            raise CommandError(msg)
        if not typer.confirm(question):
            msg = "Nothing was changed."
            raise CommandError(msg)

    @contextmanager
    def progress(self, title: str) -> Iterator[Report]:
        """Show a bar while the block runs, where it runs longer than a second and someone watches."""
        if not self._err.is_terminal:
            yield _report_nothing
            return
        bar = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TimeElapsedColumn(),
            console=self._err,
            transient=True,
        )
        task = bar.add_task(title, total=None)

        def report(percent: float | None, doing: str) -> None:
            total = None if percent is None else 100
            bar.update(task, total=total, completed=percent or 0, description=printable(doing) or title)

        timer = threading.Timer(_SHOW_PROGRESS_AFTER, bar.start)
        timer.daemon = True
        timer.start()
        try:
            yield report
        finally:
            timer.cancel()
            timer.join()
            bar.stop()


def _report_nothing(_percent: float | None, _doing: str) -> None:
    return


def _console(*, stderr: bool) -> Console:
    console = Console(stderr=stderr, highlight=False, markup=False, emoji=False)
    if not console.is_terminal and not os.environ.get("COLUMNS"):
        # Nobody sees line ends in a pipe, and a folded table is hard to search.
        console.width = _WIDTH_WITHOUT_TERMINAL
    return console


def _to_json(value: object) -> object:
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Iterable):
        return list(value)
    raise TypeError
