"""The second factors of the own account: what there is, the authenticator app, and recovery codes."""

from __future__ import annotations

from typing import Final

from starlette.responses import Response

from api.auth import shapes
from api.auth.answers import AuthJson
from api.auth.call import AuthCall
from api.auth.endpoint import AuthEndpoint, AuthOperation
from api.fields import Boolean, Float, Integer
from api.nested_fields import ListOf, Nested
from api.shapes import Shape
from api.text_fields import Text

AUTHENTICATOR: Final = Shape(
    "Authenticator",
    type=Text(read_only=True, help_text="`totp`, `recovery_codes` or `webauthn`."),
    created_at=Float(read_only=True, help_text="Seconds since 1970."),
    last_used_at=Float(read_only=True, null=True),
    total_code_count=Integer(read_only=True, always=False),
    unused_code_count=Integer(read_only=True, always=False),
    id=Integer(read_only=True, always=False, help_text="Only of security keys."),
    name=Text(read_only=True, always=False),
    is_passwordless=Boolean(read_only=True, always=False, help_text="Absent where the browser did not say."),
)
ADDED: Final = shapes.answer(
    "AuthenticatorAnswer",
    data=Nested(shape=AUTHENTICATOR, read_only=True),
    meta=Nested(
        shape=Shape("AuthenticatorMeta", recovery_codes_generated=Boolean(read_only=True)),
        read_only=True,
        always=False,
    ),
)
_LIST: Final = shapes.answer("AuthenticatorsAnswer", data=ListOf(item=Nested(shape=AUTHENTICATOR), read_only=True))
_SECRET: Final = shapes.answer(
    "TotpSecretAnswer",
    meta=Nested(shape=Shape("TotpSecret", secret=Text(read_only=True), totp_url=Text(read_only=True)), read_only=True),
)
_CODES: Final = shapes.answer(
    "RecoveryCodesAnswer",
    data=Nested(
        shape=Shape(
            "RecoveryCodes",
            type=Text(read_only=True),
            created_at=Float(read_only=True, help_text="Seconds since 1970."),
            last_used_at=Float(read_only=True, null=True),
            total_code_count=Integer(read_only=True),
            unused_code_count=Integer(read_only=True),
            unused_codes=ListOf(item=Text(), read_only=True),
        ),
        read_only=True,
    ),
)
_TOTP: Final = Shape("TotpCode", code=Text(write_only=True, help_text="As the app shows it for the secret of `GET`."))


def list_authenticators(call: AuthCall) -> Response:
    """List the second factors of the own account."""
    return AuthJson(data=call.services.own_factors.list(call.visit))


def show_totp(call: AuthCall) -> Response:
    """Show the authenticator app of the own account.

    Without one the answer is 404 with a secret for one, a new secret with every call; 409 while an e-mail address of
    the account is not verified.
    """
    factors = call.services.own_factors
    app = factors.show_totp(call.visit)
    return AuthJson(data=app) if app else AuthJson(404, meta=factors.new_totp_secret(call.visit))


def add_totp(call: AuthCall) -> Response:
    """Add an authenticator app by the first code that it shows; recovery codes are made where there are none."""
    app, codes = call.services.own_factors.add_totp(call.visit, call.text("code"))
    return AuthJson(data=app, meta={"recovery_codes_generated": codes})


def remove_totp(call: AuthCall) -> Response:
    """Remove the authenticator app; the recovery codes go with the last second factor."""
    call.services.own_factors.remove_totp(call.visit)
    return AuthJson()


def show_recovery_codes(call: AuthCall) -> Response:
    """Show the recovery codes that can still be used; 404 where there are none."""
    return AuthJson(data=call.services.own_factors.show_recovery_codes(call.visit))


def renew_recovery_codes(call: AuthCall) -> Response:
    """Make a new set of recovery codes; the former ones serve no longer."""
    return AuthJson(data=call.services.own_factors.renew_recovery_codes(call.visit))


ENDPOINTS: Final = (
    AuthEndpoint(
        "/account/authenticators",
        name="Second factors",
        operations={
            "GET": AuthOperation(
                summary="List the own second factors",
                handler=list_authenticators,
                signed_in=True,
                answers={200: _LIST},
            )
        },
        enabled=lambda options: bool(options.mfa_supported_types),
    ),
    AuthEndpoint(
        "/account/authenticators/totp",
        name="Authenticator app",
        operations={
            "GET": AuthOperation(
                summary="Show the own authenticator app, or a secret for one",
                handler=show_totp,
                signed_in=True,
                answers={200: ADDED, 404: _SECRET},
            ),
            "POST": AuthOperation(
                summary="Add an authenticator app",
                handler=add_totp,
                signed_in=True,
                body=_TOTP,
                answers={200: ADDED},
            ),
            "DELETE": AuthOperation(
                summary="Remove the authenticator app",
                handler=remove_totp,
                signed_in=True,
                answers={200: shapes.BARE},
            ),
        },
        enabled=lambda options: "totp" in options.mfa_supported_types,
    ),
    AuthEndpoint(
        "/account/authenticators/recovery-codes",
        name="Recovery codes",
        operations={
            "GET": AuthOperation(
                summary="Show the own recovery codes",
                handler=show_recovery_codes,
                signed_in=True,
                answers={200: _CODES},
            ),
            "POST": AuthOperation(
                summary="Make new recovery codes",
                handler=renew_recovery_codes,
                signed_in=True,
                answers={200: _CODES},
            ),
        },
        enabled=lambda options: "recovery_codes" in options.mfa_supported_types,
    ),
)
