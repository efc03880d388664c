"""Security keys and passkeys: the own ones, and proving, signing in and signing up by them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from starlette.responses import Response

from api.auth import shapes
from api.auth.answers import AuthJson, authentication, session_token
from api.auth.authenticators import ADDED
from api.auth.call import AuthCall
from api.auth.endpoint import AuthEndpoint, AuthOperation
from api.fields import Boolean, Integer
from api.nested_fields import Json, ListOf, Nested, Object
from api.operations import Parameter
from api.shapes import Shape
from api.text_fields import Text
from host.accounts.problems import Problem, RefusedValuesError
from host.config.accounts import AccountOptions

_MEMBERS: Final = ("username", "email", "phone")
_SIGNUP: Final = Shape(
    "PasskeySignup",
    username=Text(required=False, help_text="Required unless the configuration says otherwise."),
    email=Text(required=False, help_text="Required where the configuration says so."),
    phone=Text(required=False, help_text="Only where the configuration asks for it."),
)
_ANSWERED: Final = Json(
    write_only=True, help_text="The browser's answer: the JSON form of its `PublicKeyCredential`, or the text of it."
)
_CREDENTIAL: Final = Shape("KeyAnswer", credential=_ANSWERED)
_NEW: Final = Shape(
    "NewKey", credential=_ANSWERED, name=Text(required=False, help_text="At most 100 characters; one is made up.")
)
_RENAMED: Final = Shape("RenamedKey", id=Integer(), name=Text(max_length=100))
_REMOVED: Final = Shape("RemovedKeys", authenticators=ListOf(item=Integer()))
_CREATION: Final = shapes.answer(
    "KeyCreationAnswer",
    data=Nested(shape=Shape("KeyCreation", creation_options=Object(read_only=True)), read_only=True),
)
_REQUEST: Final = shapes.answer(
    "KeyRequestAnswer",
    data=Nested(shape=Shape("KeyRequest", request_options=Object(read_only=True)), read_only=True),
    meta=Nested(
        shape=Shape("KeyRequestMeta", session_token=Text(read_only=True)),
        read_only=True,
        always=False,
    ),
)
_LONGEST_NUMBER: Final = 19


def ask_key(call: AuthCall) -> Response:
    """Begin to prove by a security key in a login: the answer is for the browser's `navigator.credentials.get`."""
    return _request(call, call.services.second_factors.ask_key(call.visit))


def authenticate(call: AuthCall) -> Response:
    """Go on with a login by a security key. The answer is 401 while a browser has to say whether it is trusted."""
    call.services.second_factors.sign_in_by_key(call.visit, call.data.get("credential"))
    return authentication(call)


def ask_key_again(call: AuthCall) -> Response:
    """Begin to prove by a security key that it is still you."""
    return _request(call, call.services.second_factors.ask_key_again(call.visit))


def prove(call: AuthCall) -> Response:
    """Prove by a security key that it is still you, before a sensitive change."""
    call.services.second_factors.prove_by_key(call.visit, call.data.get("credential"))
    return authentication(call)


def ask_passkey(call: AuthCall) -> Response:
    """Begin to sign in by a passkey. An app gets the token of the session that remembers it."""
    return _request(call, call.services.passkeys.ask_passkey(call.visit))


def sign_in(call: AuthCall) -> Response:
    """Sign in by a passkey, without a password or a second factor."""
    call.services.passkeys.sign_in(call.visit, call.data.get("credential"))
    return authentication(call)


def sign_up(call: AuthCall) -> Response:
    """Make an account without a password. The answer is 401: the sign-up waits for its passkey."""
    values = {name: call.text(name) for name in _MEMBERS}
    call.services.signup.sign_up(call.visit, values, with_password=False, passkey=True)
    return authentication(call)


def ask_signup_key(call: AuthCall) -> Response:
    """Begin to make the passkey of a sign-up: the answer is for the browser's `navigator.credentials.create`."""
    return AuthJson(data={"creation_options": call.services.passkeys.ask_new_key(call.visit)})


def finish_sign_up(call: AuthCall) -> Response:
    """Give the new account its passkey, and sign in to it."""
    call.services.passkeys.finish_sign_up(call.visit, call.data.get("credential"), call.text("name"))
    return authentication(call)


def ask_new_key(call: AuthCall) -> Response:
    """Begin to add a security key: the answer is for the browser's `navigator.credentials.create`."""
    passwordless = "passwordless" in call.request.query
    options = call.services.own_keys.ask_new_key(call.visit, passwordless=passwordless)
    return AuthJson(data={"creation_options": options})


def add_key(call: AuthCall) -> Response:
    """Add the security key that the browser made; recovery codes are made where there are none."""
    key, codes = call.services.own_keys.add(call.visit, call.data.get("credential"), call.text("name"))
    return AuthJson(data=key, meta={"recovery_codes_generated": codes})


def rename_key(call: AuthCall) -> Response:
    """Give a security key another name."""
    key_id, name = call.data.get("id"), call.text("name")
    if key_id in (None, ""):
        missing = [] if name else [Problem("required", "Enter a name for the key.")]
        raise RefusedValuesError({"id": [Problem("required", "Name the key by its id.")], "name": missing})
    return AuthJson(data=call.services.own_keys.rename(call.visit, _number(key_id), name))


def remove_keys(call: AuthCall) -> Response:
    """Remove security keys, all that are named or none; the recovery codes go with the last second factor."""
    value = call.data.get("authenticators")
    if value is None or value in ("", []):
        raise _no_keys("required", "Name the keys to remove.")
    if not isinstance(value, list):
        raise _no_keys("invalid_list", "Send a list of the ids of keys.")
    call.services.own_keys.remove(call.visit, [_number(item) for item in value])
    return AuthJson()


def _request(call: AuthCall, options: Mapping[str, Any]) -> Response:
    return AuthJson(data={"request_options": options}, meta=session_token(call) or None)


def _number(value: object) -> int | None:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= _LONGEST_NUMBER:
        return int(value)
    return None


def _no_keys(code: str, message: str) -> RefusedValuesError:
    return RefusedValuesError({"authenticators": [Problem(code, message)]})


def _is_on(options: AccountOptions) -> bool:
    return "webauthn" in options.mfa_supported_types


ENDPOINTS: Final = (
    AuthEndpoint(
        "/account/authenticators/webauthn",
        name="Security keys",
        operations={
            "GET": AuthOperation(
                summary="Begin to add a security key",
                handler=ask_new_key,
                signed_in=True,
                answers={200: _CREATION},
                parameters=(
                    Parameter(
                        name="passwordless",
                        field=Boolean(help_text="Present, with whatever value: a passkey, which can sign in alone."),
                        lenient=True,
                    ),
                ),
            ),
            "POST": AuthOperation(
                summary="Add a security key", handler=add_key, signed_in=True, body=_NEW, answers={200: ADDED}
            ),
            "PUT": AuthOperation(
                summary="Rename a security key", handler=rename_key, signed_in=True, body=_RENAMED, answers={200: ADDED}
            ),
            "DELETE": AuthOperation(
                summary="Remove security keys",
                handler=remove_keys,
                signed_in=True,
                body=_REMOVED,
                answers={200: shapes.BARE},
            ),
        },
        enabled=_is_on,
    ),
    AuthEndpoint(
        "/auth/webauthn/authenticate",
        name="Security key",
        operations={
            "GET": AuthOperation(
                summary="Begin to sign in by a security key", handler=ask_key, answers={200: _REQUEST}
            ),
            "POST": AuthOperation(summary="Sign in by a security key", handler=authenticate, body=_CREDENTIAL),
        },
        enabled=_is_on,
    ),
    AuthEndpoint(
        "/auth/webauthn/reauthenticate",
        name="Security key again",
        operations={
            "GET": AuthOperation(
                summary="Begin to prove by a security key who you are",
                handler=ask_key_again,
                signed_in=True,
                answers={200: _REQUEST},
            ),
            "POST": AuthOperation(
                summary="Prove by a security key who you are", handler=prove, body=_CREDENTIAL, signed_in=True
            ),
        },
        enabled=_is_on,
    ),
    AuthEndpoint(
        "/auth/webauthn/login",
        name="Passkey login",
        operations={
            "GET": AuthOperation(summary="Begin to sign in by a passkey", handler=ask_passkey, answers={200: _REQUEST}),
            "POST": AuthOperation(summary="Sign in by a passkey", handler=sign_in, body=_CREDENTIAL),
        },
        enabled=lambda options: _is_on(options) and options.mfa_passkey_login_enabled,
    ),
    AuthEndpoint(
        "/auth/webauthn/signup",
        name="Passkey sign-up",
        operations={
            "GET": AuthOperation(
                summary="Begin to make the passkey of a sign-up", handler=ask_signup_key, answers={200: _CREATION}
            ),
            "POST": AuthOperation(
                summary="Sign up without a password",
                handler=sign_up,
                body=_SIGNUP,
                limit="signup",
                answers={401: shapes.AUTHENTICATION_NEEDED},
            ),
            "PUT": AuthOperation(summary="Complete a sign-up by its passkey", handler=finish_sign_up, body=_NEW),
        },
        enabled=lambda options: _is_on(options) and options.mfa_passkey_signup_enabled,
    ),
)
