"""Signing up."""

from __future__ import annotations

from typing import Final

from starlette.responses import Response

from api.auth.answers import authentication
from api.auth.call import AuthCall
from api.auth.endpoint import AuthEndpoint, AuthOperation
from api.shapes import Shape
from api.text_fields import Text

_MEMBERS: Final = ("username", "email", "phone", "password")
_SIGNUP: Final = Shape(
    "Signup",
    username=Text(required=False, help_text="Required unless the configuration says otherwise."),
    email=Text(required=False, help_text="Required where the configuration says so."),
    phone=Text(required=False, help_text="Only where the configuration asks for it."),
    password=Text(write_only=True, required=False, help_text="Required unless the configuration says otherwise."),
)


def sign_up(call: AuthCall) -> Response:
    """Make an account and sign in to it. The answer is 401 while an address or a number has to be verified first."""
    call.services.signup.sign_up(call.visit, {name: call.text(name) for name in _MEMBERS})
    return authentication(call)


ENDPOINTS: Final = (
    AuthEndpoint(
        "/auth/signup",
        name="Sign-up",
        operations={
            "POST": AuthOperation(summary="Sign up", handler=sign_up, body=_SIGNUP, limit="signup", calls_plugins=True)
        },
    ),
)
