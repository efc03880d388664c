"""The routes of one plugin as an application: which endpoint answers, who may use it, and how errors look."""

from __future__ import annotations

import asyncio
import copy
import inspect
from collections.abc import Awaitable, Callable, Iterable
from contextvars import copy_context
from functools import partial
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Match, Route, request_response
from starlette.types import Scope

from host.contract.routes import access_of
from host.contract.values import Access
from host.plugins.transactions import end_left_open, innermost
from host.plugins.workers import WORKERS

_MOST_THREADS = 32
_PLAIN = request_response(lambda _request: Response()).__code__


def application(key: str, routes: Iterable[BaseRoute]) -> Starlette:
    """Return an application of the plugin's routes that answers errors as the host does."""
    threads = _Threads(key)
    app = Starlette(
        routes=[_in_threads(route, threads) for route in routes],
        exception_handlers={HTTPException: _refused, Exception: partial(_failed, key)},
    )
    app.router.redirect_slashes = False
    return app


def access_level(routes: Iterable[BaseRoute], scope: Scope) -> Access | None:
    """Return who may use the endpoint that answers a request; ``None`` where none does.

    A method that the endpoint does not offer makes no difference: who lacks the right learns nothing of it.
    """
    partial_match: Access | None = None
    for route in routes:
        match, child = route.matches(scope)
        if match is Match.NONE:
            continue
        level = _level(route, {**scope, **child})
        if match is Match.FULL:
            return level
        partial_match = partial_match or level
    return partial_match


def _level(route: BaseRoute, scope: Scope) -> Access | None:
    inner = getattr(route, "routes", None)
    if inner:
        return access_level(inner, scope)
    return access_of(scope.get("endpoint"))


def failure_body(key: str, path: str, error: BaseException) -> dict[str, object]:
    """Return the body of a 500, which reveals nothing but the class of the error."""
    return {
        "error": type(error).__name__,
        "error_class": str(type(error)),
        "detail": f"Plugin '{key}' failed; an error report was written.",
        "path": path,
        "status_code": 500,
    }


async def _refused(_request: Request, error: Exception) -> Response:
    if not isinstance(error, HTTPException):
        raise error
    if error.status_code in {204, 304}:
        return Response(status_code=error.status_code, headers=error.headers)
    return JSONResponse({"detail": error.detail}, error.status_code, headers=error.headers)


async def _failed(key: str, request: Request, error: Exception) -> Response:
    return JSONResponse(failure_body(key, request.url.path, error), 500)


class _Threads:
    """Runs ``def`` endpoints of one plugin in daemon threads: slow ones delay neither others nor the host's end."""

    def __init__(self, key: str) -> None:
        self._key = key
        self._running = 0

    async def run(self, endpoint: Callable[[Request], Response], request: Request) -> Response:
        if self._running >= _MOST_THREADS:
            detail = f"Plugin '{self._key}' is answering {_MOST_THREADS} requests already. Try again later."
            raise HTTPException(503, detail, {"Retry-After": "5"})
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Response] = loop.create_future()

        def job() -> None:
            outcome: Callable[[], None]
            before = innermost()
            try:
                try:
                    outcome = partial(_settle, future, endpoint(request), None)
                finally:
                    end_left_open(before)
            except BaseException as error:  # noqa: BLE001 - raised again where the endpoint is awaited
                outcome = partial(_settle, future, None, error)
            finally:
                self._running -= 1
            try:
                loop.call_soon_threadsafe(outcome)
            except RuntimeError:  # the loop was given up
                return

        self._running += 1
        context = copy_context()
        WORKERS.submit(lambda: context.run(job))
        return await future


def _settle(future: asyncio.Future[Response], response: Response | None, error: BaseException | None) -> None:
    if future.done():
        return
    if response is not None:
        future.set_result(response)
    elif isinstance(error, Exception) and not isinstance(error, StopIteration):
        future.set_exception(error)
    else:  # SystemExit and the like would end the event loop
        future.set_exception(RuntimeError(f"the endpoint raised or returned {type(error).__name__}"))


def _in_threads(route: BaseRoute, threads: _Threads) -> BaseRoute:
    if type(route) is not Route or getattr(route.app, "__code__", None) is not _PLAIN:
        return route
    if not (inspect.isfunction(route.endpoint) or inspect.ismethod(route.endpoint)):
        return route
    if inspect.iscoroutinefunction(route.endpoint):
        return route
    changed = copy.copy(route)
    changed.app = request_response(_awaiting(threads, route.endpoint))
    return changed


def _awaiting(threads: _Threads, endpoint: Callable[..., Any]) -> Callable[[Request], Awaitable[Response]]:
    async def run(request: Request) -> Response:
        return await threads.run(endpoint, request)

    return run
