"""The address to which providers send browsers back."""

from __future__ import annotations

from typing import Final

from starlette.concurrency import run_in_threadpool
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from api.answers import Refusal
from api.auth.answers import add_cookies
from api.auth.call import AuthCall
from api.auth.providers import elsewhere
from api.endpoint import CONTEXT
from api.errors import answer_to
from api.request import ApiRequest


class ProviderCallback:
    """An ASGI application: takes a browser back, and sends it on to the page that began the login.

    What guards it against foreign pages is the state, which only the session knows that began.

    Args:
        path: the path, with the id of the provider.

    """

    def __init__(self, path: str) -> None:
        self.path = path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        request = ApiRequest(scope, scope[CONTEXT])
        try:
            # HEAD neither: it must not use up a login.
            if request.method != "GET":
                raise Refusal(405, f'Method "{request.method}" not allowed.', headers=((b"allow", b"GET"),))  # noqa: TRY301
            response = await request.context.run_with_plugins(lambda: _answer(request), replay=False)
        except Exception as error:  # noqa: BLE001 - answered with 500 and recorded
            response = await run_in_threadpool(answer_to, error, request)
        await response(scope, receive, send)


def _answer(request: ApiRequest) -> Response:
    call = AuthCall(request, b"")
    provider_id = str(request.path_params["provider"])
    response = elsewhere(call.services.providers.redirect.finish(call.visit, provider_id, request.query))
    add_cookies(response, call, request.host.config)
    return response


PATHS: Final = (
    ProviderCallback("/accounts/{provider}/login/callback/"),
    ProviderCallback("/accounts/oidc/{provider}/login/callback/"),
)
