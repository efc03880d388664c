"""Whether somebody is signed in, for reverse proxies that guard files and for clients."""

from __future__ import annotations

from typing import Final

from starlette.concurrency import run_in_threadpool
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from api.answers import Empty, Json, Refusal
from api.authentication import demand
from api.endpoint import CONTEXT, Endpoint
from api.errors import SIGN_IN, answer_to
from api.operations import Operation
from api.request import ApiRequest
from host.errors import NotSignedInError

_UNCACHED: Final = (b"cache-control", b"no-store")


class SignedIn:
    """Answers ``GET /auth/`` with a bare 200 to those who are signed in, by whatever means, and 401 to all others."""

    path = "/auth/"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["method"] not in {"GET", "HEAD"}:
            response: Response = Empty(405, ((b"allow", b"GET, HEAD"),))
        else:
            response = await run_in_threadpool(_answer, ApiRequest(scope, scope[CONTEXT]))
        if scope["method"] == "HEAD":
            response.body = b""
        await response(scope, receive, send)


def _answer(request: ApiRequest) -> Response:
    try:
        user, _ = request.context.authentication.identify(request)
        demand(user, "user", request.obstacle)
    except (NotSignedInError, Refusal):
        return Empty(401, (_UNCACHED, *SIGN_IN))
    except Exception as error:  # noqa: BLE001 - answered with 500 and recorded
        return answer_to(error, request)
    return Empty(200, (_UNCACHED,))


def show_signed_in(request: ApiRequest) -> Response:
    """Tell that the caller is signed in; 401 with the id `mfa_register` asks to set up a second factor first."""
    return Json({"username": request.caller.username})


ENDPOINTS: Final = (
    Endpoint(
        "/api/auth/",
        name="Signed in",
        tag="Sign-in",
        operations={
            "GET": Operation(
                id="signed_in",
                summary="Tell whether the caller is signed in",
                access="user",
                handler=show_signed_in,
                answers={200: {"type": "object", "properties": {"username": {"type": "string"}}}},
            )
        },
    ),
)
