"""Make, show and revoke tokens for scripts and other programs."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from starlette.responses import Response

from api.answers import Json
from api.endpoint import Endpoint
from api.fields import Boolean, Integer
from api.lists import Members
from api.nested_fields import Nested, Reference
from api.operations import Operation, Parameter
from api.request import ApiRequest
from api.resources import Resource
from api.shapes import Shape
from api.text_fields import Text
from api.time_fields import Date, DateTime
from api.user_detail import USER_DETAIL
from host.accounts.listing import OWN_TOKENS, TOKENS_WITHIN_REACH
from host.errors import InvalidInputError, NotFoundError
from host.storage.listing import Listing

TOKEN: Final = Shape(
    "ApiToken",
    created=DateTime(read_only=True),
    expiry=Date(required=False, help_text="Last day on which it can be used; 365 days from now by default."),
    id=Integer(read_only=True, label="ID"),
    last_seen=DateTime(read_only=True, null=True),
    name=Text(max_length=100, blank=True, required=False, help_text="What it is for; blanks become hyphens."),
    token=Text(read_only=True, help_text="Masked, except in the answer that made it."),
    active=Boolean(read_only=True, help_text="Neither revoked nor expired."),
    revoked=Boolean(read_only=True),
    user=Reference(
        model="user",
        api_url="/api/user/",
        required=False,
        help_text="Whose token; only superusers may name others than themselves.",
    ),
    user_detail=Nested(shape=USER_DETAIL, read_only=True),
    in_use=Boolean(read_only=True, help_text="Whether this request was made with it."),
)
_ALL_USERS: Final = Parameter(
    name="all_users", field=Boolean(required=False, help_text="Shows superusers everybody's tokens."), lenient=True
)


def _choose(request: ApiRequest) -> Listing:
    return TOKENS_WITHIN_REACH if request.parameters.get("all_users") else OWN_TOKENS


def _finish(request: ApiRequest, tokens: Members) -> None:
    today = datetime.now(UTC).date().isoformat()
    presented = _presented(request)
    for token in tokens:
        token["active"] = not token["revoked"] and token["expiry"] >= today
        token["in_use"] = token["id"] == presented


def _presented(request: ApiRequest) -> int | None:
    if request.scheme != "token":
        return None
    _, _, text = request.headers[b"authorization"].decode("latin-1").strip().partition(" ")
    return request.host.tokens.id_of(text.strip())


def make_token(request: ApiRequest) -> Response:
    """Make a token. Its text is shown this once; older tokens of the same name stay valid."""
    data, caller = request.data, request.caller
    try:
        text, record = request.host.tokens.issue(
            data.get("user", caller.id), data.get("name", ""), data.get("expiry"), by=caller
        )
    except NotFoundError as error:
        raise InvalidInputError({"user": [str(error)]}) from None
    return Json(RESOURCE.read_one(request, record.id) | {"token": text}, 201)


def revoke_token(request: ApiRequest, key: int) -> None:
    """Make a token useless at once; its record stays."""
    request.host.tokens.revoke(key, by=request.caller)


RESOURCE: Final = Resource(
    path="/api/user/tokens/",
    name="token",
    tag="Own account",
    listing=TOKENS_WITHIN_REACH,
    choose=_choose,
    shape=TOKEN,
    key="id",
    read="user",
    write="user",
    finish=_finish,
    delete=revoke_token,
    parameters=(_ALL_USERS,),
    list_operations={
        "POST": Operation(
            id="token_create",
            summary="Make a token",
            access="user",
            handler=make_token,
            body=TOKEN,
            answers={201: TOKEN},
            faults={400: "Members of the body are refused.", 403: "Only superusers make tokens for others."},
        )
    },
)

ENDPOINTS: Final[tuple[Endpoint, ...]] = tuple(RESOURCE.endpoints)
