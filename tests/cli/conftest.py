"""A command line to call, and homes to call it in."""

from __future__ import annotations

import json
import logging
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from host.cli.main import app


class Answer:
    """What a command printed, and its exit code."""

    def __init__(self, result: Result) -> None:
        self.code = result.exit_code
        self.out = result.stdout
        self.err = result.stderr

    @property
    def document(self) -> Any:
        """The one JSON document on standard output."""
        return json.loads(self.out)

    def ok(self) -> Answer:
        """Return itself, once it is sure that the command succeeded."""
        assert self.code == 0, f"exit code {self.code}\n{self.out}{self.err}"
        return self


Run = Callable[..., Answer]


def run_plugyard(*arguments: object) -> Answer:
    """Run a command in this process."""
    return Answer(CliRunner().invoke(app, [str(one) for one in arguments], catch_exceptions=False))


@pytest.fixture(autouse=True)
def _own_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in [*os.environ]:
        if name.startswith(("PLUGYARD_", "PIP_")):
            monkeypatch.delenv(name)
    for name in ("COLUMNS", "FORCE_COLOR", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PLUGYARD_HOME", str(tmp_path / "home"))
    # Cheap hashes: the cost of good ones is no subject here.
    monkeypatch.setenv("PLUGYARD_ACCOUNT_PASSWORD_TIME_COST", "1")
    monkeypatch.setenv("PLUGYARD_ACCOUNT_PASSWORD_MEMORY_KIB", "32")
    monkeypatch.chdir(tmp_path)
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:], root.level = handlers, level


@pytest.fixture
def run() -> Run:
    """Run a command in this process: ``run("plugin", "list", "--json").document``."""
    return run_plugyard


@pytest.fixture(scope="session")
def first_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a home in which the host was opened once: the database is there, the plugins of the host are described."""
    home = tmp_path_factory.mktemp("first") / "home"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PLUGYARD_HOME", str(home))
        root = logging.getLogger()
        handlers, level = root.handlers[:], root.level
        run_plugyard("plugin", "list").ok()
        root.handlers[:], root.level = handlers, level
    return home


@pytest.fixture
def home(first_home: Path, tmp_path: Path) -> Path:
    """Give a home of its own to a test, with a database that is up to date."""
    return Path(shutil.copytree(first_home, tmp_path / "home"))
