"""Web tokens of apps."""

from __future__ import annotations

from typing import Final

from starlette.responses import Response

from api.auth import shapes
from api.auth.answers import AuthJson
from api.auth.call import AuthCall
from api.auth.endpoint import AuthEndpoint, AuthOperation
from api.nested_fields import Nested
from api.shapes import Shape
from api.text_fields import Text
from host.accounts.sessions.state import Client
from host.accounts.sessions.web_tokens import BadTokenError

_BODY: Final = Shape("TokenRefresh", refresh_token=Text(write_only=True))
_TOKENS: Final = Shape(
    "WebTokens",
    access_token=Text(read_only=True),
    refresh_token=Text(read_only=True, always=False, help_text="Takes the place of the one that was sent."),
)


def refresh(call: AuthCall) -> Response:
    """Renew the access token of an app. A refresh token that is no good is answered with a bare 400."""
    if call.caller.client is not Client.APP:
        return AuthJson(404)
    try:
        return AuthJson(data=call.services.web_tokens.refresh(call.caller, call.text("refresh_token")))
    except BadTokenError:
        return AuthJson(400)


ENDPOINTS: Final = (
    AuthEndpoint(
        "/tokens/refresh",
        name="Web tokens",
        operations={
            "POST": AuthOperation(
                summary="Renew an access token",
                handler=refresh,
                body=_BODY,
                answers={200: shapes.answer("WebTokensAnswer", data=Nested(shape=_TOKENS, read_only=True))},
            )
        },
        enabled=lambda options: options.headless_token_strategy == "jwt",  # noqa: S105 - a strategy
    ),
)
