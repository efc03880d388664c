"""Endpoints: one path, its operations, and the way every request takes through them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from api.answers import JSON_TYPE, Json, JsonArray, Refusal, packed
from api.authentication import demand, may, weakest
from api.bodies import NO_BODY, SMALL, Body, announced_size, parse_body, read_body
from api.errors import answer_to
from api.negotiation import MULTIPART, PARSES, accepts_gzip, check_accept, check_format, media_type
from api.operations import Handler, Operation, read_parameters
from api.request import ApiRequest
from host.contract.values import Access

CONTEXT = "plugyard.context"
"""Key of the scope under which an endpoint finds the context."""

_DESCRIBED = {"GET": "GET", "POST": "POST", "PUT": "PUT", "PATCH": "PUT", "DELETE": "DELETE"}


class Endpoint:
    """An ASGI application that answers all methods of one path.

    The order is always: who is calling (401, also where the path is open), the right to use it (401, 403), the method
    (405), what the client accepts (406), the body (400, 413, 415), the parameters and the members of the body (400),
    the handler.

    Args:
        path: the template, as ``/api/news/{id:int}/``.
        name: of the endpoint, for people.
        description: for people.
        tag: groups endpoints in the documentation.
        operations: method → operation. HEAD and OPTIONS come by themselves.

    """

    def __init__(
        self, path: str, *, name: str, tag: str, operations: Mapping[str, Operation], description: str = ""
    ) -> None:
        self.path = path
        self.name = name
        self.tag = tag
        self.description = description
        self.operations = operations
        self.access: Access = weakest({method: operation.access for method, operation in operations.items()})
        self._by_method = dict(operations)
        if "GET" in operations:
            self._by_method["HEAD"] = operations["GET"]
        allowed = [method for method in _METHODS if method in self._by_method or method == "OPTIONS"]
        self._allow = ((b"allow", ", ".join(allowed).encode()),)

    def __repr__(self) -> str:
        return f"Endpoint({self.path!r}, {', '.join(self.operations)})"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        request = ApiRequest(scope, scope[CONTEXT])
        body = NO_BODY
        try:
            try:
                body = await self._receive(request, receive)
                response = await self._run(request, body)
            except ClientDisconnect:
                return
            except Exception as error:  # noqa: BLE001 - answered with 500 and recorded
                response = await run_in_threadpool(answer_to, error, request)
            if request.method == "HEAD":
                if isinstance(response, JsonArray):
                    await response.close()
                await _without_body(response)(scope, receive, send)
            else:
                await response(scope, receive, send)
        finally:
            if body is not NO_BODY:
                await body.close()

    async def _receive(self, request: ApiRequest, receive: Receive) -> Body:
        headers = request.headers
        size = announced_size(headers)
        if size == 0:
            return NO_BODY
        if size is None or size > SMALL or media_type(headers.get(b"content-type")) == MULTIPART:
            # Whoever has no right shall not make the server store much.
            await run_in_threadpool(self._admit, request)
        options = request.context.options
        return await read_body(headers, receive, limit=options.max_body, folder=options.uploads)

    async def _run(self, request: ApiRequest, body: Body) -> Response:
        operation = self._by_method.get(request.method)
        if operation is not None and operation.stream is not None:
            return await self._stream(request, body, operation)
        if operation is not None and operation.calls_plugins:
            return await request.context.run_with_plugins(lambda: self._answer(request, body), replay=operation.replays)
        return await run_in_threadpool(self._answer, request, body)

    async def _stream(self, request: ApiRequest, body: Body, operation: Operation) -> Response:
        refused = await run_in_threadpool(self._prepared, request, body)
        if refused is not None or operation.stream is None:
            return refused or Json({}, 500)
        try:
            return await operation.stream(request)
        except Exception as error:  # noqa: BLE001 - answered with 500 and recorded
            return await run_in_threadpool(answer_to, error, request)

    def _prepared(self, request: ApiRequest, body: Body) -> Response | None:
        try:
            self._prepare(request, body)
        except Exception as error:  # noqa: BLE001 - answered with 500 and recorded
            return answer_to(error, request)
        return None

    def _answer(self, request: ApiRequest, body: Body) -> Response:
        try:
            response = self._prepare(request, body)(request)
        except Exception as error:  # noqa: BLE001 - answered with 500 and recorded
            response = answer_to(error, request)
        if accepts_gzip(request.headers.get(b"accept-encoding", b"")):
            return packed(response)
        return response

    def _admit(self, request: ApiRequest) -> Operation | None:
        if request.scheme is None:
            request.user, request.scheme = request.context.authentication.identify(request)
        operation = self._by_method.get(request.method)
        demand(request.user, self.access if operation is None else operation.access, request.obstacle)
        if operation is None and request.method != "OPTIONS":
            raise Refusal(405, f'Method "{request.method}" not allowed.', headers=self._allow)
        if operation is not None and operation.right is not None and not operation.right(request):
            raise Refusal(403, "You do not have permission to perform this action.")
        return operation

    def _prepare(self, request: ApiRequest, body: Body) -> Handler:
        operation = self._admit(request)
        if operation is None:
            check_accept(request.headers.get(b"accept"), (JSON_TYPE,))
            return self._describe
        check_accept(request.headers.get(b"accept"), operation.produces)
        if request.scope["query_string"]:
            check_format(request.query)
            if operation.parameters:
                request.parameters = read_parameters(request.query, operation.parameters)
        reads = request.method in {"GET", "HEAD"}
        if body is not NO_BODY or operation.body is not None:
            request.sent, request.is_form = parse_body(body, forms=not reads)
            if operation.body is not None:
                request.data = operation.body.read(request.sent, partial=operation.partial, form=request.is_form)
        return operation.handler or _no_handler

    def _describe(self, request: ApiRequest) -> Response:
        return Json(self.describe(request))

    def describe(self, request: ApiRequest) -> dict[str, Any]:
        """Return what OPTIONS answers to this caller."""
        actions: dict[str, Any] = {}
        summaries: list[str] = []
        for method, operation in self.operations.items():
            shown = _DESCRIBED.get(method)
            if shown is None or not _usable(operation, request):
                continue
            summaries.append(f"{operation.summary}.")
            shape = operation.writes or operation.body or operation.takes
            if shown in actions and shape is None:
                continue
            actions[shown] = {} if shape is None else shape.info()
            if operation.export is not None and operation.export.is_wanted(request):
                actions[shown] = operation.export.describe(request)
        return {
            "name": self.name,
            "description": self.description or " ".join(dict.fromkeys(summaries)),
            "renders": [JSON_TYPE],
            "parses": list(PARSES),
            "actions": actions,
        }


_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")


def _usable(operation: Operation, request: ApiRequest) -> bool:
    return may(request.user, operation.access) and (operation.right is None or operation.right(request))


def _no_handler(request: ApiRequest) -> Response:
    msg = f"{request.path} has no handler"
    raise RuntimeError(msg)


def _without_body(response: Response) -> Response:
    if isinstance(response, StreamingResponse):
        bare = Response(status_code=response.status_code)
        bare.raw_headers = response.raw_headers
        return bare
    response.body = b""
    return response


class UnknownPath:
    """Answers every path that is no endpoint: 404 for those who are signed in, 401 for everybody else."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        request = ApiRequest(scope, scope[CONTEXT])
        response = await run_in_threadpool(self._answer, request)
        await (_without_body(response) if request.method == "HEAD" else response)(scope, receive, send)

    def _answer(self, request: ApiRequest) -> Response:
        try:
            request.user, request.scheme = request.context.authentication.identify(request)
            demand(request.user, "user", request.obstacle)
        except Exception as error:  # noqa: BLE001 - answered with 500 and recorded
            return answer_to(error, request)
        return Json({"detail": "Not found. No endpoint has this address.", "url": request.url}, 404)
