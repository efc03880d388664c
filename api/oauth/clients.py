"""Clients of the authorization server: those who may register them, and how."""

from __future__ import annotations

from typing import Final

from starlette.responses import Response

from api.answers import Json
from api.choice_field import Choice
from api.fields import Boolean, Integer
from api.nested_fields import ListOf, Reference
from api.operations import Operation
from api.request import ApiRequest
from api.resources import Resource
from api.shapes import Shape
from api.text_fields import Text
from api.time_fields import DateTime
from host.accounts.oauth.clients import MOST_URIS
from host.accounts.oauth.listing import LISTING
from host.accounts.oauth.scopes import READ, SCOPES
from host.accounts.oauth.tables import NAME_LENGTH, URI_LENGTH

_URIS = ListOf(
    item=Text(max_length=URI_LENGTH, raw=True),
    default=[],
    max_items=MOST_URIS,
    help_text="Where the client may have people sent back to. Without any it acts for its owner alone.",
)
_SCOPES = ListOf(
    item=Choice(choices=[(name, text) for name, text in SCOPES.items()]),
    empty=False,
    default=[READ],
    max_items=len(SCOPES),
    help_text="The most that the client may ask for.",
)
_PUBLIC = Boolean(default=False, help_text="It runs where it can keep no secret, as in a browser or on a phone.")

CLIENT: Final = Shape(
    "OAuthClient",
    pk=Integer(read_only=True),
    client_id=Text(read_only=True),
    client_secret=Text(read_only=True, always=False, help_text="Only when it was just made; cannot be seen again."),
    name=Text(max_length=NAME_LENGTH, help_text="What people are shown when they are asked to allow it."),
    public=_PUBLIC,
    redirect_uris=_URIS,
    scopes=_SCOPES,
    owner=Reference(
        model="user",
        api_url="/api/user/",
        read_only=True,
        null=True,
        help_text="The account whose rights the client can never exceed.",
    ),
    created=DateTime(read_only=True),
)
_CHANGED: Final = Shape(
    "OAuthClientChange", **{name: CLIENT.fields[name] for name in ("name", "redirect_uris", "scopes")}
)


def register(request: ApiRequest) -> Response:
    """Register a client that belongs to the caller. Its secret is shown this once."""
    data = request.data
    record, secret = request.host.oauth.clients.create(
        data["name"],
        owner_id=request.caller.id,
        redirect_uris=data["redirect_uris"],
        scopes=data["scopes"],
        public=data["public"],
        by=request.caller,
    )
    shown = {} if secret is None else {"client_secret": secret}
    return Json(_RESOURCE.read_one(request, record.id) | shown, 201)


def _change(request: ApiRequest, pk: int) -> None:
    request.host.oauth.clients.change(pk, request.data, by=request.caller)


def _remove(request: ApiRequest, pk: int) -> None:
    request.host.oauth.clients.remove(pk, by=request.caller)


_RESOURCE: Final = Resource(
    path="/api/oauth/clients/",
    name="OAuth client",
    tag="OAuth clients",
    description="Programs that may ask people to let them use this interface. Superusers see all, others their own.",
    listing=LISTING,
    shape=CLIENT,
    update_shape=_CHANGED,
    read="staff",
    write="staff",
    puts=False,
    update=_change,
    delete=_remove,
    list_operations={
        "POST": Operation(
            id="OAuth_client_create",
            summary="Register an OAuth client",
            access="staff",
            handler=register,
            body=CLIENT,
            answers={201: CLIENT},
            faults={400: "Members of the body are refused."},
        )
    },
)
ENDPOINTS: Final = tuple(_RESOURCE.endpoints)
