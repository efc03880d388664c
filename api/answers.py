"""Answers: JSON and nothing else, made with as little work as possible."""

from __future__ import annotations

import zlib
from collections.abc import Generator, Iterable, Iterator, Sequence
from typing import Any, Final, TypeAlias

import anyio
import orjson
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

RawHeaders: TypeAlias = list[tuple[bytes, bytes]]

JSON_TYPE: Final = "application/json"

_JSON_HEADER = (b"content-type", b"application/json")
_GZIP_HEADERS = [(b"content-encoding", b"gzip"), (b"vary", b"Accept-Encoding")]
_WORTH_PACKING = 8 * 1024
_LEVEL = 4
_PIECE = 64 * 1024


class Json(Response):
    """A JSON answer."""

    def __init__(self, content: Any, status: int = 200, headers: Iterable[tuple[bytes, bytes]] = ()) -> None:
        self.status_code = status
        self.background = None
        self.body = body = orjson.dumps(content)
        self.raw_headers = [(b"content-length", b"%d" % len(body)), _JSON_HEADER, *headers]


class Empty(Response):
    """An answer without a body."""

    def __init__(self, status: int = 204, headers: Iterable[tuple[bytes, bytes]] = ()) -> None:
        self.status_code = status
        self.background = None
        self.body = b""
        self.raw_headers = list(headers)
        if status != 204:  # noqa: PLR2004 - No Content
            self.raw_headers.append((b"content-length", b"0"))


class Refusal(Exception):  # noqa: N818 - it refuses a request, nothing went wrong
    """Ends the work on a request with an answer that says why."""

    def __init__(
        self,
        status: int,
        detail: str = "",
        *,
        body: Any = None,
        headers: Sequence[tuple[bytes, bytes]] = (),
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.body = {"detail": detail} if body is None else body
        self.headers = headers

    def answer(self) -> Json:
        """Return the answer."""
        return Json(self.body, self.status, self.headers)


class JsonArray(StreamingResponse):
    """A JSON array that is sent while it is made, a batch of members at a time."""

    def __init__(self, pieces: Generator[Sequence[Any]]) -> None:
        self._pieces = pieces
        super().__init__(_array(pieces), media_type=JSON_TYPE)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            await self.close()

    async def close(self) -> None:
        """Let go of what the members are made of, also when nobody wants the rest."""
        with anyio.CancelScope(shield=True):
            await run_in_threadpool(self._pieces.close)


def _array(pieces: Iterator[Sequence[Any]]) -> Iterator[bytes]:
    yield b"["
    first = True
    for piece in pieces:
        if not piece:
            continue
        text = orjson.dumps(piece)[1:-1]
        yield text if first else b"," + text
        first = False
    yield b"]"


def packed(response: Response) -> Response:
    """Compress an answer where that is worth the time."""
    if isinstance(response, JsonArray):
        response.body_iterator = _packed_stream(response.body_iterator)
        response.raw_headers.extend(_GZIP_HEADERS)
        return response
    if type(response) is not Json or len(response.body) < _WORTH_PACKING:
        return response
    packer = _packer()
    response.body = packer.compress(response.body) + packer.flush()
    response.raw_headers[0] = (b"content-length", b"%d" % len(response.body))
    response.raw_headers.extend(_GZIP_HEADERS)
    return response


async def _packed_stream(pieces: Any) -> Any:
    packer = _packer()
    waiting = b""
    async for piece in pieces:
        waiting += packer.compress(piece)
        if len(waiting) >= _PIECE:
            yield waiting
            waiting = b""
    yield waiting + packer.flush()


def _packer() -> Any:
    return zlib.compressobj(_LEVEL, zlib.DEFLATED, 16 + zlib.MAX_WBITS)
