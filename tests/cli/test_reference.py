"""The reference page of the command line."""

from __future__ import annotations

from host.cli.reference import render
from tests.cli.test_commands import COMMANDS


def test_every_command_and_option_is_described():
    """Whatever can be typed stands on the page."""
    page = render()

    for name, one in COMMANDS.items():
        section = page.partition(f"\n## plugyard {name}\n")[2].partition("\n## ")[0]
        own = [parameter for parameter in one.params if parameter.name not in {"as_json", "debug"}]
        assert section, name
        assert all(any(option in section for option in parameter.opts) or parameter.metavar for parameter in own)


def test_the_page_is_the_same_everywhere(monkeypatch):
    """Neither the terminal's width nor its colours matter."""
    monkeypatch.setenv("COLUMNS", "40")
    narrow = render()
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("FORCE_COLOR", "1")

    assert render() == narrow
