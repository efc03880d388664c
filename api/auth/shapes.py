"""Shapes of the account interface: one for each kind of answer, and those that several areas share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from api.fields import Boolean, Float, Integer
from api.nested_fields import ListOf, Nested, Object
from api.shapes import Shape
from api.text_fields import Text

STATUS: Final = Integer(read_only=True, help_text="The same as the status of the answer.")

USER: Final = Shape(
    "SignInUser",
    id=Integer(read_only=True, always=False),
    display=Text(read_only=True),
    has_usable_password=Boolean(read_only=True),
    email=Text(read_only=True, always=False),
    username=Text(read_only=True, always=False),
)
METHOD: Final = Shape(
    "SignInMethod",
    method=Text(read_only=True),
    at=Float(read_only=True, help_text="Seconds since 1970."),
    email=Text(read_only=True, always=False),
    username=Text(read_only=True, always=False),
    phone=Text(read_only=True, always=False),
    id=Integer(read_only=True, always=False),
    type=Text(read_only=True, always=False),
    reauthenticated=Boolean(read_only=True, always=False),
    passwordless=Boolean(read_only=True, always=False),
    provider=Text(read_only=True, always=False),
    uid=Text(read_only=True, always=False),
)
PROVIDER: Final = Shape(
    "Provider",
    id=Text(read_only=True),
    name=Text(read_only=True),
    flows=ListOf(item=Text(), read_only=True),
    client_id=Text(read_only=True, always=False),
    openid_configuration_url=Text(read_only=True, always=False),
)
FLOW: Final = Shape(
    "Flow",
    id=Text(read_only=True),
    is_pending=Boolean(read_only=True, always=False),
    providers=ListOf(item=Text(), read_only=True, always=False),
    provider=Nested(shape=PROVIDER, read_only=True, always=False),
    types=ListOf(item=Text(), read_only=True, always=False),
)
AUTHENTICATION: Final = Shape(
    "Authentication",
    user=Nested(shape=USER, read_only=True),
    methods=ListOf(item=Nested(shape=METHOD), read_only=True),
)
META: Final = Shape(
    "AuthenticationMeta",
    is_authenticated=Boolean(read_only=True, null=True, help_text="`null` where that is not the question."),
    session_token=Text(read_only=True, always=False),
    access_token=Text(read_only=True, always=False),
    refresh_token=Text(read_only=True, always=False),
)
NEEDED: Final = Shape(
    "AuthenticationNeededData",
    flows=ListOf(item=Nested(shape=FLOW), read_only=True),
    user=Nested(shape=USER, read_only=True, always=False),
    methods=ListOf(item=Nested(shape=METHOD), read_only=True, always=False),
)
ERROR: Final = Shape(
    "AuthError",
    message=Text(read_only=True),
    code=Text(read_only=True),
    param=Text(read_only=True, always=False, help_text="The member of the input; absent for the whole."),
)


def answer(name: str, **parts: Nested | ListOf | Object) -> Shape:
    """Return the shape of an answer with some of the parts ``data``, ``meta`` and ``errors``."""
    return Shape(name, status=STATUS, **parts)


BARE: Final = Shape("AuthStatus", status=STATUS)
AUTHENTICATED: Final = answer(
    "AuthenticatedAnswer", data=Nested(shape=AUTHENTICATION, read_only=True), meta=Nested(shape=META, read_only=True)
)
AUTHENTICATION_NEEDED: Final = answer(
    "AuthenticationNeededAnswer", data=Nested(shape=NEEDED, read_only=True), meta=Nested(shape=META, read_only=True)
)
REFUSED: Final = Shape(
    "AuthRefusal",
    status=STATUS,
    errors=ListOf(item=Nested(shape=ERROR), read_only=True, always=False),
    detail=Text(read_only=True, always=False),
)
FAULTS: Final[Mapping[int, Shape]] = {
    400: REFUSED,
    401: AUTHENTICATION_NEEDED,
    403: Shape(
        "AuthForbidden", status=Integer(read_only=True, always=False), detail=Text(read_only=True, always=False)
    ),
    409: REFUSED,
    410: AUTHENTICATION_NEEDED,
}
"""Status of a failure → its shape; the others are :data:`BARE`."""
