"""The own account: who one is, what one may do, and tokens for programs."""

from __future__ import annotations

from typing import Final

from starlette.responses import Response

from api.answers import Json
from api.choice_field import Choice
from api.endpoint import Endpoint
from api.fields import Boolean, Integer
from api.nested_fields import ListOf, Nested, Object, Reference
from api.operations import Operation, Parameter
from api.request import ApiRequest
from api.shapes import Shape
from api.text_fields import Email, Text
from api.time_fields import Date

_TAG = "Own account"

GROUP: Final = Shape("OwnGroup", pk=Integer(read_only=True), name=Text(read_only=True))
PROFILE: Final = Shape(
    "Profile",
    language=Text(blank=True, null=True, required=False, max_length=20, help_text="Code, such as `en` or `de-at`."),
    theme=Object(null=True, required=False, help_text="How screens look; for clients to choose."),
    widgets=Object(null=True, required=False, help_text="What the start page holds; for clients to choose."),
    displayname=Text(
        blank=True,
        null=True,
        required=False,
        max_length=255,
        label="Display name",
        help_text="What others call the person.",
    ),
    position=Text(blank=True, null=True, required=False, max_length=255, help_text="What the person does."),
    status=Text(blank=True, null=True, required=False, max_length=2000, help_text="What the person is up to."),
    location=Text(blank=True, null=True, required=False, max_length=2000, help_text="Where the person works."),
    active=Boolean(required=False, help_text="Whether the person is around."),
    contact=Text(blank=True, null=True, required=False, max_length=255, help_text="How to reach the person."),
    type=Choice(
        choices=[("bot", "Bot"), ("internal", "Internal"), ("external", "External"), ("guest", "Guest")],
        required=False,
        help_text="What kind of account it is.",
    ),
    organisation=Text(blank=True, null=True, required=False, max_length=255, help_text="Whom the person works for."),
    primary_group=Reference(
        model="group", api_url="/api/user/group/", null=True, required=False, help_text="One of the own groups."
    ),
)
ROLES: Final = Shape(
    "OwnRoles",
    user=Reference(model="user", api_url="/api/user/", read_only=True),
    username=Text(read_only=True),
    is_staff=Boolean(read_only=True),
    is_superuser=Boolean(read_only=True),
    roles=Object(read_only=True, help_text="Rule set and what it grants, `null` for nothing."),
    permissions=Object(read_only=True, help_text="Model and what may be done to it."),
)
ME: Final = Shape(
    "Me",
    pk=Integer(read_only=True),
    username=Text(max_length=150, help_text="Name to sign in with; no two accounts have the same."),
    first_name=Text(max_length=150, blank=True, required=False, help_text="Given name."),
    last_name=Text(max_length=150, blank=True, required=False, help_text="Family name."),
    email=Email(blank=True, required=False, help_text="Address that mail goes to."),
    groups=ListOf(item=Nested(shape=GROUP), read_only=True),
    is_staff=Boolean(read_only=True),
    is_superuser=Boolean(read_only=True),
    is_active=Boolean(read_only=True),
    profile=Nested(shape=PROFILE, read_only=True),
    roles=Object(read_only=True, always=False, help_text="Rule set and what it grants; with `roles=true`."),
    permissions=Object(read_only=True, always=False),
)
TOKEN: Final = Shape(
    "Token",
    token=Text(read_only=True, help_text="Cannot be seen again."),
    name=Text(read_only=True),
    expiry=Date(read_only=True),
)
_NAME = Parameter(
    name="name",
    field=Text(required=False, blank=True, raw=True, help_text="What the token is for; cleaned and cut to 100."),
)
_WITH_ROLES = Parameter(
    name="roles", field=Boolean(required=False, help_text="Adds `roles` and `permissions`."), lenient=True
)


def show_me(request: ApiRequest) -> Response:
    """Show the own account."""
    return Json(request.host.own_account.me(request.caller.id, roles=request.parameters.get("roles", False)))


def change_me(request: ApiRequest) -> Response:
    """Change the own names, e-mail address and username."""
    complete = request.method == "PUT"
    return Json(request.host.own_account.change(request.caller.id, request.data, complete=complete))


def show_profile(request: ApiRequest) -> Response:
    """Show the own profile."""
    return Json(request.host.own_account.profile(request.caller.id))


def change_profile(request: ApiRequest) -> Response:
    """Change members of the own profile; those that are not sent stay as they are."""
    return Json(request.host.own_account.change_profile(request.caller.id, request.data))


def show_roles(request: ApiRequest) -> Response:
    """Show what one may do: the union of what the own groups grant, everything for superusers."""
    return Json(request.host.own_account.roles(request.caller.id))


def new_token(request: ApiRequest) -> Response:
    """Make a token. Its text is shown this once; older tokens of the same name stay valid."""
    text, record = request.host.tokens.issue(request.caller.id, request.parameters.get("name", ""), by=request.caller)
    return Json({"token": text, "name": record.name, "expiry": record.expiry.isoformat()})


def _token(path: str, identifier: str) -> Endpoint:
    return Endpoint(
        path,
        name="Token",
        tag=_TAG,
        operations={
            "GET": Operation(
                id=identifier,
                summary="Make a token",
                access="user",
                handler=new_token,
                answers={200: TOKEN},
                parameters=(_NAME,),
                faults={400: "The name holds HTML."},
                writes=TOKEN,
            )
        },
    )


def _change(identifier: str, *, partial: bool) -> Operation:
    return Operation(
        id=identifier,
        summary="Change the own account" if partial else "Replace the own account",
        access="user",
        handler=change_me,
        body=ME,
        partial=partial,
        answers={200: ME},
        faults={400: "Members of the body are refused."},
    )


def _change_profile(identifier: str, *, partial: bool) -> Operation:
    return Operation(
        id=identifier,
        summary="Change the own profile" if partial else "Replace the own profile",
        access="user",
        handler=change_profile,
        body=PROFILE,
        partial=partial,
        answers={200: PROFILE},
        faults={400: "Members of the body are refused."},
    )


ENDPOINTS: Final = (
    Endpoint(
        "/api/user/me/",
        name="Own account",
        tag=_TAG,
        operations={
            "GET": Operation(
                id="user_me",
                summary="Show the own account",
                access="user",
                handler=show_me,
                answers={200: ME},
                parameters=(_WITH_ROLES,),
                writes=ME,
            ),
            "PATCH": _change("user_me_partial_update", partial=True),
            "PUT": _change("user_me_update", partial=False),
        },
    ),
    Endpoint(
        "/api/user/me/profile/",
        name="Own profile",
        tag=_TAG,
        operations={
            "GET": Operation(
                id="user_me_profile",
                summary="Show the own profile",
                access="user",
                handler=show_profile,
                answers={200: PROFILE},
                writes=PROFILE,
            ),
            "PATCH": _change_profile("user_me_profile_partial_update", partial=True),
            "PUT": _change_profile("user_me_profile_update", partial=False),
        },
    ),
    Endpoint(
        "/api/user/me/roles/",
        name="Own roles",
        tag=_TAG,
        operations={
            "GET": Operation(
                id="user_me_roles",
                summary="Show the own roles and permissions",
                access="user",
                handler=show_roles,
                answers={200: ROLES},
                writes=ROLES,
            )
        },
    ),
    _token("/api/user/me/token/", "user_me_token"),
    _token("/api/user/token/", "user_token"),
)
