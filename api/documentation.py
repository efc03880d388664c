"""The interface's own description: the OpenAPI document, and a page to read and try it."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files
from typing import Final

import orjson
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from api.answers import Json
from api.endpoint import Endpoint
from api.openapi import openapi_document
from api.operations import Described, Operation
from api.request import ApiRequest

DOCS_PATH: Final = "/api/docs/"
_TAG: Final = "About this interface"
_TITLE: Final = "Plugyard API"
_DESCRIPTION: Final = (
    "Sign in with a token (`Authorization: Token …`), with name and password (Basic) or with a session. "
    "Lists are arrays; with `limit` they become pages."
)
_FILES: Final = {"": ("page.html", "text/html; charset=utf-8"), "page.js": ("page.js", "text/javascript"),
                 "page.css": ("page.css", "text/css")}  # fmt: skip
_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)


def schema_endpoint(endpoints: Sequence[Described], *, version: str) -> Endpoint:
    """Return the endpoint that answers with the OpenAPI document; it is written when first asked for."""
    written: list[bytes] = []
    own: list[Endpoint] = []

    def schema(_request: ApiRequest) -> Response:
        """Describe every operation of this interface, as an OpenAPI 3.1 document."""
        if not written:
            document = openapi_document([*endpoints, *own], title=_TITLE, version=version, description=_DESCRIPTION)
            written.append(orjson.dumps(document))
        return Json(orjson.Fragment(written[0]))

    operation = Operation(
        id="schema",
        summary="The OpenAPI document",
        access="anyone",
        handler=schema,
        answers={200: {"type": "object"}},
    )
    own.append(Endpoint("/api/schema/", name="Schema", tag=_TAG, operations={"GET": operation}))
    return own[0]


class DocsPage:
    """An ASGI application that serves the page and its two files, and leaves all else to another one."""

    def __init__(self, otherwise: ASGIApp) -> None:
        self._otherwise = otherwise
        self._pages: dict[str, Response] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        name = scope["path"].removeprefix(DOCS_PATH)
        if name not in _FILES or scope["method"] not in {"GET", "HEAD"}:
            await self._otherwise(scope, receive, send)
            return
        if name not in self._pages:
            file, media_type = _FILES[name]
            self._pages[name] = Response(
                files("api").joinpath("docs_page", file).read_bytes(),
                media_type=media_type,
                headers={"content-security-policy": _POLICY, "cache-control": "no-cache"},
            )
        response = self._pages[name]
        if scope["method"] == "HEAD":
            response = Response(headers=dict(response.headers))
        await response(scope, receive, send)


class FrontPage:
    """Sends whoever opens the bare address to the page that describes the interface."""

    path = "/"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        await RedirectResponse(DOCS_PATH, 302)(scope, receive, send)
