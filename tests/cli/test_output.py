"""What people and programs get to see."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType

import pytest

from host.cli.output import CommandError, Output, json_text, printable, table


@dataclass(frozen=True)
class Lamp:
    path: Path
    lit: datetime
    colors: frozenset[str]


def test_json_takes_the_values_of_services():
    """Dataclasses, paths, dates, read-only mappings and sets are understood."""
    lamp = Lamp(Path("/srv/lamp"), datetime(2026, 1, 2, tzinfo=UTC), frozenset({"red"}))

    shown = json.loads(json_text({"lamp": lamp, "more": MappingProxyType({"a": (1, 2)})}))

    assert shown == {
        "lamp": {"path": "/srv/lamp", "lit": "2026-01-02T00:00:00+00:00", "colors": ["red"]},
        "more": {"a": [1, 2]},
    }


def test_text_of_others_cannot_steer_the_terminal():
    """Escape sequences lose their power; line ends and tabs stay."""
    assert printable("\x1b[31mred\x9b1m\r\tx\n") == "\ufffd[31mred\ufffd1m\ufffd\tx\n"


def test_markup_in_text_of_others_is_shown_as_it_is(capsys):
    """A title with square brackets is no instruction."""
    out = Output(as_json=False)

    out.show({}, table(("key",), [("[bold]lamp[/]",), (None,)]), "[red]text[/]")

    assert capsys.readouterr().out.split() == ["key", "[bold]lamp[/]", "[red]text[/]"]


def test_a_pipe_gets_no_colour_and_no_broken_lines(capsys):
    """What is no terminal gets plain lines of any length."""
    out = Output(as_json=False)

    out.show({}, "x" * 500, table(("state", "what"), [("broken", "y" * 150)], styles={"broken": "red"}))

    shown = capsys.readouterr().out
    assert "\x1b" not in shown
    assert len(shown.splitlines()) == 3


def test_programs_get_the_document_alone(capsys):
    """Notes and warnings go to standard error, words for people go nowhere."""
    out = Output(as_json=True)

    out.say("hello")
    out.warn("careful")
    out.show({"a": 1}, "one a")

    shown = capsys.readouterr()
    assert json.loads(shown.out) == {"a": 1}
    assert shown.err == "Warning: careful\n"


@pytest.mark.parametrize("as_json", [False, True])
def test_nothing_is_done_without_an_answer(as_json, monkeypatch):
    """Where nobody can be asked, the change is refused and the remedy named."""
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))

    with pytest.raises(CommandError, match="Add --yes"):
        Output(as_json=as_json).confirm("Really?", yes=False)
    Output(as_json=as_json).confirm("Really?", yes=True)


def test_progress_is_shown_to_terminals_only(capsys):
    """A log file is no place for a bar."""
    with Output(as_json=False).progress("Working") as report:
        report(50, "half")

    assert capsys.readouterr() == ("", "")
