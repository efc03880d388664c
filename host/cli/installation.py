"""What ``doctor`` reads from the database: packages, plugins, accounts and processes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy.engine import make_url

from host.accounts.directory import Directory
from host.cli.states import State, plugin_states
from host.config import Config
from host.errors import InvalidInputError
from host.packages.check import problems
from host.packages.environment import HostEnvironment
from host.packages.generations import Generation, Generations
from host.packages.plugins_file import PluginsFile
from host.plugins.convergence import COMMAND, Convergence
from host.plugins.records import Records
from host.storage.engine import Database
from host.storage.migrate import alembic_config

Row: TypeAlias = tuple[str, str, str, str]
"""Result, subject, message, remedy."""


def sqlite_file(url: str) -> Path | None:
    """Return the file of an SQLite database, ``None`` for another kind or one in memory."""
    parsed = make_url(url)
    if parsed.get_backend_name() != "sqlite" or not parsed.database or parsed.database == ":memory:":
        return None
    return Path(parsed.database)


def revisions(database: Database) -> tuple[str | None, str | None]:
    """Return the revision that the database is at, and the one that this version needs."""
    with database.read() as connection:
        present = MigrationContext.configure(connection).get_current_revision()
    return present, ScriptDirectory.from_config(alembic_config()).get_current_head()


def findings(database: Database, config: Config) -> Iterator[Row]:
    """Check what the database says, against the files where there are any."""
    yield from _packages(database, config)
    yield from _plugins(database)
    yield from _administrator(database)
    yield from _processes(database, config)


def _packages(database: Database, config: Config) -> Iterator[Row]:
    store = config.home.absolute() / "store"
    generation = Generations(database, store, on_switch=lambda _session, _number: None).in_force()
    if generation is not None:
        missing = [package.name for package in generation.lock if not (store / package.folder).is_dir()]
        if missing:
            message = f"generation {generation.number} lacks {', '.join(missing)} in {store}."
            yield "fail", "packages", message, "The next start unpacks them again from the kept wheels."
        else:
            count = len(generation.lock.packages)
            yield "ok", "packages", f"generation {generation.number}, {count} packages, all of them in place", ""
        environment = HostEnvironment(store)
        installed = environment.distributions()
        for problem in problems(generation.lock, installed, environment.label(installed)):
            yield "fail", "packages", problem, "Run: plugyard plugin sync"
    else:
        yield "ok", "packages", "none are installed", ""
    yield _plugins_file(config.plugins_txt, generation)


def _plugins_file(path: Path, generation: Generation | None) -> Row:
    try:
        text = path.read_text("utf-8") if path.exists() else ""
        wanted = {str(line.requirement) for line in PluginsFile(text, path.parent).requirements()}
    except InvalidInputError as error:
        return "fail", "plugins file", " ".join(error.fields.get("non_field_errors", [str(error)])), f"Correct {path}."
    except (OSError, UnicodeDecodeError) as error:
        return "fail", "plugins file", f"{path} cannot be read: {error}.", "Check its owner and encoding."
    known = PluginsFile(generation.requirements, path.parent).requirements() if generation else ()
    installed = {str(line.requirement) for line in known}
    if wanted == installed:
        return "ok", "plugins file", f"{path} agrees with what is installed", ""
    if not path.exists():
        return "warn", "plugins file", f"{path} is missing.", "Run: plugyard plugin sync"
    changed = ", ".join(sorted(wanted ^ installed))
    return "warn", "plugins file", f"{path} and what is installed differ in {changed}.", "Run: plugyard plugin sync"


def _plugins(database: Database) -> Iterator[Row]:
    states = plugin_states(database)
    running = sum(one.state in {State.ACTIVE, State.MANDATORY} for one in states)
    yield "ok", "plugins", f"{len(states)} known, {running} active", ""
    for one in states:
        name = f"plugin {one.key}"
        if one.state is State.QUARANTINED:
            yield "fail", name, f"left out: {one.message}", f"Run: plugyard plugin activate {one.key}"
        elif one.state is State.BROKEN:
            yield "fail" if one.active else "warn", name, one.message, "Correct or uninstall its package."
        elif one.state is State.NOT_INSTALLED:
            remedy = "Install its package again, or delete its record." if one.active else ""
            yield "warn" if one.active else "ok", name, "only its record and settings are left", remedy
        else:
            yield "ok", name, f"{one.state} ({one.origin}{f', {one.version}' if one.version else ''})", ""
    keys = {one.key for one in states}
    for failure in Records(database).errors():
        if failure.name not in keys:
            yield "fail", failure.name, f"{failure.stage}: {failure.message}", "Correct or uninstall the package."


def _administrator(database: Database) -> Iterator[Row]:
    names = [account.username for account in Directory(database).superusers()]
    if names:
        yield "ok", "administrator", ", ".join(names), ""
    else:
        yield "warn", "administrator", "there is none.", "Run: plugyard user create NAME --email E --superuser"


def _processes(database: Database, config: Config) -> Iterator[Row]:
    convergence = Convergence(database=database, file=config.home.absolute() / "registry.generation", kind=COMMAND)
    wanted = convergence.state().generation
    processes = convergence.processes()
    if not processes:
        yield "ok", "processes", "the service is not running", ""
    for process in processes:
        name = f"process {process['pid']} on {process['node']}"
        message = f"{process['kind']}, generation {process['generation']} of {wanted}"
        if process["restart_required"]:
            names = ", ".join(process["restart_required"])
            yield "warn", name, f"{message}; {names} needs new processes.", "Restart the service, or send it SIGHUP."
        elif process["generation"] < wanted:
            yield "warn", name, f"{message}; it is behind.", "It follows at its next request; else restart the service."
        else:
            yield "ok", name, message, ""
