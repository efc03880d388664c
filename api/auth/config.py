"""The configuration: what clients need to know before anybody signs in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from starlette.responses import Response

from api.auth import shapes
from api.auth.answers import AuthJson
from api.auth.call import AuthCall
from api.auth.endpoint import AuthEndpoint, AuthOperation
from api.fields import Boolean
from api.nested_fields import ListOf, Nested
from api.shapes import Shape
from api.text_fields import Text

_ACCOUNT: Final = Shape(
    "AccountConfiguration",
    login_methods=ListOf(item=Text(), read_only=True),
    is_open_for_signup=Boolean(read_only=True),
    email_verification_by_code_enabled=Boolean(read_only=True),
    login_by_code_enabled=Boolean(read_only=True),
    password_reset_by_code_enabled=Boolean(read_only=True),
    authentication_method=Text(
        read_only=True, always=False, help_text="For older clients: `username`, `email` or `username_email`."
    ),
)
_DATA: Final = Shape(
    "ConfigurationData",
    account=Nested(shape=_ACCOUNT, read_only=True),
    socialaccount=Nested(
        shape=Shape("ProviderConfiguration", providers=ListOf(item=Nested(shape=shapes.PROVIDER), read_only=True)),
        read_only=True,
    ),
    mfa=Nested(
        shape=Shape(
            "FactorConfiguration",
            supported_types=ListOf(item=Text(), read_only=True),
            passkey_login_enabled=Boolean(read_only=True),
        ),
        read_only=True,
        always=False,
    ),
    usersessions=Nested(shape=Shape("SessionConfiguration", track_activity=Boolean(read_only=True)), read_only=True),
)


def show_configuration(call: AuthCall) -> Response:
    """Show how people can sign in and sign up here, and what they can set up."""
    _ = call.visit  # an app whose session is over is told so here, too
    options = call.services.area.options
    account: dict[str, Any] = {
        "login_methods": list(options.account_login_methods),
        "is_open_for_signup": options.login_enable_reg,
        "email_verification_by_code_enabled": options.account_email_verification_by_code_enabled,
        "login_by_code_enabled": options.account_login_by_code_enabled,
        "password_reset_by_code_enabled": options.account_password_reset_by_code_enabled,
    }
    if legacy := _legacy_method(options.account_login_methods):
        account["authentication_method"] = legacy
    providers = call.services.providers.show(call.caller.client)
    data: dict[str, Any] = {"account": account, "socialaccount": {"providers": providers}}
    if options.mfa_supported_types:
        passkeys = options.mfa_passkey_login_enabled and "webauthn" in options.mfa_supported_types
        data["mfa"] = {"supported_types": list(options.mfa_supported_types), "passkey_login_enabled": passkeys}
    data["usersessions"] = {"track_activity": options.usersessions_track_activity}
    return AuthJson(200, data=data)


def _legacy_method(methods: Sequence[str]) -> str:
    return "_".join(name for name in ("username", "email") if name in methods)


ENDPOINTS: Final = (
    AuthEndpoint(
        "/config",
        name="Configuration",
        operations={
            "GET": AuthOperation(
                summary="Show how people can sign in",
                handler=show_configuration,
                answers={200: shapes.answer("ConfigurationAnswer", data=Nested(shape=_DATA, read_only=True))},
                calls_plugins=True,
            )
        },
    ),
)
