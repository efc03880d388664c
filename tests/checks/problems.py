"""What a check finds, and where the project's files are."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """Something that is not as it should be."""

    path: Path
    line: int
    """Number of the line; 0 where the whole file is meant."""
    message: str

    def __str__(self) -> str:
        """Say it in one line, so that an editor can jump there."""
        path = self.path.relative_to(ROOT) if self.path.is_relative_to(ROOT) else self.path
        return f"{path}{f':{self.line}' if self.line else ''}: {self.message}"


def pages() -> Iterator[Path]:
    """Iterate over the project's pages: README, CHANGELOG and the documentation."""
    yield ROOT / "README.md"
    yield ROOT / "CHANGELOG.md"
    yield from sorted(DOCS.rglob("*.md"))


@cache
def project_files() -> tuple[Path, ...]:
    """Return every file that belongs to the project, as git sees it: the ones to be added included."""
    if not (ROOT / ".git").exists():
        return tuple(path for path in sorted(ROOT.rglob("*")) if path.is_file() and not _is_made(path))
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout.decode()
    found = sorted({ROOT / name for name in listed.split("\0") if name})
    return tuple(path for path in found if path.is_file())


def _is_made(path: Path) -> bool:
    # An archive of the sources has no .gitignore to ask.
    parts = path.relative_to(ROOT).parts
    return parts[0] in {"build", "dist", "var"} or any(part.startswith(".") or part == "__pycache__" for part in parts)
