"""Commands that run the service: ``serve`` and ``migrate``."""

from __future__ import annotations

import logging.config
import os
from functools import partial
from importlib.metadata import version
from typing import TYPE_CHECKING, Annotated

import typer

from host.cli.commands import command
from host.cli.loading import quick_imports
from host.cli.logs import log_config
from host.cli.opening import explained_database_errors, load_config
from host.cli.output import CommandError, Output
from host.errors import InvalidInputError

if TYPE_CHECKING:
    from host.accounts.administrators import CreatedAdministrator
    from host.server import Host

_WORKER = "host.cli.application:application"
_WORKER_WITHOUT_TASKS = "host.cli.application:application_without_tasks"


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    command(app, "serve")(serve)
    command(app, "migrate")(migrate)


def serve(
    out: Output,
    *,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0 takes a free one.")] = 8000,
    workers: Annotated[int, typer.Option(min=1, max=64, help="Number of processes.")] = 1,
    no_tasks: Annotated[bool, typer.Option("--no-tasks", help="Leave background tasks to 'plugyard worker'.")] = False,
    access_log: Annotated[bool, typer.Option("--access-log", help="Log each request.")] = False,
    trusted_proxies: Annotated[
        str, typer.Option(metavar="ADDRESSES", help="Proxies whose X-Forwarded headers are believed.")
    ] = "",
) -> None:
    """Bring the database up to date, then run the service.

    Background tasks run in it too, in one of several processes. SIGHUP replaces several processes one by one, which is
    how compiled plugins are taken up.
    """
    with quick_imports():
        from host.cli import serving  # noqa: PLC0415 - loads the web server
        from host.cli.application import served  # noqa: PLC0415 - loads everything, and --help must be quick
        from host.server import Host  # noqa: PLC0415 - as above

    address = serving.Address(host=host, port=port, trusted_proxies=trusted_proxies, access_log=access_log)
    logging.config.dictConfig(log_config(level="INFO", access_log=access_log))
    with serving.bind(host, port) as bound:
        with explained_database_errors():
            service = Host(load_config(), runs_tasks=not no_tasks)
            administrator = _prepare(service)
        if administrator is not None and not out.as_json:
            _introduce(out, administrator)
        ready = partial(_announce, out, serving.url_of(bound, host), administrator)
        if workers == 1:
            was_ready = serving.run_here(served(service), bound, address, ready)
        else:
            service.close()
            factory = _WORKER_WITHOUT_TASKS if no_tasks else _WORKER
            was_ready = serving.run_workers(factory, bound, address, workers, ready)
    if was_ready:
        return
    if administrator is not None and out.as_json:
        # Standard output belongs to the error, and nobody else knows the password.
        out.note(f"Created the administrator '{administrator.account.username}': {administrator.password or ''}")
    msg = "The service did not start; the lines above say why."
    raise CommandError(msg)


def migrate(out: Output) -> None:
    """Bring the database up to date."""
    from host.storage.engine import Database  # noqa: PLC0415 - as in serve
    from host.storage.migrate import migrate as apply_revisions  # noqa: PLC0415 - as in serve

    with explained_database_errors():
        database = Database(load_config().database)
        try:
            changed = apply_revisions(database)
        finally:
            database.close()
    out.show(
        {"migrated": changed}, "The database was brought up to date." if changed else "The database is up to date."
    )


def _prepare(service: Host) -> CreatedAdministrator | None:
    """Migrate and make the administrator once, before any process serves."""
    from host.storage.migrate import migrate as apply_revisions  # noqa: PLC0415 - as in serve

    apply_revisions(service.database)
    try:
        return service.ensure_administrator()
    except InvalidInputError as error:
        msg = f"The first administrator cannot be created: {error}\nCheck PLUGYARD_ADMIN_USER and PLUGYARD_ADMIN_EMAIL."
        raise CommandError(msg) from error


def _introduce(out: Output, administrator: CreatedAdministrator) -> None:
    name = administrator.account.username
    out.say(f"Created the administrator '{name}'.")
    if administrator.password is not None:
        out.say(f"Their password, shown only this once: {administrator.password}")
    for warning in administrator.warnings:
        out.warn(warning)


def _announce(out: Output, url: str, administrator: CreatedAdministrator | None) -> None:
    number = version("plugyard")
    document: dict[str, object] = {"url": url, "version": number, "pid": os.getpid()}
    if administrator is not None:
        document["administrator"] = {
            "username": administrator.account.username,
            "password": administrator.password,
            "warnings": administrator.warnings,
        }
    out.show(document, f"Plugyard {number} is ready on {url}")
