"""E-mail addresses: those of the own account, and verifying them."""

from __future__ import annotations

from typing import Any, Final

from starlette.responses import Response

from api.auth import shapes
from api.auth.answers import AuthJson, authentication, show_user
from api.auth.call import AuthCall
from api.auth.endpoint import AuthEndpoint, AuthOperation
from api.fields import Boolean
from api.nested_fields import ListOf, Nested
from api.shapes import Shape
from api.text_fields import Text
from host.accounts.emails.verification import FLOW

_KEY_HEADER: Final = b"x-email-verification-key"
_FALSE_TEXTS: Final = frozenset({"", "0", "false"})

EMAIL: Final = Shape(
    "OwnEmailAddress",
    email=Text(read_only=True),
    verified=Boolean(read_only=True),
    primary=Boolean(read_only=True),
)
_LIST: Final = shapes.answer("EmailAddressesAnswer", data=ListOf(item=Nested(shape=EMAIL), read_only=True))
_ONE: Final = Shape("EmailAddressName", email=Text())
_PRIMARY: Final = Shape("PrimaryEmailAddress", email=Text(), primary=Boolean(help_text="Only `true` is allowed."))
_KEY: Final = Shape("EmailVerification", key=Text(write_only=True, help_text="The key of the link, or the code."))
_WHOSE: Final = Shape("EmailVerificationData", email=Text(read_only=True), user=Nested(shape=shapes.USER))
_WAITS: Final = Shape("EmailVerificationMeta", is_authenticating=Boolean(read_only=True))
_FOUND: Final = shapes.answer(
    "EmailVerificationAnswer",
    data=Nested(shape=_WHOSE, read_only=True),
    meta=Nested(shape=_WAITS, read_only=True),
)


def list_addresses(call: AuthCall) -> Response:
    """List the own addresses, and one that waits for its code."""
    return AuthJson(data=call.services.own_addresses.show(call.visit))


def add_address(call: AuthCall) -> Response:
    """Add an address, or change it; a link or a code is mailed to it.

    Where the configuration allows it, somebody whose login waits for the proof of an address may change that address.
    Others who are not signed in get 409.
    """
    email = call.text("email")
    if call.visit.account is None:
        return AuthJson(data=call.services.address_correction.correct(call.visit, email))
    call.services.own_addresses.add(call.visit, email)
    return list_addresses(call)


def send_again(call: AuthCall) -> Response:
    """Mail another link or code; 403 when nothing was sent, as it was a short while ago or often enough."""
    call.services.own_addresses.send_again(call.visit, call.text("email"))
    return AuthJson()


def make_primary(call: AuthCall) -> Response:
    """Make a verified address the primary one."""
    primary: Any = call.data.get("primary")
    is_true = bool(primary) and str(primary).strip().lower() not in _FALSE_TEXTS
    call.services.own_addresses.make_primary(call.visit, call.text("email"), primary=is_true)
    return list_addresses(call)


def remove_address(call: AuthCall) -> Response:
    """Remove an address; not the primary one while there are others."""
    call.services.own_addresses.remove(call.visit, call.text("email"))
    return list_addresses(call)


def show_verification(call: AuthCall) -> Response:
    """Show which address a key verifies, and whose it is; the key, or the code, comes in `X-Email-Verification-Key`.

    Nothing is verified. A wrong code counts as a try.
    """
    email, account = call.services.email_verification.look_up(call.visit, call.header(_KEY_HEADER))
    login = call.visit.pending
    is_waiting = login is not None and login.stage == FLOW
    return AuthJson(data={"email": email, "user": show_user(account)}, meta={"is_authenticating": is_waiting})


def verify(call: AuthCall) -> Response:
    """Verify an address by the key of a link, or by a code. 401 means that it is verified and nobody is signed in.

    A link works for everybody; a code only for who asked for it, and it goes on with the login that waits for it.
    """
    call.services.email_verification.verify(call.visit, call.text("key"))
    return authentication(call)


def resend(call: AuthCall) -> Response:
    """Mail another code in place of the last, whose time and wrong attempts go on counting; 409 for links."""
    call.services.email_verification.resend(call.visit)
    return AuthJson()


ENDPOINTS: Final = (
    AuthEndpoint(
        "/account/email",
        name="E-mail addresses",
        operations={
            "GET": AuthOperation(
                summary="List the own e-mail addresses", handler=list_addresses, signed_in=True, answers={200: _LIST}
            ),
            "POST": AuthOperation(
                summary="Add an e-mail address", handler=add_address, body=_ONE, answers={200: _LIST}
            ),
            "PUT": AuthOperation(
                summary="Mail another link or code",
                handler=send_again,
                body=_ONE,
                signed_in=True,
                limit="manage_email",
                answers={200: shapes.BARE},
            ),
            "PATCH": AuthOperation(
                summary="Choose the primary e-mail address",
                handler=make_primary,
                body=_PRIMARY,
                signed_in=True,
                limit="manage_email",
                answers={200: _LIST},
            ),
            "DELETE": AuthOperation(
                summary="Remove an e-mail address",
                handler=remove_address,
                body=_ONE,
                signed_in=True,
                limit="manage_email",
                answers={200: _LIST},
            ),
        },
    ),
    AuthEndpoint(
        "/auth/email/verify",
        name="E-mail verification",
        operations={
            "GET": AuthOperation(
                summary="Show which address a key verifies", handler=show_verification, answers={200: _FOUND}
            ),
            "POST": AuthOperation(summary="Verify an e-mail address", handler=verify, body=_KEY),
        },
    ),
    AuthEndpoint(
        "/auth/email/verify/resend",
        name="E-mail verification again",
        operations={"POST": AuthOperation(summary="Mail another code", handler=resend, answers={200: shapes.BARE})},
    ),
)
