"""What surrounds every request: its id, the headers of every answer, CORS, fresh plugins, and the last resort."""

from __future__ import annotations

import logging
import platform
import uuid
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.answers import Empty, RawHeaders
from api.context import Context, Options
from api.endpoint import CONTEXT
from api.errors import crashed, record

_LOG = logging.getLogger("plugyard.api")

REQUEST_ID = "plugyard.request_id"
"""Key of the scope under which the request's id stands."""

_ALLOW_METHODS = b"DELETE, GET, OPTIONS, PATCH, POST, PUT"
_ALLOW_HEADERS = (
    b"accept, accept-encoding, accept-language, authorization, content-type, origin, user-agent, x-csrftoken, "
    b"x-requested-with, x-session-token, x-email-verification-key, x-password-reset-key"
)
_EXPOSE = b"X-Plugyard-Version, X-Plugyard-API, X-Plugyard-ReqId, Content-Disposition"
_DAY = b"86400"
# An answer of a plugin or a page may say otherwise about these.
_REPLACEABLE = frozenset({b"x-frame-options", b"referrer-policy", b"cross-origin-opener-policy", b"content-language"})


def static_headers(options: Options) -> RawHeaders:
    """Return the headers that every answer carries."""
    return [
        (b"x-plugyard-version", options.version.encode()),
        (b"x-plugyard-api", str(options.api_version).encode()),
        (b"x-plugyard-python", platform.python_version().encode()),
        (b"x-plugyard-installer", options.installer.encode()),
        (b"vary", b"Authorization, origin, Accept-Language, Cookie"),
        (b"content-language", options.locale.encode()),
        (b"x-content-type-options", b"nosniff"),
        (b"x-frame-options", b"DENY"),
        (b"referrer-policy", b"same-origin"),
        (b"cross-origin-opener-policy", b"same-origin"),
    ]


class Edge:
    """The outermost ASGI layer of the interface.

    It runs on every request, so it does everything in one layer and computes what it can beforehand.
    """

    def __init__(self, app: ASGIApp, context: Context) -> None:
        self._app = app
        self._context = context
        self._static = static_headers(context.options)
        self._origins = frozenset(origin.encode() for origin in context.options.origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        scope[CONTEXT] = self._context
        number = scope[REQUEST_ID] = str(uuid.uuid4())
        origin = _header(scope, b"origin")
        headers = [*self._static, (b"x-plugyard-reqid", number.encode())]
        if origin is not None:
            headers += self._cors(origin)
        answer = _Answer(send, headers)
        if origin is not None and scope["method"] == "OPTIONS" and self._is_preflight(scope, origin):
            await Empty(200, _preflight())(scope, receive, answer)
            return
        try:
            await self._follow(scope["path"])
            await self._app(scope, receive, answer)
        except ClientDisconnect:
            return
        except Exception as error:
            _LOG.exception("%s %s failed", scope["method"], scope["path"])
            await run_in_threadpool(record, self._context.report, scope["path"], error)
            if answer.started:
                raise
            await crashed(error, scope["path"], debug=self._context.options.debug)(scope, receive, answer)

    async def _follow(self, path: str) -> None:
        if path.startswith(("/api/", "/plugin/")) and self._context.is_stale():
            await run_in_threadpool(self._context.catch_up)

    def _is_preflight(self, scope: Scope, origin: bytes) -> bool:
        return self._allowed(origin) and _header(scope, b"access-control-request-method") is not None

    def _allowed(self, origin: bytes) -> bool:
        return origin in self._origins or b"*" in self._origins

    def _cors(self, origin: bytes) -> RawHeaders:
        if not self._allowed(origin):
            return []
        if origin not in self._origins:  # allowed by the star: any page, but not with the user's cookies
            return [(b"access-control-allow-origin", b"*"), (b"access-control-expose-headers", _EXPOSE)]
        return [
            (b"access-control-allow-origin", origin),
            (b"access-control-allow-credentials", b"true"),
            (b"access-control-expose-headers", _EXPOSE),
        ]


def _preflight() -> RawHeaders:
    return [
        (b"access-control-allow-methods", _ALLOW_METHODS),
        (b"access-control-allow-headers", _ALLOW_HEADERS),
        (b"access-control-max-age", _DAY),
    ]


class _Answer:
    __slots__ = ("_headers", "_send", "started")

    def __init__(self, send: Send, headers: RawHeaders) -> None:
        self._send = send
        self._headers = headers
        self.started = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.started = True
            own = message.get("headers", [])
            message["headers"] = [*own, *_added(own, self._headers)]
        await self._send(message)


def _added(own: Any, headers: RawHeaders) -> RawHeaders:
    taken = {name for name, _ in own} & _REPLACEABLE
    return [header for header in headers if header[0] not in taken] if taken else headers


def _header(scope: Scope, wanted: bytes) -> bytes | None:
    for name, value in scope["headers"]:
        if name == wanted:
            return bytes(value)
    return None
