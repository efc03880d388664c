"""Pages that name the tests of each operation: nothing on them is missing or gone."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from api.operations import Operation
from tests.checks.problems import ROOT, Problem

TESTS = ROOT / "tests"

_ROW = re.compile(
    r"\| `(?P<operation>[A-Z]+ /[^`]*)`[^|]* \| (?P<status>[0-9]{3}) \| (?P<case>[^|]*) \| (?P<tests>[^|]*) \|"
)
_TEST = re.compile(r"`(?P<module>[\w/]+\.py)::(?P<name>test_\w+)`")


@dataclass(frozen=True, slots=True)
class _Row:
    line: int
    operation: str
    status: int
    tests: str


def check_page(page: Path, operations: Mapping[str, Operation]) -> Iterator[Problem]:
    """Find operations and answers without a test, and rows of what is not there."""
    text = page.read_text("utf-8") if page.exists() else ""
    rows = list(_rows(text))
    yield from _tests_that_are_gone(page, text)
    for row in rows:
        for message in _mistakes(row, operations):
            yield Problem(page, row.line, message)
    told = {(row.operation, row.status) for row in rows}
    for name, operation in operations.items():
        for status in sorted(set(operation.answers) - {status for one, status in told if one == name}):
            yield Problem(page, 0, f"no row says which test shows that {name} answers {status}.")


def _rows(text: str) -> Iterator[_Row]:
    for number, line in enumerate(text.splitlines(), start=1):
        if match := _ROW.fullmatch(line):
            yield _Row(number, match["operation"], int(match["status"]), match["tests"])


def _mistakes(row: _Row, operations: Mapping[str, Operation]) -> Iterator[str]:
    operation = operations.get(row.operation)
    if operation is None:
        yield f"there is no operation {row.operation}."
    elif row.status not in {*operation.answers, *operation.faults}:
        yield f"{row.operation} never answers {row.status}."
    if not _TEST.search(row.tests):
        yield f"no test of {row.operation} is named."


def _tests_that_are_gone(page: Path, text: str) -> Iterator[Problem]:
    for number, line in enumerate(text.splitlines(), start=1):
        for match in _TEST.finditer(line):
            if match["name"] not in _tests_in(TESTS / match["module"]):
                yield Problem(page, number, f"there is no test {match['name']} in tests/{match['module']}.")


@cache
def _tests_in(path: Path) -> frozenset[str]:
    if not path.is_file():
        return frozenset()
    tree = ast.parse(path.read_text("utf-8"))
    return frozenset(node.name for node in tree.body if isinstance(node, ast.FunctionDef))
