"""Compare what a command printed with what a page says it prints."""

from __future__ import annotations

import re

_WILDCARD = "..."
_COLUMNS = re.compile(r" {2,}")


def matches(expected: str, printed: str) -> bool:
    """Tell whether the output is the expected one.

    ``...`` stands for anything, line breaks included. How many blanks stand between columns makes no difference, nor do
    blanks at the ends of lines and blank lines around all.
    """
    pattern = ".*?".join(re.escape(part) for part in _tidy(expected).split(_WILDCARD))
    return re.fullmatch(pattern, _tidy(printed), re.DOTALL) is not None


def _tidy(text: str) -> str:
    return "\n".join(_COLUMNS.sub("  ", line.rstrip()) for line in text.strip().splitlines())
