"""The checks of ``doctor``. They read only: a check must not repair what it is to report."""

from __future__ import annotations

import difflib
import os
import platform
import shutil
import stat
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from importlib.metadata import metadata
from pathlib import Path

from packaging.specifiers import SpecifierSet
from sqlalchemy.exc import SQLAlchemyError

from host.cli import installation
from host.cli.opening import explained_database_errors, load_config
from host.cli.output import CommandError
from host.config import FILE_VARIABLE, PREFIX, Config
from host.packages.pip_process import Pip
from host.storage.engine import Database
from host.storage.files import FilesFailedError, FileStore

_LITTLE_SPACE = 1 << 30
_TOO_LITTLE_SPACE = 50 << 20
_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_NOT_SETTINGS = frozenset({FILE_VARIABLE, "PLUGYARD_PASSWORD", "PLUGYARD_TARGET"})


class Result(StrEnum):
    """How a check went."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found."""

    result: Result
    subject: str
    message: str
    remedy: str = ""


def check_up() -> Iterator[Finding]:
    """Run every check; those that need what an earlier one found missing are left out."""
    yield _python()
    yield _pip()
    try:
        config = load_config()
    except CommandError as error:
        yield Finding(Result.FAIL, "configuration", str(error), "Correct it, then run this again.")
        return
    yield from _configuration(config)
    yield _home(config.home.absolute())
    yield _secret_key(config)
    yield _files(config)
    yield from _database(config)


def _python() -> Finding:
    running, wanted = platform.python_version(), metadata("plugyard")["Requires-Python"]
    if not SpecifierSet(wanted).contains(running, prereleases=True):
        message, remedy = f"{running} is not {wanted}.", f"Install Plugyard with Python {wanted}."
        return Finding(Result.FAIL, "Python", message, remedy)
    return Finding(Result.OK, "Python", running)


def _pip() -> Finding:
    run = Pip(limit=60).run(["--version"], on_line=lambda _line: None)
    if run.code != 0:
        remedy = f"Repair it with: {sys.executable} -m ensurepip"
        return Finding(Result.FAIL, "pip", f"it does not run: {run.output.strip()[-200:]}", remedy)
    return Finding(Result.OK, "pip", run.output.split(" from ")[0].strip())


def _configuration(config: Config, environment: Mapping[str, str] | None = None) -> Iterator[Finding]:
    entries = config.entries()
    counts = {source: sum(entry.source == source for entry in entries) for source in ("env", "toml", "default")}
    message = f"{counts['env']} settings from the environment, {counts['toml']} from a file, the rest are defaults"
    yield Finding(Result.OK, "configuration", message)
    known = {entry.key for entry in entries}
    for name in sorted(os.environ if environment is None else environment):
        if name.startswith(PREFIX) and name not in known | _NOT_SETTINGS:
            near = difflib.get_close_matches(name, known, n=1)
            remedy = f"Did you mean {near[0]}?" if near else "Remove it, or correct its name."
            yield Finding(Result.WARN, "configuration", f"{name} is no setting and has no effect.", remedy)


def _home(home: Path) -> Finding:
    existing = next(folder for folder in (home, *home.parents) if folder.exists())
    if not existing.is_dir() or not os.access(existing, os.W_OK | os.X_OK):
        remedy = "Change its owner or permissions, or set PLUGYARD_HOME to another folder."
        return Finding(Result.FAIL, "home folder", f"{existing} cannot be written.", remedy)
    free = shutil.disk_usage(existing).free
    message = f"{home}, {free / (1 << 30):.1f} GiB free"
    if free < _LITTLE_SPACE:
        result = Result.FAIL if free < _TOO_LITTLE_SPACE else Result.WARN
        return Finding(result, "home folder", f"{message}.", "Free some space.")
    if existing != home:
        return Finding(Result.OK, "home folder", f"{message}; the first start makes it")
    return Finding(Result.OK, "home folder", message)


def _secret_key(config: Config) -> Finding:
    path = config.home.absolute() / "secret.key"
    if config.secret_key.get_secret_value():
        return Finding(Result.OK, "secret key", "set in the configuration")
    if not path.exists():
        return Finding(Result.OK, "secret key", "the first start makes it")
    state = path.stat()
    mode = state.st_mode
    if state.st_size == 0:
        remedy = "Restore it from a backup, or remove it to have a new one made."
        return Finding(Result.FAIL, "secret key", f"{path} is empty.", remedy)
    if mode & _OTHERS:
        message = f"{path} can be used by others (mode {stat.S_IMODE(mode):o})."
        return Finding(Result.FAIL, "secret key", message, f"Run: chmod 600 {path}")
    return Finding(Result.OK, "secret key", "kept in the home folder, for its owner only")


def _files(config: Config) -> Finding:
    files = FileStore(config.home.absolute() / "files", config.files_url.get_secret_value())
    try:
        files.check()
    except FilesFailedError as error:
        return Finding(Result.FAIL, "files", error.reason, error.remedy)
    return Finding(Result.OK, "files", f"{files.where} can be written")


def _database(config: Config) -> Iterator[Finding]:
    database = None
    try:
        with explained_database_errors():
            file = installation.sqlite_file(config.database)
            if file is not None and not file.exists():
                yield Finding(Result.WARN, "database", f"{file} does not exist yet.", "Run: plugyard migrate")
                return
            database = Database(config.database)
            present, head = installation.revisions(database)
            shown = database.url.render_as_string(hide_password=True)
            if present != head:
                message = f"{shown} is at revision {present or 'none'}, and {head} is needed."
                yield Finding(Result.FAIL, "database", message, "Run: plugyard migrate")
                return
            yield Finding(Result.OK, "database", f"{shown}, at revision {present}")
            yield from _contents(database, config)
    except (CommandError, SQLAlchemyError) as error:
        message, _, remedy = str(error).partition("\n[")[0].partition("\n")
        yield Finding(Result.FAIL, "database", message, remedy or "Check PLUGYARD_DATABASE_URL.")
    finally:
        if database is not None:
            database.close()


def _contents(database: Database, config: Config) -> Iterator[Finding]:
    for level, subject, message, remedy in installation.findings(database, config):
        yield Finding(Result(level), subject, message, remedy)
