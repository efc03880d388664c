"""What the HTTP interface holds on to while it runs: the host, and the few things that every request needs of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from api.authentication import Authentication
from host.packages.background import BackgroundInstalls
from host.storage.rows import Rows

if TYPE_CHECKING:
    from host.server import Host


class Runner(Protocol):
    """Runs a handler in a worker thread."""

    def __call__(self, handler: Callable[[], Response], /, *, replay: bool) -> Awaitable[Response]:
        """Return what the handler returned; ``replay`` allows to run it again without a plugin that is stuck."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Settings of the interface, taken from the host's configuration."""

    version: str = "0"
    api_version: int = 530
    installer: str = "pip"
    debug: bool = False
    locale: str = "en-us"
    origins: frozenset[str] = frozenset()
    """Origins whose pages may call the interface from a browser; ``*`` allows all, but then without cookies."""
    own_origins: frozenset[str] = frozenset()
    """Further addresses under which people reach the host; their pages may use its cookies."""
    max_body: int = 64 * 1024 * 1024
    """Largest body of a request, in bytes."""
    uploads: Path | None = None
    """Folder where files of a form wait while they are received; by default the system's own for temporary files."""


def _never() -> bool:
    return False


def _nothing() -> None:
    return None


async def run_plain(handler: Callable[[], Response], /, *, replay: bool = False) -> Response:
    """Run a handler that calls no plugin."""
    del replay
    return await run_in_threadpool(handler)


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """The host, and what the framework itself needs of it."""

    host: Host
    options: Options
    rows: Rows
    authentication: Authentication
    report: Callable[[str, str, str], Any]
    """Keeps an error report: path, message, traceback."""
    installs: BackgroundInstalls
    """Installs that go on after the answer."""
    is_stale: Callable[[], bool] = field(default=_never)
    """Tells, quickly, whether another process changed the plugins."""
    catch_up: Callable[[], Any] = field(default=_nothing)
    """Follows the change; runs in a worker thread."""
    run_with_plugins: Runner = field(default=run_plain)
    """Runs handlers that call plugins."""
