"""Imports over a database of each kind, or of one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from host.storage.engine import Database
from tests.importing.bench import ImportBench


@pytest.fixture
def imports(database: Database, tmp_path: Path) -> Iterator[ImportBench]:
    """Imports over a database of each kind in turn."""
    bench = ImportBench(database, tmp_path / "files")
    yield bench
    bench.drop()


@pytest.fixture
def sqlite_imports(sqlite_database: Database, tmp_path: Path) -> ImportBench:
    """Imports over SQLite, where the database has no say in what is tested."""
    return ImportBench(sqlite_database, tmp_path / "files")
