"""Show users and groups as what records can belong to."""

from __future__ import annotations

from typing import Final

from api.choice_field import Choice
from api.endpoint import Endpoint
from api.fields import Integer
from api.resources import Resource
from api.shapes import Shape
from api.text_fields import Text
from host.accounts.listing import OWNERS

OWNER: Final = Shape(
    "Owner",
    pk=Integer(read_only=True, label="ID"),
    owner_id=Integer(read_only=True, help_text="Key of the user or group."),
    owner_model=Choice(read_only=True, choices=[("user", "User"), ("group", "Group")]),
    name=Text(read_only=True),
    label=Text(read_only=True, help_text="Name, and for users also the full name."),
)

ENDPOINTS: Final[tuple[Endpoint, ...]] = tuple(
    Resource(
        path="/api/user/owner/", name="owner", tag="Users and groups", listing=OWNERS, shape=OWNER, read="user"
    ).endpoints
)
