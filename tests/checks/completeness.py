"""Everything that people use is documented: hooks, settings, commands, and the names that plugins import."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import host
from host.accounts.rates import DEFAULTS
from host.cli.main import app
from host.config import FILE_VARIABLE, PREFIX, Config
from host.plugins.specs import specs
from tests.checks import docstrings, hooks_page, names_page
from tests.checks.commands import commands_of
from tests.checks.markdown import Page
from tests.checks.problems import DOCS, ROOT, Problem, pages

_REFERENCE = DOCS / "reference"
_HELP_COMMAND = "plugyard --help"
_VARIABLE = re.compile(rf"\b{PREFIX}[A-Z_]+[A-Z]\b")
_SETTINGS = frozenset(f"{PREFIX}{name.upper()}" for name in Config.model_fields)
_OTHER_VARIABLES = frozenset({FILE_VARIABLE, f"{PREFIX}PASSWORD"})


def check() -> Iterator[Problem]:
    """Find what is not documented, and settings that do not exist."""
    yield from _hooks()
    yield from _names()
    yield from _mentioned("settings.md", sorted(_SETTINGS))
    yield from _rates()
    for path in pages():
        yield from _unknown_settings(Page.read(path))
    yield from _mentioned("cli.md", [" ".join(["plugyard", *path]) for path in commands_of(app)])
    yield from _help()


def _hooks() -> Iterator[Problem]:
    yield from _mentioned("hooks.md", [*specs()])
    for spec in specs().values():
        path = ROOT / Path(*spec.family.__module__.split(".")).with_suffix(".py")
        summary, sections = docstrings.sections(spec.documentation)
        missing = [name for name in hooks_page.SECTIONS if not sections.get(name)]
        if not summary or missing:
            yield Problem(
                path, 0, f"the documentation of the hook {spec.name} lacks {', '.join(missing) or 'a sentence'}."
            )


def _names() -> Iterator[Problem]:
    yield from _mentioned("names.md", host.__all__)
    for name in host.__all__:
        if not names_page.documentation(name):
            yield Problem(ROOT / "host" / "__init__.py", 0, f"the public name {name} has no docstring.")


def _mentioned(page: str, names: list[str]) -> Iterator[Problem]:
    path = _REFERENCE / page
    text = path.read_text("utf-8") if path.exists() else ""
    for name in names:
        if not re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text):
            yield Problem(path, 0, f"{name} is not mentioned.")


def _rates() -> Iterator[Problem]:
    path = DOCS / "how-to" / "configure-sign-in.md"
    text = path.read_text("utf-8") if path.exists() else ""
    for action, rates in DEFAULTS.items():
        if f"| `{action}` | `{rates}` |" not in text:
            yield Problem(path, 0, f"no row says that the rate limit {action} is {rates}.")


def _unknown_settings(page: Page) -> Iterator[Problem]:
    for number, line in enumerate(page.text.splitlines(), start=1):
        for name in sorted(set(_VARIABLE.findall(line)) - _SETTINGS - _OTHER_VARIABLES):
            yield Problem(page.path, number, f"there is no setting {name}.")
    for block in page.blocks():
        if block.language == "toml" and block.title in {"", "plugyard.toml"}:
            for name in sorted(set(tomllib.loads(block.text)) - set(Config.model_fields)):
                yield Problem(page.path, block.line, f"there is no setting {name}.")


def _help() -> Iterator[Problem]:
    readme = ROOT / "README.md"
    block = next((one for one in Page.read(readme).blocks() if one.text.startswith(f"$ {_HELP_COMMAND}\n")), None)
    if block is None:
        yield Problem(readme, 0, f"it has no block that begins with '$ {_HELP_COMMAND}'.")
        return
    shown = _without_blank_ends(block.text.partition("\n")[2])
    printed = _without_blank_ends(_printed_help())
    if shown != printed:
        yield Problem(readme, block.line, f"the block differs from what `{_HELP_COMMAND}` prints:\n{printed}")


def _printed_help() -> str:
    command = [str(Path(sys.executable).with_name("plugyard")), "--help"]
    environment = os.environ | {"COLUMNS": "80", "TERM": "dumb", "NO_COLOR": "1"}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout


def _without_blank_ends(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip("\n").splitlines())
