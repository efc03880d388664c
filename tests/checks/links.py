"""Every relative link leads to a file, and every anchor to a heading."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from urllib.parse import unquote

from tests.checks.markdown import Page
from tests.checks.problems import DOCS, Problem, pages

_ELSEWHERE = ("http://", "https://", "mailto:")


def check() -> Iterator[Problem]:
    """Find links that lead nowhere, and pages that no other page links to."""
    linked: set[Path] = set()
    for path in pages():
        for link in Page.read(path).links():
            if link.target.startswith(_ELSEWHERE):
                continue
            name, _, anchor = unquote(link.target).partition("#")
            target = (path.parent / name).resolve() if name else path
            if target != path:
                linked.add(target)
            problem = _problem(target, anchor)
            if problem:
                yield Problem(path, link.line, f"the link '{link.target}' leads nowhere: {problem}.")
    for path in sorted(DOCS.rglob("*.md")):
        if path not in linked:
            yield Problem(path, 0, "no other page links to this one.")


def _problem(target: Path, anchor: str) -> str:
    if not target.exists():
        return "there is no such file"
    if target.is_dir() and target.is_relative_to(DOCS):
        return "it names a folder; name its index.md"
    if anchor and (target.suffix != ".md" or anchor not in _anchors(target)):
        return f"there is no heading for '#{anchor}'"
    return ""


@cache
def _anchors(path: Path) -> frozenset[str]:
    return frozenset(Page.read(path).anchors())
