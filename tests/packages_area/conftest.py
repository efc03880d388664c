from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

# Imported for their tables, which the fixtures of databases make.
from host.packages import generations, lock, operations  # noqa: F401
from host.storage.engine import Database
from tests.packages_area.warm_pip import WarmPip, running_pip
from tests.packages_area.yard import Yard, make_yard


@pytest.fixture(scope="session")
def warm_pip() -> Iterator[WarmPip]:
    with running_pip() as pip:
        yield pip


@pytest.fixture
def cold_yard(tmp_path: Path, sqlite_database: Database) -> Yard:
    """An installation that starts pip as the host does."""
    return make_yard(tmp_path, sqlite_database)


@pytest.fixture
def yard(tmp_path: Path, sqlite_database: Database, warm_pip: WarmPip) -> Yard:
    """An installation whose pip needs no start."""
    return make_yard(tmp_path, sqlite_database, pip=warm_pip)
