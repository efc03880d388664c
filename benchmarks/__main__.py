"""Run the benchmarks: ``python -m benchmarks [--only NAME] [--json FILE]``."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from benchmarks import (
    bench_accounts,
    bench_attachments,
    bench_discovery,
    bench_export,
    bench_hooks,
    bench_import,
    bench_life,
    bench_packages,
    bench_requests,
    bench_start,
)
from benchmarks.figures import Figure, shown

BENCHMARKS: Mapping[str, Callable[[], list[Figure]]] = {
    "hooks": bench_hooks.run,
    "discovery": bench_discovery.run,
    "requests": bench_requests.run,
    "accounts": bench_accounts.run,
    "attachments": bench_attachments.run,
    "export": bench_export.run,
    "import": bench_import.run,
    "start": bench_start.run,
    "packages": bench_packages.run,
    "life": bench_life.run,
}

_VERDICTS = {True: "met", False: "MISSED", None: ""}


def main() -> int:
    """Print a table of all figures; 1 when a target is missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--only", action="append", choices=BENCHMARKS, metavar="NAME", help=", ".join(BENCHMARKS))
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures to a file, too")
    wanted = parser.parse_args()
    began = time.monotonic()
    found: dict[str, list[Figure]] = {}
    for name in wanted.only or BENCHMARKS:
        print(f"\n{name}", flush=True)
        found[name] = BENCHMARKS[name]()
        for figure in found[name]:
            print(_line(figure), flush=True)
    print(f"\n{time.monotonic() - began:.0f} s")
    if wanted.json is not None:
        wanted.json.write_text(json.dumps(_document(found), indent=2, ensure_ascii=False) + "\n", "utf-8")
    return int(any(figure.is_met is False for figures in found.values() for figure in figures))


def _line(figure: Figure) -> str:
    target = "" if figure.target is None else str(figure.target)
    line = f"  {figure.name:<58}{shown(figure.value):>8} {figure.unit:<6}{target:>6}  {_VERDICTS[figure.is_met]}"
    return line.rstrip()


def _document(found: Mapping[str, list[Figure]]) -> dict[str, Any]:
    return {
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "figures": [
            {
                "benchmark": name,
                "name": figure.name,
                "value": figure.value,
                "unit": figure.unit,
                "target": None if figure.target is None else str(figure.target),
                "met": figure.is_met,
            }
            for name, figures in found.items()
            for figure in figures
        ],
    }


if __name__ == "__main__":
    sys.exit(main())
