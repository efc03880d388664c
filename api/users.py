"""Manage the people who have an account: list them, make and change them, set their passwords."""

from __future__ import annotations

from typing import Any, Final

from starlette.responses import Response

from api.answers import Json
from api.endpoint import Endpoint
from api.fields import Boolean, Integer
from api.lists import Members
from api.nested_fields import ListOf, Nested, Reference
from api.operations import Operation
from api.own_account import GROUP, PROFILE
from api.request import ApiRequest
from api.resources import Resource
from api.shapes import Shape
from api.text_fields import Email, Text
from host.accounts.listing import ACCOUNTS, ACCOUNTS_IN_BRIEF
from host.storage.listing import Listing

TAG: Final = "Users and groups"
USERS_PATH: Final = "/api/user/"

_FOR_STAFF: Final = ("groups", "is_staff", "is_superuser", "profile")
USER: Final = Shape(
    "User",
    pk=Integer(read_only=True, label="ID"),
    username=Text(max_length=150, help_text="Name to sign in with; no two accounts have the same."),
    first_name=Text(max_length=150, blank=True, required=False, help_text="Given name."),
    last_name=Text(max_length=150, blank=True, required=False, help_text="Family name."),
    email=Email(blank=True, required=False, help_text="Address that mail goes to."),
    groups=ListOf(item=Nested(shape=GROUP), read_only=True, always=False, help_text="Shown to the staff."),
    group_ids=ListOf(
        item=Reference(model="group", api_url="/api/user/group/"),
        write_only=True,
        required=False,
        help_text="All groups that the user shall belong to.",
    ),
    is_staff=Boolean(required=False, always=False, help_text="Whether this is a member of staff; shown to the staff."),
    is_superuser=Boolean(required=False, always=False, help_text="Whether the user may do everything."),
    is_active=Boolean(required=False, help_text="Whether the account can be used."),
    profile=Nested(shape=PROFILE, read_only=True, always=False, help_text="Shown to the staff."),
)
PASSWORD: Final = Shape(
    "SetPassword",
    password=Text(raw=True, write_only=True, help_text="The new password."),
    override_warning=Boolean(default=False, write_only=True, help_text="Take a weak password too."),
)


def _sees_all(request: ApiRequest) -> bool:
    return request.caller.is_staff or request.caller.is_superuser


def _choose(request: ApiRequest) -> Listing:
    return ACCOUNTS if _sees_all(request) else ACCOUNTS_IN_BRIEF


def _finish(request: ApiRequest, members: Members) -> None:
    if _sees_all(request):
        request.host.directory.complete(members)
        return
    for member in members:
        for name in (*_FOR_STAFF, "primary_group"):
            member.pop(name, None)


def create_user(request: ApiRequest) -> int:
    """Make an account. It cannot sign in by password before one is set."""
    flags = {name: value for name, value in request.data.items() if name.startswith("is_")}
    return request.host.users.create(request.data, flags=flags, by=request.caller).id


def change_user(request: ApiRequest, key: int) -> None:
    """Change an account. The last active superuser can neither be switched off nor lose that flag."""
    request.host.users.change(key, request.data, complete=request.method == "PUT", by=request.caller)


def delete_user(request: ApiRequest, key: int) -> None:
    """Delete an account with its tokens and memberships; the last active superuser stays."""
    request.host.users.delete(key, by=request.caller)


def set_password(request: ApiRequest) -> Response:
    """Give somebody a new password. Their sessions end; their tokens stay valid."""
    request.host.users.set_password(
        request.path_params["id"],
        request.data["password"],
        override_rules=request.data.get("override_warning", False),
        by=request.caller,
    )
    return Json({})


RESOURCE: Final = Resource(
    path=USERS_PATH,
    name="user",
    tag=TAG,
    listing=ACCOUNTS,
    choose=_choose,
    shape=USER,
    read="user",
    write="superuser",
    finish=_finish,
    create=create_user,
    update=change_user,
    delete=delete_user,
)
_SET_PASSWORD: Final[dict[str, Any]] = {
    "summary": "Set a user's password",
    "access": "superuser",
    "handler": set_password,
    "body": PASSWORD,
    "answers": {200: PASSWORD},
    "faults": {400: "The password breaks rules.", 404: "There is no such user."},
}

ENDPOINTS: Final[tuple[Endpoint, ...]] = (
    *RESOURCE.endpoints,
    Endpoint(
        f"{USERS_PATH}{{id:int}}/set-password/",
        name="Set password",
        tag=TAG,
        operations={
            "PUT": Operation(id="user_set_password_update", **_SET_PASSWORD),
            "PATCH": Operation(id="user_set_password_partial_update", **_SET_PASSWORD),
        },
    ),
)
