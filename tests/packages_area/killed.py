"""Run as a process of its own: install a package, and be killed at a given point."""

from __future__ import annotations

import os
import signal
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from host.packages.install import Packages
from host.packages.operations import Progress
from host.packages.requests import InstallRequest
from host.storage.engine import Database
from tests.packages_area.yard import make_yard


def die(*_: Any) -> Any:
    os.kill(os.getpid(), signal.SIGKILL)


def main(root: str, url: str, point: str, packagename: str) -> None:
    """Install a package and die when the point is reached."""
    yard = make_yard(Path(root), Database(url))

    def on_progress(progress: Progress) -> None:
        if progress.stage == point or (point == "pip" and progress.line):
            die()

    callbacks = yard.callbacks
    if point in {"inspect", "on_switch", "after_switch"}:
        callbacks = replace(callbacks, **{point: die})
    Packages(yard.database, yard.options, callbacks).install(
        InstallRequest(packagename=packagename), on_progress=on_progress
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
