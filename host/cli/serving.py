"""Run the web server: in this process, or in several worker processes."""

from __future__ import annotations

import errno
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, cast

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.supervisors import Multiprocess

from host.accounts.client_address import trusted_proxies
from host.cli.logs import log_config
from host.cli.output import CommandError

_SHUTDOWN_SECONDS = 10
_WORKER_SECONDS = 60
"""How long a worker may take to start, or to answer its supervisor."""
_FIRST_REQUEST_SECONDS = 1
"""How long a process that is to end still waits for the first request of a connection it has accepted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Where to serve, and whom to believe about where requests come from.

    Raises:
        CommandError: a proxy is given by something other than its address.

    """

    host: str
    port: int
    trusted_proxies: str = ""
    access_log: bool = False

    def __post_init__(self) -> None:
        self.believed()

    def believed(self) -> list[str]:
        """Return the addresses and networks of the proxies that are believed."""
        try:
            return trusted_proxies(self.trusted_proxies)
        except ValueError as error:
            raise CommandError(f"--trusted-proxies: {error}") from None


def bind(host: str, port: int) -> socket.socket:
    """Take the port before anything else is done.

    Raises:
        CommandError: it is in use, or may not be used.

    """
    try:
        (family, kind, protocol, _, address), *_ = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        bound = socket.socket(family, kind, protocol)
    except (OSError, OverflowError) as error:
        raise CommandError(_why_not_bound(host, port, error)) from error
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
    except OSError as error:
        bound.close()
        raise CommandError(_why_not_bound(host, port, error)) from error
    return bound


def url_of(bound: socket.socket, host: str) -> str:
    """Return the URL under which the server answers."""
    return f"http://{f'[{host}]' if ':' in host else host}:{bound.getsockname()[1]}"


def run_here(app: Any, bound: socket.socket, address: Address, when_ready: Callable[[], None]) -> bool:
    """Serve an application in this process until a signal comes, and return whether it was ever ready."""
    server = _Server(_config(app, address), when_ready)
    with suppress(SystemExit):  # raised where the application cannot start, after the reason was logged
        server.run(sockets=[bound])
    return server.started


def run_workers(
    factory: str, bound: socket.socket, address: Address, workers: int, when_ready: Callable[[], None]
) -> bool:
    """Serve with several processes until a signal comes, and return whether all were ever ready.

    Args:
        factory: ``module:function`` that makes the application in each process.
        when_ready: called in this process once every worker answers.

    SIGHUP replaces the workers one by one: a new one takes over before an old one ends, so that requests are answered
    all the time. SIGTTIN adds a worker, SIGTTOU removes one.
    """
    config = _config(factory, address, factory=True, workers=workers)
    supervisor = _Supervisor(config, [bound], when_ready)
    supervisor.run()
    return supervisor.ready


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, when_ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._when_ready = when_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._when_ready()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        # The base class raises the signal again when all is done, which would end the process with an error.
        before = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


class _Protocol(HttpToolsProtocol):
    def shutdown(self) -> None:
        # A connection without any request yet was made just now: its request is on the way, and closing would lose it.
        if cast("RequestResponseCycle | None", self.cycle) is None:
            self.loop.call_later(_FIRST_REQUEST_SECONDS, super().shutdown)
        else:
            super().shutdown()


class _Supervisor(Multiprocess):
    def __init__(self, config: uvicorn.Config, sockets: list[socket.socket], when_ready: Callable[[], None]) -> None:
        super().__init__(config, sockets)
        self._when_ready = when_ready
        self.ready = False

    def keep_subprocess_alive(self) -> None:
        super().keep_subprocess_alive()
        if not self.ready and not self.should_exit.is_set() and all(one.is_ready(timeout=1) for one in self.processes):
            self.ready = True
            self._when_ready()


def _config(app: Any, address: Address, **options: Any) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http=_Protocol,
        ws="none",
        lifespan="on",
        log_config=log_config(level="INFO", access_log=address.access_log),
        access_log=address.access_log,
        proxy_headers=bool(address.believed()),
        forwarded_allow_ips=address.believed(),
        server_header=False,
        timeout_graceful_shutdown=_SHUTDOWN_SECONDS,
        timeout_worker_healthcheck=_WORKER_SECONDS,
        **options,
    )


def _why_not_bound(host: str, port: int, error: Exception) -> str:
    number = getattr(error, "errno", None)
    if number == errno.EADDRINUSE:
        return f"Port {port} on {host} is in use already. Stop what uses it, or choose another with --port."
    if number == errno.EACCES:
        return f"Port {port} may only be used by the system's administrator. Choose one above 1023 with --port."
    reason = getattr(error, "strerror", None) or error
    return f"{host} port {port} cannot be served: {reason}. Choose others with --host and --port."
