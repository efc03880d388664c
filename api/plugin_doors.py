"""The doors to what plugins serve themselves: routes below ``/plugin/``, static files below ``/static/plugins/``."""

from __future__ import annotations

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Receive, Scope, Send

from api.answers import Json
from api.authentication import demand
from api.endpoint import CONTEXT
from api.errors import refused
from api.request import ApiRequest
from host.contract.values import Access, User


class Door:
    """An ASGI application that hands requests on to another one below a prefix, and answers its refusals as we do."""

    def __init__(self, prefix: str, app: ASGIApp) -> None:
        self._prefix = prefix
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        inner = {**scope, "root_path": scope.get("root_path", "") + self._prefix}
        try:
            await self._app(inner, receive, send)
        except Exception as error:
            answer = _answer(error)
            if answer is None:
                raise
            if scope["method"] == "HEAD":
                answer.body = b""
            await answer(scope, receive, send)


def _answer(error: Exception) -> Json | None:
    if isinstance(error, HTTPException):
        headers = [(name.lower().encode(), value.encode()) for name, value in (error.headers or {}).items()]
        return Json({"detail": error.detail}, error.status_code, headers)
    return refused(error)


async def authorise(scope: Scope, access: Access) -> User | None:
    """Return who is calling, for a plugin's own endpoint.

    Raises:
        NotSignedInError: the credentials are not good.
        Refusal: the caller lacks the right, or a session sent no CSRF token.

    """
    return await run_in_threadpool(_authorise, scope, access)


def _authorise(scope: Scope, access: Access) -> User | None:
    request = ApiRequest(scope, scope[CONTEXT])
    user, _ = request.context.authentication.identify(request, foreign=True)
    demand(user, access, request.obstacle)
    return user
