"""Static files of plugins below ``/static/plugins/<key>/``."""

from __future__ import annotations

import hashlib
import mimetypes
import os
import re
import stat
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePosixPath

import anyio.to_thread
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, Response
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocketClose

from host.errors import NotFoundError
from host.plugins.current import Registries

# What the machine's own tables say of these differs too much.
_TYPES = {
    ".css": "text/css",
    ".html": "text/html",
    ".js": "text/javascript",
    ".json": "application/json",
    ".map": "application/json",
    ".mjs": "text/javascript",
    ".otf": "font/otf",
    ".svg": "image/svg+xml",
    ".ttf": "font/ttf",
    ".txt": "text/plain",
    ".wasm": "application/wasm",
    ".webp": "image/webp",
    ".woff": "font/woff",
    ".woff2": "font/woff2",
}
_VERSIONED = re.compile(rb"v=(?P<version>[0-9a-f]{16})")
_FOR_EVER = "public, max-age=31536000, immutable"
_PACKED = {"gzip": "application/gzip", "bzip2": "application/x-bzip2", "xz": "application/x-xz"}


@dataclass(frozen=True, slots=True)
class _File:
    path: Path
    state: os.stat_result

    @property
    def etag(self) -> str:
        # Files of packages have made-up times; their folder's name changes with every version.
        seen = f"{self.path}\0{self.state.st_mtime_ns}\0{self.state.st_size}"
        return f'"{hashlib.sha256(seen.encode("utf-8", "surrogateescape")).hexdigest()[:32]}"'

    @property
    def version(self) -> str:
        """What tells the content from any other, the same on every machine."""
        return _digest(self.path, self.state.st_mtime_ns, self.state.st_size)


class PluginFiles:
    """An ASGI application, to be mounted at ``/static/plugins``, that serves the static folders of active plugins.

    Anyone may read them. Nothing outside the folder is reachable, nor any file or folder whose name begins with a dot.
    Clients ask each time whether a file has changed, except where they name its version as ``?v=``.
    """

    def __init__(self, registries: Registries) -> None:
        self._registries = registries

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request.

        Raises:
            NotFoundError: no active plugin has this key, or it has no such file.
            HTTPException: 405 for other methods than GET and HEAD.

        """
        if scope["type"] == "websocket":
            await WebSocketClose()(scope, receive, send)
            return
        key, _, rest = scope["path"].removeprefix(scope.get("root_path", "")).lstrip("/").partition("/")
        plugin = self._registries.current.plugins.get(key)
        folder = plugin.static_folder if plugin else None
        if folder is None:
            msg = f"No active plugin with static files has the key '{key}'."
            raise NotFoundError(msg)
        if scope["method"] not in {"GET", "HEAD"}:
            raise HTTPException(405, headers={"Allow": "GET, HEAD"})
        file = await anyio.to_thread.run_sync(_find, folder, rest)
        if file is None:
            msg = f"Plugin '{key}' has no static file '{rest}'."
            raise NotFoundError(msg)
        asked_for = _VERSIONED.fullmatch(scope.get("query_string", b""))
        is_versioned = asked_for is not None and await anyio.to_thread.run_sync(_is_version, file, asked_for["version"])
        await _response(file, Headers(scope=scope), is_versioned=is_versioned)(scope, receive, send)


def version_of(folder: Path | None, path: str) -> str | None:
    """Return what tells the content of a static file from any other, or ``None`` where there is no such file."""
    file = _find(folder, path) if folder is not None else None
    return file.version if file is not None else None


def _is_version(file: _File, version: bytes) -> bool:
    try:
        return file.version.encode() == version
    except OSError:  # gone just now
        return False


@lru_cache(maxsize=256)
def _digest(path: Path, changed: int, size: int) -> str:
    del changed, size  # they only tell the contents apart that a file has had
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:16]


def _find(folder: Path, path: str) -> _File | None:
    parts = path.split("/")
    if any(not part or part.startswith(".") or "\\" in part or "\0" in part for part in parts):
        return None
    try:
        root = folder.resolve(strict=True)
        found = root.joinpath(*parts).resolve(strict=True)
        state = found.stat()
    except (OSError, ValueError, RuntimeError):
        return None
    if not found.is_relative_to(root) or not stat.S_ISREG(state.st_mode):
        return None
    # A link within the folder must not lead to what may not be named either.
    if any(part.startswith(".") for part in found.relative_to(root).parts):
        return None
    return _File(found, state)


def _response(file: _File, asked: Headers, *, is_versioned: bool) -> Response:
    caching = _FOR_EVER if is_versioned else "no-cache"
    headers = {"etag": file.etag, "cache-control": caching, "x-content-type-options": "nosniff"}
    if is_known(asked.get("if-none-match", ""), file.etag):
        return Response(status_code=304, headers=headers)
    return FileResponse(file.path, headers=headers, media_type=content_type(file.path.name), stat_result=file.state)


def is_known(if_none_match: str, etag: str) -> bool:
    """Tell whether the tags that a client has include this one, weak or strong."""
    tags = [tag.strip().removeprefix("W/") for tag in if_none_match.split(",")]
    return "*" in tags or etag in tags


def content_type(name: str) -> str:
    """Return the media type of a file by its name."""
    known = _TYPES.get(PurePosixPath(name.lower()).suffix)
    if known is not None:
        return known
    guessed, packed = mimetypes.guess_type(name)
    if packed is not None:
        return _PACKED.get(packed, "application/octet-stream")
    return guessed or "application/octet-stream"
