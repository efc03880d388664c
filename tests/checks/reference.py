"""The generated pages of the reference: written by ``make reference``, and compared with what they should be."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Mapping

from tests.checks import cli_page, global_settings_page, hooks_page, names_page, openapi_page, settings_page
from tests.checks.problems import DOCS, Problem

NOTE = "<!-- Generated from the code by `make reference`; edit the code instead. -->"
"""First line of every generated page."""

PAGES: Mapping[str, Callable[[], str]] = {
    "hooks.md": hooks_page.render,
    "names.md": names_page.render,
    "settings.md": settings_page.render,
    "global-settings.md": global_settings_page.render,
    "cli.md": cli_page.render,
    "openapi.json": openapi_page.render,
}
"""File below ``docs/reference`` → function that returns its text."""


def text_of(name: str) -> str:
    """Return what a generated page should say."""
    text = PAGES[name]().rstrip("\n") + "\n"
    return f"{NOTE}\n\n{text}" if name.endswith(".md") else text


def write() -> Iterator[str]:
    """Write the pages that are not up to date; return their names."""
    for name in PAGES:
        path = DOCS / "reference" / name
        text = text_of(name)
        if not path.exists() or path.read_text("utf-8") != text:
            path.write_text(text, "utf-8")
            yield name


def check() -> Iterator[Problem]:
    """Find generated pages that differ from the code."""
    for name in PAGES:
        path = DOCS / "reference" / name
        present = path.read_text("utf-8") if path.exists() else ""
        wanted = text_of(name)
        if present != wanted:
            line, shown = _first_difference(present, wanted)
            yield Problem(path, line, f"it differs from the code; run `make reference`. First: {shown}")


def _first_difference(present: str, wanted: str) -> tuple[int, str]:
    before, after = present.splitlines(), wanted.splitlines()
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    for kind, start, end, new_start, new_end in matcher.get_opcodes():
        if kind != "equal":
            old = before[start] if start < end else "(nothing)"
            new = after[new_start] if new_start < new_end else "(nothing)"
            return start + 1, f"{old[:120]!r} should be {new[:120]!r}."
    return 0, "the end of the file."
