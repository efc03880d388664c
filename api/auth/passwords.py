"""Passwords: changing one's own, and replacing a forgotten one."""

from __future__ import annotations

from typing import Final

from starlette.responses import Response

from api.auth import shapes
from api.auth.answers import AuthJson, authentication, show_user
from api.auth.call import AuthCall
from api.auth.endpoint import AuthEndpoint, AuthOperation
from api.nested_fields import Nested
from api.shapes import Shape
from api.text_fields import Text

_KEY_HEADER: Final = b"x-password-reset-key"
_CHANGE: Final = Shape(
    "PasswordChange",
    current_password=Text(write_only=True, required=False, help_text="Required where the account has a password."),
    new_password=Text(write_only=True),
)
_REQUEST: Final = Shape("PasswordResetRequest", email=Text())
_RESET: Final = Shape(
    "PasswordReset",
    key=Text(write_only=True, help_text="The key of the link, or the code, that was mailed."),
    password=Text(write_only=True, help_text="The new password."),
)
_WHOSE: Final = Shape("PasswordResetData", user=Nested(shape=shapes.USER, read_only=True))


def change(call: AuthCall) -> Response:
    """Choose another password, or the first one of an account that has none.

    All sessions end, and the answer is 401; where the configuration lets this one go on, the answer is 200.
    """
    current, new = call.text("current_password"), call.text("new_password")
    call.services.password_change.change(call.visit, current, new)
    return authentication(call)


def request_reset(call: AuthCall) -> Response:
    """Ask for a link, or a code, with which a forgotten password can be replaced; it is mailed.

    The answer is the same for addresses that have no account: 200, or 401 where a code is mailed.
    """
    call.services.password_reset.request(call.visit, call.text("email"))
    if call.visit.area.options.account_password_reset_by_code_enabled:
        return authentication(call, proof=call.visit.account is not None)
    return AuthJson(200)


def show_reset(call: AuthCall) -> Response:
    """Show whose password a key replaces; the key, or the code, comes in the header `X-Password-Reset-Key`.

    A wrong code counts as a try.
    """
    account = call.services.password_reset.show(call.visit, call.header(_KEY_HEADER))
    return AuthJson(200, data={"user": show_user(account)})


def reset(call: AuthCall) -> Response:
    """Replace a forgotten password. All sessions of the account end, and the answer is 401.

    Where the configuration lets a reset sign in, the answer is 200, or 401 with what is still to be done.
    """
    call.services.password_reset.reset(call.visit, call.text("key"), call.text("password"))
    return authentication(call)


ENDPOINTS: Final = (
    AuthEndpoint(
        "/account/password/change",
        name="Password change",
        operations={
            "POST": AuthOperation(
                summary="Change the own password",
                handler=change,
                body=_CHANGE,
                signed_in=True,
                limit="change_password",
                calls_plugins=True,
            )
        },
    ),
    AuthEndpoint(
        "/auth/password/request",
        name="Password reset request",
        operations={
            "POST": AuthOperation(
                summary="Ask for a new password by mail",
                handler=request_reset,
                body=_REQUEST,
                answers={200: shapes.BARE},
            )
        },
    ),
    AuthEndpoint(
        "/auth/password/reset",
        name="Password reset",
        operations={
            "GET": AuthOperation(
                summary="Show whose password a key replaces",
                handler=show_reset,
                answers={200: shapes.answer("PasswordResetAnswer", data=Nested(shape=_WHOSE, read_only=True))},
            ),
            "POST": AuthOperation(
                summary="Replace a forgotten password",
                handler=reset,
                body=_RESET,
                limit="reset_password_from_key",
                calls_plugins=True,
            ),
        },
    ),
)
