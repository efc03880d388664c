"""The application as the web server runs it, in this process or in a worker."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from host.cli.loading import quick_imports
from host.cli.opening import load_config
from host.errors import HostError

with quick_imports():
    from api.app import create_app
    from host.server import Host


def application() -> ASGIApp:
    """Make the application of one of several processes; one of them runs background tasks."""
    return _application(runs_tasks=True)


def application_without_tasks() -> ASGIApp:
    """Make the application of one of several processes that run no background tasks."""
    return _application(runs_tasks=False)


def _application(*, runs_tasks: bool) -> ASGIApp:
    # The process ends with the one that started it.
    parent = multiprocessing.parent_process()
    if parent is not None:

        def follow() -> None:
            parent.join()
            os.kill(os.getpid(), signal.SIGTERM)

        threading.Thread(target=follow, name="plugyard-parent", daemon=True).start()
    return served(Host(load_config(), runs_tasks=runs_tasks))


def served(host: Host) -> ASGIApp:
    """Return the application of a host, which starts and stops with it.

    Where the host cannot start, the log gets the reason; a traceback only where the reason is not the host's own.
    """
    app = create_app(host)

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await _live(app, scope, receive, send)
        else:
            await app(scope, receive, send)

    return serve


async def _live(app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
    failed: list[Message] = []

    async def hold(message: Message) -> None:
        if message["type"] == "lifespan.startup.failed":
            failed.append(message)
        else:
            await send(message)

    try:
        await app(scope, receive, hold)
    except HostError as error:
        failed = [{"type": "lifespan.startup.failed", "message": str(error)}] if failed else []
        raise
    finally:
        for message in failed:
            await send(message)
