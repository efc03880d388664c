"""Words that have no place in the project's files."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tests.checks.problems import ROOT, Problem, project_files

# Put together from parts, or this file would be the first to be found.
_BANNED: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"(?<![\w.-])/" + r"work/"), "a path of one machine"),
    (re.compile(r"(?<![\w.-])/tmp" + r"/v"), "a path of one machine"),
    (re.compile(r"\bTO" + r"DO\b"), "say what is missing in the issue tracker, not in a file"),
    (re.compile(r"\bFIX" + r"ME\b"), "say what is wrong in the issue tracker, not in a file"),
    (re.compile(r"py" + r"pi\.org"), "the host name of a registry"),
    (re.compile(r"files\.python" + r"hosted\.org"), "the host name of a registry"),
)
_README_LINES = 120


def check() -> Iterator[Problem]:
    """Find banned words in every file of the project, and a README that is too long."""
    for path in project_files():
        try:
            text = path.read_text("utf-8")
        except UnicodeDecodeError:
            continue
        for pattern, reason in _BANNED:
            for match in pattern.finditer(text):
                line = text.count("\n", 0, match.start()) + 1
                yield Problem(path, line, f"'{match.group()}' may not stand here: {reason}.")
    readme = ROOT / "README.md"
    length = len(readme.read_text("utf-8").splitlines())
    if length > _README_LINES:
        yield Problem(readme, 0, f"it has {length} lines; at most {_README_LINES} are read.")
