"""Putting the interface together: endpoints, and the layers around them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import BaseRoute, Match
from starlette.types import ASGIApp, Receive, Scope, Send

from api.context import Context
from api.documentation import DOCS_PATH, DocsPage, schema_endpoint
from api.endpoint import UnknownPath
from api.middleware import Edge
from api.operations import Described
from api.routing import HasPath, Routes


def assemble(
    context: Context,
    endpoints: Sequence[Described],
    *,
    others: Sequence[HasPath] = (),
    below: Mapping[str, ASGIApp] | None = None,
    lifespan: Callable[[Starlette], AbstractAsyncContextManager[None]] | None = None,
) -> Starlette:
    """Return the application.

    Args:
        context: what requests need of the host.
        endpoints: all of them, in the order of the documentation.
        others: applications of one path each that are no part of the interface.
        below: path prefix → ASGI application that answers everything below it.
        lifespan: runs around the time in which the application serves.

    """
    unknown = UnknownPath()
    schema = schema_endpoint(endpoints, version=context.options.version)
    routes = Routes(
        [*endpoints, schema, *others], otherwise=unknown, below={DOCS_PATH: DocsPage(unknown), **(below or {})}
    )
    return Starlette(
        routes=[_Everything(routes)],
        middleware=[Middleware(Edge, context=context)],
        lifespan=lifespan or _no_lifespan,
    )


@asynccontextmanager
async def _no_lifespan(_app: Starlette) -> AsyncIterator[None]:
    yield


class _Everything(BaseRoute):
    # A mount's pattern does not match every path: not those with line breaks.
    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        return (Match.FULL, {}) if scope["type"] == "http" else (Match.NONE, {})

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, send)
