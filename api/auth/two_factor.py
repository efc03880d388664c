"""Second factors at work: proving by a code, in a login and later, and trusting a browser."""

from __future__ import annotations

from typing import Final

from starlette.responses import Response

from api.auth.answers import authentication
from api.auth.call import AuthCall
from api.auth.endpoint import AuthEndpoint, AuthOperation
from api.fields import Boolean, read_boolean
from api.shapes import Shape
from api.text_fields import Text
from host.accounts.sessions.state import Client
from host.config.accounts import AccountOptions
from host.errors import NotFoundError

_CODE: Final = Shape(
    "SecondFactorCode", code=Text(write_only=True, help_text="Of an authenticator app, or a recovery code.")
)
_TRUST: Final = Shape("BrowserTrust", trust=Boolean(required=False, default=False))


def authenticate(call: AuthCall) -> Response:
    """Go on with a login by a code. The answer is 401 while a browser has to say whether it is to be trusted."""
    call.services.second_factors.sign_in_by_code(call.visit, call.text("code"))
    return authentication(call)


def prove(call: AuthCall) -> Response:
    """Prove by a code that it is still you, before a sensitive change."""
    call.services.second_factors.prove_by_code(call.visit, call.text("code"))
    return authentication(call)


def decide_trust(call: AuthCall) -> Response:
    """Say whether this browser is to be trusted, which then asks no second factor for some time; sign in.

    There is no such thing for apps: 404.
    """
    if call.caller.client is Client.APP:
        raise NotFoundError("Only browsers can be trusted.")
    value = call.data.get("trust")
    trusted = False if value in (None, "") else read_boolean(value)
    call.services.second_factors.decide_trust(call.visit, trusted=trusted)
    return authentication(call)


def _is_on(options: AccountOptions) -> bool:
    return bool(options.mfa_supported_types)


def _has_trust(options: AccountOptions) -> bool:
    return _is_on(options) and options.mfa_trust_enabled


ENDPOINTS: Final = (
    AuthEndpoint(
        "/auth/2fa/authenticate",
        name="Second factor",
        operations={"POST": AuthOperation(summary="Sign in by a second factor", handler=authenticate, body=_CODE)},
        enabled=_is_on,
    ),
    AuthEndpoint(
        "/auth/2fa/reauthenticate",
        name="Second factor again",
        operations={
            "POST": AuthOperation(
                summary="Prove by a second factor who you are", handler=prove, body=_CODE, signed_in=True
            )
        },
        enabled=_is_on,
    ),
    AuthEndpoint(
        "/auth/2fa/trust",
        name="Browser trust",
        operations={"POST": AuthOperation(summary="Trust this browser", handler=decide_trust, body=_TRUST)},
        enabled=_has_trust,
    ),
)
