"""Sign-in through providers, and the connections of an account to them."""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import parse_qsl

from starlette.responses import RedirectResponse, Response

from api.auth import shapes
from api.auth.answers import AuthJson, authentication
from api.auth.call import AuthCall, UnreadableBodyError, check_csrf
from api.auth.endpoint import AuthEndpoint, AuthOperation
from api.fields import Boolean
from api.nested_fields import ListOf, Nested, Object
from api.shapes import Shape
from api.text_fields import Text
from host.accounts.providers.identity import Identity

_CSRF_MEMBER: Final = "csrfmiddlewaretoken"
_MOST_MEMBERS: Final = 100
_SIGNUP_MEMBERS: Final = ("username", "email", "phone")
_ELSEWHERE: Final = {"cache-control": "no-store", "referrer-policy": "no-referrer"}

_REDIRECT: Final = Shape(
    "ProviderRedirect",
    provider=Text(help_text="The id of a provider."),
    process=Text(help_text="`login` or `connect`."),
    callback_url=Text(help_text="The page to return to: on this host, or on one that is trusted."),
    csrfmiddlewaretoken=Text(write_only=True, help_text="The value of the cookie `csrftoken`."),
)
_TOKEN: Final = Shape(
    "ProviderToken",
    provider=Text(help_text="The id of a provider."),
    process=Text(help_text="`login` or `connect`."),
    token=Object(write_only=True, help_text="`client_id`, and `id_token` or `access_token` or both."),
)
_SIGNUP: Final = Shape(
    "ProviderSignup",
    username=Text(required=False, help_text="Required unless the configuration says otherwise."),
    email=Text(required=False, help_text="That which the provider told where it is left out."),
    phone=Text(required=False, help_text="Only where the configuration asks for it."),
)
_CONNECTION: Final = Shape(
    "ProviderConnection",
    provider=Text(help_text="The id of a provider."),
    account=Text(help_text="The `uid` of the account there."),
)
_ACCOUNT: Final = Shape(
    "ProviderAccount",
    uid=Text(read_only=True),
    provider=Nested(shape=shapes.PROVIDER, read_only=True),
    display=Text(read_only=True),
)
_EMAIL: Final = Shape(
    "ProviderEmail",
    email=Text(read_only=True),
    verified=Boolean(read_only=True),
    primary=Boolean(read_only=True),
)
_WAITING: Final = Shape(
    "ProviderSignupData",
    user=Nested(shape=shapes.USER, read_only=True),
    account=Nested(shape=_ACCOUNT, read_only=True),
    email=ListOf(item=Nested(shape=_EMAIL), read_only=True),
)
_ACCOUNTS: Final = shapes.answer("ProviderAccountsAnswer", data=ListOf(item=Nested(shape=_ACCOUNT), read_only=True))


def begin_redirect(call: AuthCall) -> Response:
    """Send the browser to a provider; it comes back signed in, to the page that is named.

    A form of the page is sent here, not a script's request. Where something is wrong, the browser gets to the page that
    says so.
    """
    form = _form(call)
    check_csrf(call.request, call.caller, sent=form.get(_CSRF_MEMBER))
    provider, process, callback = (form.get(name, "").strip() for name in ("provider", "process", "callback_url"))
    return elsewhere(call.services.providers.redirect.begin(call.visit, provider, process, callback))


def sign_in_by_token(call: AuthCall) -> Response:
    """Sign in, or connect the account that is signed in, by a token that an app got from a provider itself."""
    login = call.services.providers.login
    login.by_token(call.visit, call.text("provider"), call.text("process"), call.data.get("token"))
    return authentication(call)


def show_signup(call: AuthCall) -> Response:
    """Show what a provider says of somebody who has no account yet and is to choose what else it needs."""
    providers = call.services.providers
    identity = providers.signup.waiting(call.visit)
    account = providers.connections.show(identity.provider, identity.uid, identity.display)
    return AuthJson(data={"user": _show_person(identity), "account": account, "email": _show_email(identity)})


def sign_up(call: AuthCall) -> Response:
    """Make the account for which a sign-up through a provider waits."""
    values = {name: call.text(name) for name in _SIGNUP_MEMBERS}
    call.services.providers.signup.sign_up(call.visit, values)
    return authentication(call)


def list_connections(call: AuthCall) -> Response:
    """List the accounts at providers with which you can sign in."""
    return AuthJson(data=call.services.providers.connections.list(call.visit))


def disconnect(call: AuthCall) -> Response:
    """Disconnect an account at a provider; refused where you could not sign in any more without it."""
    connections = call.services.providers.connections
    connections.disconnect(call.visit, call.text("provider"), call.text("account"))
    return AuthJson(data=connections.list(call.visit))


def elsewhere(url: str) -> Response:
    """Send the browser elsewhere; nothing of the address that it comes from goes with it."""
    return RedirectResponse(url, 302, _ELSEWHERE)


def _form(call: AuthCall) -> dict[str, str]:
    try:
        return dict(parse_qsl(call.raw.decode(), keep_blank_values=True, max_num_fields=_MOST_MEMBERS))
    except ValueError as error:
        raise UnreadableBodyError from error


def _show_person(identity: Identity) -> dict[str, Any]:
    shown: dict[str, Any] = {"display": identity.username or identity.display, "has_usable_password": False}
    given = {"username": identity.username, "email": identity.email}
    return shown | {name: value for name, value in given.items() if value}


def _show_email(identity: Identity) -> list[dict[str, Any]]:
    if not identity.email:
        return []
    return [{"email": identity.email, "verified": identity.email_verified, "primary": True}]


ENDPOINTS: Final = (
    AuthEndpoint(
        "/auth/provider/redirect",
        name="Provider redirect",
        operations={
            "POST": AuthOperation(
                summary="Go to a provider to sign in",
                handler=begin_redirect,
                body=_REDIRECT,
                answers={302: None},
                calls_plugins=True,
            )
        },
        csrf_in_form=True,
    ),
    AuthEndpoint(
        "/auth/provider/token",
        name="Provider token",
        operations={
            "POST": AuthOperation(
                summary="Sign in by a token of a provider",
                handler=sign_in_by_token,
                body=_TOKEN,
                limit="login",
                calls_plugins=True,
            )
        },
    ),
    AuthEndpoint(
        "/auth/provider/signup",
        name="Provider sign-up",
        operations={
            "GET": AuthOperation(
                summary="Show a sign-up through a provider",
                handler=show_signup,
                answers={200: shapes.answer("ProviderSignupAnswer", data=Nested(shape=_WAITING, read_only=True))},
                calls_plugins=True,
            ),
            "POST": AuthOperation(
                summary="Sign up through a provider", handler=sign_up, body=_SIGNUP, limit="signup", calls_plugins=True
            ),
        },
    ),
    AuthEndpoint(
        "/account/providers",
        name="Provider accounts",
        operations={
            "GET": AuthOperation(
                summary="List your accounts at providers",
                handler=list_connections,
                answers={200: _ACCOUNTS},
                signed_in=True,
                calls_plugins=True,
            ),
            "DELETE": AuthOperation(
                summary="Disconnect an account at a provider",
                handler=disconnect,
                body=_CONNECTION,
                answers={200: _ACCOUNTS},
                signed_in=True,
                calls_plugins=True,
            ),
        },
    ),
)
