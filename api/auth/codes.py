"""Signing in by a code that is sent."""

from __future__ import annotations

from typing import Final

from starlette.responses import Response

from api.auth import shapes
from api.auth.answers import AuthJson, authentication
from api.auth.call import AuthCall
from api.auth.endpoint import AuthEndpoint, AuthOperation
from api.shapes import Shape
from api.text_fields import Text
from host.config.accounts import AccountOptions

_REQUEST: Final = Shape("LoginCodeRequest", email=Text(required=False), phone=Text(required=False))
_CODE: Final = Shape("LoginCode", code=Text(write_only=True))


def request_code(call: AuthCall) -> Response:
    """Send a login code to an e-mail address or, where people sign in by it, a phone number.

    The answer is 401: a login waits for the code. It is the same for addresses without an account.
    """
    call.services.code_login.request(call.visit, {name: call.text(name) for name in ("email", "phone")})
    return authentication(call)


def confirm_code(call: AuthCall) -> Response:
    """Go on with a login by the code that was sent. Too many wrong ones end it."""
    call.services.code_login.confirm(call.visit, call.text("code"))
    return authentication(call)


def resend_code(call: AuthCall) -> Response:
    """Send another code in place of the first, whose time and wrong attempts go on counting."""
    call.services.code_login.resend(call.visit)
    return AuthJson()


def _is_on(options: AccountOptions) -> bool:
    return options.account_login_by_code_enabled


def _may_resend(options: AccountOptions) -> bool:
    return options.account_login_by_code_enabled or options.account_login_by_code_required


ENDPOINTS: Final = (
    AuthEndpoint(
        "/auth/code/request",
        name="Login code",
        operations={"POST": AuthOperation(summary="Ask for a login code", handler=request_code, body=_REQUEST)},
        enabled=_is_on,
    ),
    AuthEndpoint(
        "/auth/code/confirm",
        name="Login by code",
        operations={"POST": AuthOperation(summary="Sign in by a code", handler=confirm_code, body=_CODE)},
    ),
    AuthEndpoint(
        "/auth/code/resend",
        name="Login code again",
        operations={
            "POST": AuthOperation(summary="Send another login code", handler=resend_code, answers={200: shapes.BARE})
        },
        enabled=_may_resend,
    ),
)
