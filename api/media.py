"""Stored files below ``/media/``, for whoever is signed in and may read them.

What people upload is never shown as a page of this host: only pictures, PDF and plain text may be shown in place, all
else is to be saved, and nothing of it may run scripts or load anything.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from email.utils import formatdate, parsedate_to_datetime
from pathlib import PurePosixPath
from typing import Final
from urllib.parse import quote

import anyio
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from api.answers import Empty, Json, RawHeaders, Refusal
from api.authentication import demand
from api.endpoint import CONTEXT
from api.errors import answer_to
from api.ranges import Part, Unsatisfiable, find_part
from api.request import ApiRequest
from host.records.media import Media
from host.storage.files import FileInfo

PREFIX: Final = "/media/"

_SHOWN: Final[Mapping[str, str]] = {
    ".gif": "image/gif",
    ".jpeg": "image/jpeg",
    ".jpg": "image/jpeg",
    ".log": "text/plain; charset=utf-8",
    ".pdf": "application/pdf",
    ".png": "image/png",
    ".txt": "text/plain; charset=utf-8",
    ".webp": "image/webp",
}
"""Ending of the name → media type, of what may be shown in place."""

_SAVED: Final[Mapping[str, str]] = {
    ".7z": "application/x-7z-compressed",
    ".bmp": "image/bmp",
    ".csv": "text/csv; charset=utf-8",
    ".doc": "application/msword",
    ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ".gz": "application/gzip",
    ".json": "application/json",
    ".mp3": "audio/mpeg",
    ".mp4": "video/mp4",
    ".odp": "application/vnd.oasis.opendocument.presentation",
    ".ods": "application/vnd.oasis.opendocument.spreadsheet",
    ".odt": "application/vnd.oasis.opendocument.text",
    ".ppt": "application/vnd.ms-powerpoint",
    ".pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    ".tar": "application/x-tar",
    ".tif": "image/tiff",
    ".tiff": "image/tiff",
    ".tsv": "text/tab-separated-values; charset=utf-8",
    ".wav": "audio/wav",
    ".webm": "video/webm",
    ".xls": "application/vnd.ms-excel",
    ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ".zip": "application/zip",
}
"""The same of what is to be saved. All other endings, SVG, HTML and XML among them, are bytes of no known kind."""

_UNKNOWN: Final = "application/octet-stream"
_LOCKED: Final = (
    (b"content-security-policy", b"sandbox; default-src 'none'"),
    (b"cache-control", b"private, no-cache"),
    (b"accept-ranges", b"bytes"),
)


class MediaFiles:
    """An ASGI application that answers everything below ``/media/``.

    The order is as everywhere: who is calling (401), the method (405), the file (404).
    """

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        request = ApiRequest(scope, scope[CONTEXT])
        response = await run_in_threadpool(self._answer, request)
        if request.method == "HEAD":
            response.body = b""
        await response(scope, receive, send)

    def _answer(self, request: ApiRequest) -> Response:
        try:
            request.user, request.scheme = request.context.authentication.identify(request)
            demand(request.user, "user", request.obstacle)
            if request.method not in {"GET", "HEAD"}:
                raise Refusal(405, f'Method "{request.method}" not allowed.', headers=((b"allow", b"GET, HEAD"),))  # noqa: TRY301
            media = request.host.records.media
            return _served(media, media.find(request.path.removeprefix(PREFIX), request.caller), request)
        except Exception as error:  # noqa: BLE001 - answered with 500 and recorded
            return answer_to(error, request)


def _served(media: Media, found: FileInfo, request: ApiRequest) -> Response:
    etag = f'"{found.etag}"'.encode()
    modified = formatdate(found.modified.timestamp(), usegmt=True).encode()
    headers: RawHeaders = [(b"etag", etag), (b"last-modified", modified), *_LOCKED]
    asked = request.headers
    if _is_known(asked, found, etag):
        return Empty(304, headers)
    headers += _described(found.path)
    if request.method == "HEAD":
        return _bare(headers, found.size)
    part = find_part(asked, size=found.size, etag=etag, modified=modified)
    if isinstance(part, Unsatisfiable):
        refused = Json({"detail": f"The file has {found.size} bytes; the range asked for lies beyond them."}, 416)
        refused.raw_headers += [(b"content-range", b"bytes */%d" % found.size), *_LOCKED]
        return refused
    if part is None:
        return FileAnswer(media, found, Part(0, found.size), 200, headers)
    headers.append((b"content-range", b"bytes %d-%d/%d" % (part.start, part.end - 1, found.size)))
    return FileAnswer(media, found, part, 206, headers)


def _bare(headers: RawHeaders, size: int) -> Response:
    bare = Response()
    bare.raw_headers = [*headers, (b"content-length", b"%d" % size)]
    return bare


class FileAnswer(StreamingResponse):
    """A part of a file, or all of it, sent as it is read.

    Making one reads the first piece: a file that cannot be read is an error before any answer was begun.
    """

    def __init__(self, media: Media, found: FileInfo, part: Part, status: int, headers: RawHeaders) -> None:
        pieces = media.read(found, part.start, part.end)
        first = next(pieces, b"")
        self._pieces = pieces
        super().__init__(_joined(first, pieces), status)
        self.raw_headers = [*headers, (b"content-length", b"%d" % (part.end - part.start))]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it, and close the file also when nobody wants the rest."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            if isinstance(self._pieces, Generator):
                with anyio.CancelScope(shield=True):
                    await run_in_threadpool(self._pieces.close)


def _joined(first: bytes, pieces: Iterator[bytes]) -> Iterator[bytes]:
    yield first
    yield from pieces


def _is_known(asked: Mapping[bytes, bytes], found: FileInfo, etag: bytes) -> bool:
    named = asked.get(b"if-none-match")
    if named is not None:
        tags = [tag.strip().removeprefix(b"W/") for tag in named.split(b",")]
        return b"*" in tags or etag in tags
    since = asked.get(b"if-modified-since")
    if since is None:
        return False
    try:
        moment = parsedate_to_datetime(since.decode("latin-1"))
        return int(found.modified.timestamp()) <= moment.timestamp()
    except (ValueError, TypeError, OverflowError):
        return False


def _described(path: str) -> RawHeaders:
    """Return the headers that say what a file is, by its name, and what to do with it."""
    name = path.rpartition("/")[2]
    ending = PurePosixPath(name.lower()).suffix
    shown = _SHOWN.get(ending)
    kind = shown or _SAVED.get(ending, _UNKNOWN)
    plain = "".join(sign if sign.isascii() and sign not in '"%\\' else "_" for sign in name)
    disposition = f'{"inline" if shown else "attachment"}; filename="{plain}"'
    if plain != name:
        disposition += f"; filename*=UTF-8''{quote(name, safe='')}"
    return [(b"content-type", kind.encode()), (b"content-disposition", disposition.encode())]
