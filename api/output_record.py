"""What is shown of a data output: a file that was made for somebody, as exports are."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote, unquote

from api.choice_field import Choice
from api.fields import Boolean, Integer
from api.nested_fields import Json, Nested, Reference
from api.shapes import Shape
from api.text_fields import Text
from api.time_fields import Date
from api.user_detail import USER_DETAIL
from host.records.data_outputs import NAME_LENGTH, OutputType

_MEDIA: Final = "/media/"
_PLAIN: Final = re.compile(r"[\w.~/-]*", re.ASCII)


def media_address(path: str | None) -> str | None:
    """Return where a stored file can be read."""
    if path is None:
        return None
    # Most names need no quoting, and finding that out is much quicker.
    return f"{_MEDIA}{path if _PLAIN.fullmatch(path) else quote(path)}"


@dataclass(frozen=True, kw_only=True)
class MediaPath(Text):
    """The address of a file in the file store."""

    @property
    def encode(self) -> Callable[[Any], Any] | None:
        """Show where the file can be read."""
        return media_address

    def clean(self, value: Any, *, form: bool) -> str:
        """Read an address as it is shown, for bulk deletes."""
        path = unquote(super().clean(value, form=form).removeprefix(_MEDIA))
        return super().clean(path, form=form)


DATA_OUTPUT: Final = Shape(
    "DataOutput",
    pk=Integer(read_only=True, label="ID"),
    created=Date(read_only=True),
    user=Reference(model="user", api_url="/api/user/", read_only=True, null=True, help_text="For whom it was made."),
    user_detail=Nested(shape=USER_DETAIL, read_only=True, null=True),
    total=Integer(read_only=True, minimum=0, help_text="Steps in all."),
    progress=Integer(read_only=True, minimum=0, help_text="Steps that are done."),
    complete=Boolean(read_only=True, help_text="Whether the file is there."),
    output_type=Choice(choices=[(one.value, one.value.capitalize()) for one in OutputType], read_only=True, null=True),
    template_name=Text(read_only=True, null=True, max_length=NAME_LENGTH),
    plugin=Text(read_only=True, null=True, max_length=NAME_LENGTH, help_text="Key of the plugin that made it."),
    output=MediaPath(read_only=True, null=True, help_text="Path of the file, below this server's address."),
    errors=Json(read_only=True, null=True, help_text="`error` says why it cannot be made."),
)
