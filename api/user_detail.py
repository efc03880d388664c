"""What other records show of the account that they belong to."""

from __future__ import annotations

from typing import Final

from api.fields import Integer
from api.shapes import Shape
from api.text_fields import Email, Text

USER_DETAIL: Final = Shape(
    "UserDetail",
    pk=Integer(read_only=True),
    username=Text(read_only=True),
    first_name=Text(read_only=True),
    last_name=Text(read_only=True),
    email=Email(read_only=True, blank=True),
)
