"""The session: who is signed in, signing in by password, signing out, proving again who one is."""

from __future__ import annotations

from typing import Final

from starlette.responses import Response

from api.auth import shapes
from api.auth.answers import authentication
from api.auth.call import AuthCall
from api.auth.endpoint import AuthEndpoint, AuthOperation
from api.shapes import Shape
from api.text_fields import Text

_MEMBERS: Final = ("username", "email", "phone", "password")
_LOGIN: Final = Shape(
    "Login",
    username=Text(required=False),
    email=Text(required=False),
    phone=Text(required=False),
    password=Text(write_only=True),
)
_PROOF: Final = Shape("Reauthentication", password=Text(write_only=True))


def show_session(call: AuthCall) -> Response:
    """Tell who is signed in, or what may be done to sign in."""
    return authentication(call)


def sign_out(call: AuthCall) -> Response:
    """End the session, and whatever login is under way in it. The answer is 401: nobody is signed in any more."""
    call.services.sessions.sign_out(call.visit)
    return authentication(call)


def sign_in(call: AuthCall) -> Response:
    """Sign in by password and exactly one of username, e-mail address and phone number."""
    call.services.password_login.sign_in(call.visit, {name: call.text(name) for name in _MEMBERS})
    return authentication(call)


def prove(call: AuthCall) -> Response:
    """Prove by password that it is still you, before a sensitive change."""
    call.services.password_login.prove(call.visit, call.text("password", strip=False))
    return authentication(call)


ENDPOINTS: Final = (
    AuthEndpoint(
        "/auth/session",
        name="Session",
        operations={
            "GET": AuthOperation(summary="Show who is signed in", handler=show_session),
            "DELETE": AuthOperation(summary="Sign out", handler=sign_out, answers={401: shapes.AUTHENTICATION_NEEDED}),
        },
    ),
    AuthEndpoint(
        "/auth/login",
        name="Login",
        operations={"POST": AuthOperation(summary="Sign in by password", handler=sign_in, body=_LOGIN, limit="login")},
    ),
    AuthEndpoint(
        "/auth/reauthenticate",
        name="Reauthentication",
        operations={
            "POST": AuthOperation(
                summary="Prove by password who you are",
                handler=prove,
                body=_PROOF,
                signed_in=True,
                limit="reauthenticate",
            )
        },
    ),
)
