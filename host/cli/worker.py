"""The command that runs background tasks: ``worker``."""

from __future__ import annotations

import logging.config
import os
import signal
import threading
from typing import Annotated

import typer

from host.cli.commands import command
from host.cli.loading import quick_imports
from host.cli.logs import log_config
from host.cli.opening import explained_database_errors, load_config
from host.cli.output import Output

KIND = "worker"
"""What such a process is for, as shown in the registry status."""


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    command(app, "worker")(worker)


def worker(
    out: Output,
    *,
    threads: Annotated[
        int, typer.Option(min=0, max=64, help="Tasks to run at once; 0 takes PLUGYARD_WORKER_THREADS.")
    ] = 0,
) -> None:
    """Run background tasks until a signal comes.

    Any number of workers may run, on any machine with the same database and queue. SIGTERM lets what runs come to its
    end, for at most PLUGYARD_WORKER_STOP_TIMEOUT seconds; other workers get the rest.
    """
    with quick_imports():
        from api.app import offer_exports  # noqa: PLC0415 - as below
        from host.server import Host  # noqa: PLC0415 - loads everything, and --help must be quick

    logging.config.dictConfig(log_config(level="INFO"))
    config = load_config()
    if threads:
        config = config.model_copy(update={"worker_threads": threads})
    stopping = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopping.set())
    with explained_database_errors():
        host = Host(config, kind=KIND, runs_tasks=True)
        try:
            offer_exports(host)
            host.start()
            document = {"worker": host.tasks.worker, "threads": config.worker_threads, "pid": os.getpid()}
            out.show(document, f"Worker {host.tasks.worker} runs up to {config.worker_threads} tasks at once.")
            stopping.wait()
        finally:
            host.close()
