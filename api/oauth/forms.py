"""Endpoints of the authorization server: forms come in, redirects, pages and JSON go out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias
from urllib.parse import parse_qsl

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from api.answers import Json, RawHeaders, Refusal
from api.bodies import SMALL, announced_size, read_body
from api.endpoint import CONTEXT
from api.errors import answer_to
from api.negotiation import FORM, media_type
from api.request import ApiRequest
from host.accounts.oauth.exchange import Answer

Form: TypeAlias = Sequence[tuple[str, str]]
Handler: TypeAlias = Callable[[ApiRequest, Form], Response]

_MOST_MEMBERS = 100
_NO_STORE: Final = ((b"cache-control", b"no-store"), (b"referrer-policy", b"no-referrer"))


class FormEndpoint:
    """An ASGI application of one path.

    It looks for nobody's credentials, other than an endpoint of the interface: with HTTP Basic a client comes, not an
    account.

    Args:
        path: the path.
        handlers: method → function that answers in a worker thread; it gets the form of a POST, empty where the body
            is no form.

    """

    def __init__(self, path: str, handlers: Mapping[str, Handler]) -> None:
        self.path = path
        self._handlers = dict(handlers)
        if "GET" in handlers:
            self._handlers["HEAD"] = handlers["GET"]
        self._allow = ((b"allow", ", ".join(self._handlers).encode()),)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        request = ApiRequest(scope, scope[CONTEXT])
        try:
            handler = self._handlers.get(request.method)
            if handler is None:
                raise Refusal(405, f'Method "{request.method}" not allowed.', headers=self._allow)  # noqa: TRY301
            form = await _read_form(request, receive) if request.method == "POST" else ()
            response = await run_in_threadpool(handler, request, form)
        except ClientDisconnect:
            return
        except Exception as error:  # noqa: BLE001 - answered with 500 and recorded
            response = await run_in_threadpool(answer_to, error, request)
        if request.method == "HEAD":
            response.body = b""
        await response(scope, receive, send)


async def _read_form(request: ApiRequest, receive: Receive) -> Form:
    if media_type(request.headers.get(b"content-type")) != FORM or announced_size(request.headers) == 0:
        return ()
    body = await read_body(request.headers, receive, limit=SMALL)
    try:
        return parse_qsl(body.raw.decode(), keep_blank_values=True, errors="strict", max_num_fields=_MOST_MEMBERS)
    except ValueError:
        raise Refusal(400, body={"error": "invalid_request", "error_description": "The form is not valid."}) from None


def respond(answer: Answer) -> Response:
    """Return an answer of the authorization server as a response."""
    if answer.location is not None:
        return redirect(answer.location, answer.status)
    headers: RawHeaders = [
        (name.lower().encode(), value.encode("ascii", "replace"))
        for name, value in answer.headers.items()
        if name.lower() != "content-type"
    ]
    return Json(answer.body, answer.status, headers)


def redirect(location: str, status: int = 302) -> Response:
    """Send the browser elsewhere; nothing of the address that it comes from goes with it."""
    response = Response(status_code=status)
    response.raw_headers += [(b"location", location.encode("latin-1")), *_NO_STORE]
    return response


def issuer_of(request: ApiRequest) -> str:
    """Return the address by which clients know the server."""
    return request.host.config.site_url.rstrip("/") or request.origin
