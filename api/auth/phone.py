"""The phone number of the own account, and verifying it."""

from __future__ import annotations

from typing import Final

from starlette.responses import Response

from api.auth import shapes
from api.auth.answers import AuthJson, authentication
from api.auth.call import AuthCall
from api.auth.endpoint import AuthEndpoint, AuthOperation
from api.fields import Boolean
from api.nested_fields import ListOf, Nested
from api.shapes import Shape
from api.text_fields import Text

PHONE: Final = Shape("OwnPhoneNumber", phone=Text(read_only=True), verified=Boolean(read_only=True))
_LIST: Final = shapes.answer("PhoneNumbersAnswer", data=ListOf(item=Nested(shape=PHONE), read_only=True))
_NEW: Final = Shape("NewPhoneNumber", phone=Text(help_text="With its country code, such as `+441632960123`."))
_CODE: Final = Shape("PhoneVerification", code=Text(write_only=True))


def show_number(call: AuthCall) -> Response:
    """Show the own phone number, in a list of one or none."""
    return AuthJson(data=call.services.own_number.show(call.visit))


def change_number(call: AuthCall) -> Response:
    """Begin to change the own number: a code is sent to the new one, and the old one stays until it comes back.

    Where the configuration allows it, somebody whose login waits for the proof of a number may change that number.
    Others who are not signed in get 409.
    """
    return AuthJson(202, data=call.services.own_number.change(call.visit, call.text("phone")))


def verify(call: AuthCall) -> Response:
    """Verify a number by the code that was sent to it, and go on with the login that waits for it."""
    call.services.phone_verification.verify(call.visit, call.text("code"))
    return authentication(call)


def resend(call: AuthCall) -> Response:
    """Send another code in place of the last, for a login that waits; time and wrong attempts go on counting."""
    call.services.phone_verification.resend(call.visit)
    return AuthJson()


ENDPOINTS: Final = (
    AuthEndpoint(
        "/account/phone",
        name="Phone number",
        operations={
            "GET": AuthOperation(
                summary="Show the own phone number", handler=show_number, signed_in=True, answers={200: _LIST}
            ),
            "POST": AuthOperation(
                summary="Change the own phone number", handler=change_number, body=_NEW, answers={202: _LIST}
            ),
        },
    ),
    AuthEndpoint(
        "/auth/phone/verify",
        name="Phone verification",
        operations={"POST": AuthOperation(summary="Verify a phone number", handler=verify, body=_CODE)},
    ),
    AuthEndpoint(
        "/auth/phone/verify/resend",
        name="Phone verification again",
        operations={
            "POST": AuthOperation(summary="Send another phone code", handler=resend, answers={200: shapes.BARE})
        },
    ),
)
