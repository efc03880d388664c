"""Manage the rights that groups grant, role by role."""

from __future__ import annotations

from typing import Final

from api.endpoint import Endpoint
from api.fields import Boolean, Integer
from api.nested_fields import Reference
from api.request import ApiRequest
from api.resources import Resource
from api.shapes import Shape
from api.text_fields import Text
from host.accounts.listing import RULESET_LIST

RULESET: Final = Shape(
    "RuleSet",
    pk=Integer(read_only=True, label="ID"),
    name=Text(read_only=True, max_length=50, help_text="The role."),
    label=Text(read_only=True, help_text="The role, for people."),
    group=Reference(read_only=True, model="group", api_url="/api/user/group/"),
    can_view=Boolean(required=False, help_text="Whether members may see."),
    can_add=Boolean(required=False, help_text="Whether members may add; implies to change."),
    can_change=Boolean(required=False, help_text="Whether members may change; implies to see."),
    can_delete=Boolean(required=False, help_text="Whether members may delete; implies to change."),
)


def change_ruleset(request: ApiRequest, key: int) -> None:
    """Set what members of a group may do in one role. What a right implies is set with it."""
    request.host.groups.change_ruleset(key, request.data, by=request.caller)


ENDPOINTS: Final[tuple[Endpoint, ...]] = tuple(
    Resource(
        path="/api/user/ruleset/",
        name="rule set",
        tag="Users and groups",
        listing=RULESET_LIST,
        shape=RULESET,
        read="user",
        write="superuser",
        update=change_ruleset,
    ).endpoints
)
