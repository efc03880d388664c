"""Bodies: read without blocking, limited in size, then parsed in the worker thread."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import Any, BinaryIO, Final, cast
from urllib.parse import parse_qsl

import orjson
from python_multipart.multipart import parse_options_header
from starlette.datastructures import Headers, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import ClientDisconnect
from starlette.types import Receive

from api.answers import JSON_TYPE, Refusal
from api.negotiation import FORM, MULTIPART, PARSES, media_type

SMALL: Final = 64 * 1024
"""Bodies up to this size are read before it is known who sends them."""

LARGEST_TEXT: Final = 4 * 1024 * 1024
"""Largest body that is parsed in memory, where it takes many times its size; files of a form may be larger."""

_MAX_FIELDS = 1000
_MAX_FILES = 20
_CHARSETS = frozenset({"utf-8", "utf8", "us-ascii", "ascii"})
_CLOSE = ((b"connection", b"close"),)


@dataclass(frozen=True, slots=True)
class Body:
    """A body as it was received: bytes, or the parts of a form."""

    media_type: str = ""
    raw: bytes = b""
    parts: list[tuple[str, str | UploadFile]] = field(default_factory=list)

    async def close(self) -> None:
        """Give up the files."""
        for _, part in self.parts:
            if isinstance(part, UploadFile):
                await part.close()


NO_BODY: Final = Body()


def announced_size(headers: Mapping[bytes, bytes]) -> int | None:
    """Return how long the body is going to be; ``None`` when the client does not say."""
    length = headers.get(b"content-length")
    if length is not None and length.isdigit():
        return int(length)
    return None if b"transfer-encoding" in headers or length is not None else 0


async def read_body(
    headers: Mapping[bytes, bytes], receive: Receive, *, limit: int, folder: Path | None = None
) -> Body:
    """Read the body. Files of a form are written to disk as they come.

    Args:
        headers: of the request.
        receive: gives the body piece by piece.
        limit: most bytes of it.
        folder: for files of a form, which have no name there and go with the process; by default the system's own.

    Raises:
        Refusal: 413 when it is longer than ``limit`` bytes or, other than a form with files, than
            :data:`LARGEST_TEXT`; 400 when it is a broken form.
        ClientDisconnect: the client went away.

    """
    size = announced_size(headers)
    if size == 0:
        return NO_BODY
    kind = media_type(headers.get(b"content-type"))
    limit = limit if kind == MULTIPART else min(limit, LARGEST_TEXT)
    if size is not None and size > limit:
        raise _too_large(limit)
    async with aclosing(_pieces(receive, limit)) as pieces:
        if kind == MULTIPART:
            return Body(kind, parts=await _read_parts(headers, pieces, folder))
        return Body(kind, b"".join([piece async for piece in pieces]))


async def _pieces(receive: Receive, limit: int) -> AsyncGenerator[bytes]:
    received = 0
    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        piece: bytes = message.get("body", b"")
        more = message.get("more_body", False)
        received += len(piece)
        if received > limit:
            raise _too_large(limit)
        if piece:
            yield piece


def _too_large(limit: int) -> Refusal:
    detail = f"The body is too large; at most {limit} bytes are accepted."
    if limit > LARGEST_TEXT:
        detail += " The administrator can allow more with PLUGYARD_MAX_BODY_MB."
    return Refusal(413, detail, headers=_CLOSE)


class _StrictParser(MultiPartParser):
    folder: Path | None = None

    # The system's folder for temporary files is often a small one, or in memory.
    def on_headers_finished(self) -> None:
        super().on_headers_finished()
        upload = self._current_part.file
        if upload is not None and self.folder is not None:
            file = SpooledTemporaryFile(max_size=self.spool_max_size, dir=str(self.folder))  # noqa: SIM115 - the body closes it
            upload.file.close()
            upload.file = cast("BinaryIO", file)
            self._files_to_close_on_error[-1] = file

    # The parser of Starlette takes text that is no UTF-8 for Latin-1.
    def on_part_end(self) -> None:
        part = self._current_part
        if part.file is None:
            try:
                part.data.decode(self._charset)
            except (UnicodeDecodeError, LookupError):
                message = f"The member '{part.field_name}' is not valid {self._charset}."
                raise MultiPartException(message) from None
        super().on_part_end()


async def _read_parts(
    headers: Mapping[bytes, bytes], pieces: AsyncGenerator[bytes], folder: Path | None
) -> list[tuple[str, str | UploadFile]]:
    _check_charset(headers[b"content-type"])
    parser = _StrictParser(Headers(raw=list(headers.items())), pieces, max_files=_MAX_FILES, max_fields=_MAX_FIELDS)
    parser.folder = folder
    try:
        form = await parser.parse()
    except MultiPartException as error:
        raise Refusal(400, f"Multipart form parse error: {error.message}") from None
    except ValueError:  # a boundary that no form can have
        raise Refusal(400, "Multipart form parse error: Invalid boundary in multipart.") from None
    return form.multi_items()


def _check_charset(content_type: bytes) -> None:
    # Any codec of Python's could be named, and some take minutes for a megabyte.
    named = parse_options_header(content_type)[1].get(b"charset", b"utf-8").decode("latin-1")
    if named.lower() not in _CHARSETS:
        raise Refusal(400, "Multipart form parse error: Text must be UTF-8.")


def parse_body(body: Body, *, forms: bool) -> tuple[dict[str, Any], bool]:
    """Return the members of a body, and whether they come from a form.

    ``forms`` says whether forms are accepted as well as JSON.

    Raises:
        Refusal: 400 when the body is broken or no object, 415 when it is of another media type.

    """
    if not body.raw and not body.parts:
        return {}, False
    if forms and body.media_type == MULTIPART:
        return _members(body.parts), True
    if forms and body.media_type == FORM:
        return _members(_urlencoded(body.raw)), True
    if body.media_type == JSON_TYPE or (not body.media_type and not forms):
        return _object(body.raw), False
    if not forms:
        return {}, False
    raise Refusal(415, f'Unsupported media type "{body.media_type}" in request. Send one of {", ".join(PARSES)}.')


def _object(raw: bytes) -> dict[str, Any]:
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        raise Refusal(400, f"JSON parse error - {error}") from None
    if not isinstance(value, dict):
        raise Refusal(400, f"JSON parse error - the body must be an object, not {_NAMES.get(type(value), 'null')}.")
    return value


_NAMES: Mapping[type, str] = {list: "a list", str: "a string", int: "a number", float: "a number", bool: "a boolean"}


def _urlencoded(raw: bytes) -> list[tuple[str, str]]:
    try:
        return parse_qsl(raw.decode(), keep_blank_values=True, errors="strict", max_num_fields=_MAX_FIELDS)
    except (ValueError, UnicodeDecodeError):
        raise Refusal(400, "The form is not valid: it must be UTF-8 and have at most 1000 members.") from None


def _members(items: list[tuple[str, Any]]) -> dict[str, Any]:
    members: dict[str, Any] = {}
    for name, value in items:
        if name not in members:
            members[name] = value
        elif isinstance(members[name], list):
            members[name].append(value)
        else:
            members[name] = [members[name], value]
    return members
