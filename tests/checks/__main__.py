"""Check that the documentation says what the code does: ``python -m tests.checks``; ``--write`` brings it there."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator

from tests.checks import completeness, links, record_operations, reference, sign_in_operations, words
from tests.checks.problems import Problem

CHECKS: tuple[Callable[[], Iterator[Problem]], ...] = (
    reference.check,
    completeness.check,
    sign_in_operations.check,
    record_operations.check,
    links.check,
    words.check,
)


def main() -> int:
    """Run every check; return 1 when there are problems."""
    parser = argparse.ArgumentParser(prog="python -m tests.checks", description="Check the documentation.")
    parser.add_argument("--write", action="store_true", help="write the generated pages of the reference first")
    if parser.parse_args().write:
        for name in reference.write():
            sys.stdout.write(f"wrote docs/reference/{name}\n")
    problems = sorted({problem for check in CHECKS for problem in check()})
    for problem in problems:
        sys.stdout.write(f"{problem}\n")
    sys.stdout.write(f"{len(problems)} problems.\n" if problems else "The documentation is complete and up to date.\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
