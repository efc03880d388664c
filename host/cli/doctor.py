"""The command ``doctor``: is everything as it should be, and what to do about what is not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer
from rich.text import Text

from host.cli.commands import command
from host.cli.output import Output, printable

if TYPE_CHECKING:
    from host.cli.checkup import Finding

_STYLES = {"ok": "green", "warn": "yellow", "fail": "bold red"}


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    command(app, "doctor")(doctor)


def doctor(out: Output) -> None:
    """Check the installation and name a remedy for what is wrong. Changes nothing."""
    from host.cli.checkup import check_up  # noqa: PLC0415 - loads everything, and --help must be quick

    findings = []
    with out.progress("Checking") as report:
        for finding in check_up():
            findings.append(finding)
            report(None, finding.subject)
    failed = sum(finding.result == "fail" for finding in findings)
    out.show({"ok": not failed, "findings": findings}, *map(_line, findings))
    if failed:
        raise typer.Exit(1)


def _line(finding: Finding) -> Text:
    remedy = f" {finding.remedy}" if finding.remedy else ""
    text = printable(f" {finding.subject}: {finding.message}{remedy}")
    return Text.assemble((f"{finding.result:4}", _STYLES[finding.result]), text)
