"""A bench for attachments, on a database of each kind."""

from __future__ import annotations

from pathlib import Path

import pytest

from host.storage.engine import Database
from tests.records.attachments.bench import Bench


@pytest.fixture
def bench(database: Database, tmp_path: Path) -> Bench:
    """Attachments on a database of each kind in turn."""
    made = Bench(database, tmp_path / "files")
    made.add_people()
    return made


@pytest.fixture
def sqlite_bench(sqlite_database: Database, tmp_path: Path) -> Bench:
    """Attachments on SQLite alone, for what no database has a say in."""
    made = Bench(sqlite_database, tmp_path / "files")
    made.add_people()
    return made
