"""Endpoints of the account interface: how each request goes, in the order that its clients rely on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from api.answers import Empty, Refusal
from api.auth import shapes
from api.auth.answers import AuthJson, add_cookies, authentication, gone, refusal, refused
from api.auth.call import AuthCall, UnreadableBodyError, check_csrf
from api.endpoint import CONTEXT
from api.errors import answer_to
from api.operations import Content, Operation, Parameter
from api.request import ApiRequest
from api.shapes import Shape
from host.accounts.limits import TooManyError
from host.accounts.problems import RefusedValuesError
from host.accounts.refusals import ClosedError, ConflictError, ProofNeededError, SessionGoneError, SignInNeededError
from host.config.accounts import AccountOptions
from host.errors import NotFoundError

PREFIX: Final = "/api/auth/v1"
_LARGEST: Final = 256 * 1024

Handler: TypeAlias = Callable[[AuthCall], Response]


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthOperation:
    """One method of one path; the handler's docstring describes it."""

    summary: str
    handler: Handler
    body: Shape | None = None
    """Describes the body; the handler reads it from ``call``."""
    answers: Mapping[int, Content] = field(default_factory=lambda: {200: shapes.AUTHENTICATED})
    """Answers other than 401, 403, 405, 410 and 429: status → content."""
    signed_in: bool = False
    """Only for those who are signed in; others get 401."""
    limit: str = ""
    """Action whose rate limit is checked before the body is looked at; counted for account or address."""
    calls_plugins: bool = False
    parameters: Sequence[Parameter] = ()


class AuthEndpoint:
    """An ASGI application that answers all methods of one path.

    Args:
        path: below ``/api/auth/v1``, without a slash at the end.
        name: for people.
        operations: method → operation.
        enabled: tells from the options whether the feature is on; what is off is not there (404).
        csrf_in_form: the token of browsers comes as a member of a form.

    """

    tag = "Sign-in"
    description = ""

    def __init__(
        self,
        path: str,
        *,
        name: str,
        operations: Mapping[str, AuthOperation],
        enabled: Callable[[AccountOptions], bool] | None = None,
        csrf_in_form: bool = False,
    ) -> None:
        self.path = PREFIX + path
        self.name = name
        if path.startswith("/account"):
            self.tag = "Account"
        self._enabled = enabled
        self._operations = operations
        self._csrf_in_form = csrf_in_form
        self.operations = {method: _described(one, switched=enabled is not None) for method, one in operations.items()}
        methods = [*operations, *(["HEAD"] if "GET" in operations else []), "OPTIONS"]
        self._allow = ((b"allow", ", ".join(methods).encode()),)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        request = ApiRequest(scope, scope[CONTEXT])
        try:
            raw = await _read(receive)
        except ClientDisconnect:
            return
        method = "GET" if request.method == "HEAD" else request.method
        operation = self._operations.get(method)

        def answer() -> Response:
            return self._answer(request, raw, operation)

        if operation is not None and operation.calls_plugins:
            response = await request.context.run_with_plugins(answer, replay=False)
        else:
            response = await run_in_threadpool(answer)
        if request.method == "HEAD":
            response.body = b""
        await response(scope, receive, send)

    def _answer(self, request: ApiRequest, raw: bytes | None, operation: AuthOperation | None) -> Response:
        options = request.host.config
        if self._enabled is not None and not self._enabled(options):
            return AuthJson(404)
        if operation is None:
            return Empty(200 if request.method == "OPTIONS" else 405, self._allow)
        if raw is None:
            return AuthJson(413)
        call = AuthCall(request, raw)
        try:
            response = self._run(call, operation)
        except Exception as error:  # noqa: BLE001 - answered with 500 and recorded
            response = _failure(error, call)
        add_cookies(response, call, options)
        return response

    def _run(self, call: AuthCall, operation: AuthOperation) -> Response:
        if not self._csrf_in_form:
            check_csrf(call.request, call.caller)
        visit = call.visit
        account = visit.signed_in if operation.signed_in else visit.account
        if operation.limit:
            user_id = account.id if account else None
            visit.area.limits.consume(operation.limit, address=call.caller.address, user_id=user_id)
        return operation.handler(call)


async def _read(receive: Receive) -> bytes | None:
    body = b""
    too_large = False
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        if not too_large:
            body += message.get("body", b"")
            too_large = len(body) > _LARGEST
        if not message.get("more_body"):
            return None if too_large else body


def _failure(error: Exception, call: AuthCall) -> Response:
    answer = _ANSWERS.get(type(error))
    if answer is not None:
        return answer(error, call)
    if isinstance(error, RefusedValuesError):
        return refusal(error)
    if isinstance(error, NotFoundError):
        return AuthJson(404)
    if isinstance(error, Refusal):
        return error.answer()
    return answer_to(error, call.request)


def _conflict(error: ConflictError, _call: AuthCall) -> Response:
    return refused({"non_field_errors": error.problems}, 409) if error.problems else AuthJson(409)


_ANSWERS: Final[Mapping[type[Exception], Callable[[Any, AuthCall], Response]]] = {
    SignInNeededError: lambda error, call: authentication(call, unknown=error.stage),
    ProofNeededError: lambda _, call: authentication(call, proof=True),
    SessionGoneError: lambda _, call: gone(call),
    ConflictError: _conflict,
    ClosedError: lambda _error, _call: AuthJson(403),
    TooManyError: lambda _error, _call: AuthJson(429),
    UnreadableBodyError: lambda _error, _call: AuthJson(400),
}


def _described(operation: AuthOperation, *, switched: bool) -> Operation:
    faults = {401: "Somebody has to sign in, or to prove again who they are.", 403: "Not allowed."}
    faults |= {409: "This does not fit what is going on.", 410: "The session of an app is over."}
    faults |= {400: "The input is refused.", 413: "The body is too large.", 429: "Too many requests."}
    if switched:
        faults[404] = "The feature is switched off."
    written = {status: text for status, text in faults.items() if status not in operation.answers}
    return Operation(
        summary=operation.summary,
        access="user" if operation.signed_in else "anyone",
        handler=_undescribed(operation.handler),
        takes=operation.body,
        answers=operation.answers,
        faults=written,
        fault_shapes={status: shapes.FAULTS.get(status, shapes.BARE) for status in written},
        parameters=operation.parameters,
        envelope=True,
    )


def _undescribed(handler: Handler) -> Callable[[ApiRequest], Response]:
    def described(_request: ApiRequest) -> Response:
        msg = "the account interface runs its own handlers"
        raise RuntimeError(msg)

    described.__doc__ = handler.__doc__
    return described


class WithSlash:
    """Answers the same path with a slash at its end."""

    def __init__(self, endpoint: AuthEndpoint) -> None:
        self.path = f"{endpoint.path}/"
        self._endpoint = endpoint

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        await self._endpoint(scope, receive, send)
