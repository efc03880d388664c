from __future__ import annotations

from pathlib import Path

import pytest

# Imported for their tables, which the fixtures of databases make.
from host.packages import generations, lock, operations  # noqa: F401
from host.storage.engine import Database
from tests.packages_area.yard import Yard, make_yard


@pytest.fixture
def yard(tmp_path: Path, sqlite_database: Database) -> Yard:
    return make_yard(tmp_path, sqlite_database)
