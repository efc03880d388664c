"""Manage the groups people belong to."""

from __future__ import annotations

from dataclasses import asdict
from typing import Final

from api.endpoint import Endpoint
from api.fields import Boolean, Integer
from api.lists import Members
from api.nested_fields import ListOf, Nested, Object
from api.operations import Parameter
from api.request import ApiRequest
from api.resources import Resource
from api.rulesets import RULESET
from api.shapes import Shape
from api.text_fields import Text
from api.user_detail import USER_DETAIL
from host.accounts.listing import GROUP_LIST

GROUP: Final = Shape(
    "Group",
    pk=Integer(read_only=True, label="ID"),
    name=Text(max_length=150, help_text="What the group is called; no two are the same."),
    users=ListOf(
        item=Nested(shape=USER_DETAIL), read_only=True, always=False, help_text="Members; with `user_detail=true`."
    ),
    roles=ListOf(
        item=Nested(shape=RULESET), read_only=True, always=False, help_text="Rule sets; with `role_detail=true`."
    ),
    permissions=Object(
        read_only=True, always=False, help_text="Model and what may be done to it; with `permission_detail=true`."
    ),
)
_DETAILS: Final = tuple(
    Parameter(name=name, field=Boolean(required=False, help_text=f"Adds `{member}`."), lenient=True)
    for name, member in (("user_detail", "users"), ("role_detail", "roles"), ("permission_detail", "permissions"))
)


def _finish(request: ApiRequest, groups: Members) -> None:
    wanted = {name for name, value in request.parameters.items() if value}
    keys = [group["pk"] for group in groups]
    if "user_detail" in wanted:
        members = request.host.directory.members(keys)
        for group in groups:
            group["users"] = [asdict(member) for member in members[group["pk"]]]
    if not wanted & {"role_detail", "permission_detail"}:
        return
    rulesets = request.host.groups.rulesets_of(keys)
    for group in groups:
        found = rulesets[group["pk"]]
        if "role_detail" in wanted:
            group["roles"] = [asdict(ruleset) for ruleset in found]
        if "permission_detail" in wanted:
            group["permissions"] = request.host.rights.given_by(found).permissions()


def create_group(request: ApiRequest) -> int:
    """Make a group, with an empty rule set for every role."""
    return request.host.groups.create(request.data["name"], by=request.caller).pk


def rename_group(request: ApiRequest, key: int) -> None:
    """Give a group another name."""
    if "name" in request.data:
        request.host.groups.rename(key, request.data["name"], by=request.caller)


def delete_group(request: ApiRequest, key: int) -> None:
    """Delete a group; its members lose the rights it gave."""
    request.host.groups.delete(key, by=request.caller)


ENDPOINTS: Final[tuple[Endpoint, ...]] = tuple(
    Resource(
        path="/api/user/group/",
        name="group",
        tag="Users and groups",
        listing=GROUP_LIST,
        shape=GROUP,
        read="user",
        write="superuser",
        finish=_finish,
        create=create_group,
        update=rename_group,
        delete=delete_group,
        parameters=_DETAILS,
        detail_parameters=_DETAILS,
    ).endpoints
)
