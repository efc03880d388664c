"""Routes that behave, and routes that do not."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import AsyncIterator, Sequence

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Route

from host import Plugin, access, hookimpl


@access("anyone")
def plain(request: Request) -> Response:
    return PlainTextResponse("plain")


@access("anyone")
async def coroutine(request: Request) -> Response:
    return JSONResponse({"method": request.method, "body": (await request.body()).decode()})


@access("anyone")
async def stream(request: Request) -> Response:
    async def parts() -> AsyncIterator[str]:
        for number in range(3):
            await asyncio.sleep(0)
            yield f"{number}\n"

    return StreamingResponse(parts(), media_type="text/plain")


def whoami(request: Request) -> Response:
    return JSONResponse({"username": request.user.username})


@access("staff")
def for_staff(request: Request) -> Response:
    return PlainTextResponse("staff")


@access("superuser")
def for_superusers(request: Request) -> Response:
    return PlainTextResponse("superuser")


@access("anyone")
def raises(request: Request) -> Response:
    raise LookupError("the shelf is empty")


@access("anyone")
async def raises_later(request: Request) -> Response:
    await asyncio.sleep(0)
    raise LookupError("the shelf is empty")


@access("anyone")
def exits(request: Request) -> Response:
    sys.exit(3)


@access("anyone")
def blocks(request: Request) -> Response:
    time.sleep(_seconds(request))
    return PlainTextResponse("at last")


@access("anyone")
async def blocks_its_loop(request: Request) -> Response:
    time.sleep(_seconds(request))  # a mistake that authors make
    return PlainTextResponse("at last")


@access("anyone")
def answers_nothing(request: Request) -> Response:
    return None  # type: ignore[return-value]


def _seconds(request: Request) -> float:
    return min(float(request.query_params.get("seconds", "20")), 20.0)


class Router(Plugin):
    title = "Router"

    @hookimpl
    def routes(self) -> Sequence[BaseRoute]:
        return [
            Route("/plain/", plain),
            Route("/coroutine/", coroutine, methods=["GET", "POST"]),
            Route("/stream/", stream),
            Route("/whoami/", whoami),
            Route("/staff/", for_staff),
            Route("/superuser/", for_superusers),
            Route("/raises/", raises),
            Route("/raises-later/", raises_later),
            Route("/exits/", exits),
            Route("/blocks/", blocks),
            Route("/blocks-its-loop/", blocks_its_loop),
            Route("/answers-nothing/", answers_nothing),
        ]
