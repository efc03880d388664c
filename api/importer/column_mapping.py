"""Show and choose from which columns of a file the fields are taken."""

from __future__ import annotations

from typing import Final

from api.endpoint import Endpoint
from api.fields import Integer
from api.importer.models import TAG
from api.nested_fields import Reference
from api.request import ApiRequest
from api.resources import Resource
from api.shapes import Shape
from api.text_fields import Text
from host.importing.listings import MAP_LIST
from host.importing.tables import COLUMN_LENGTH

_LOOKUP_LENGTH: Final = 100

COLUMN_MAPPING: Final = Shape(
    "DataImportColumnMap",
    pk=Integer(read_only=True, label="ID"),
    session=Reference(model="dataimportsession", api_url="/api/importer/session/", read_only=True),
    column=Text(
        blank=True, max_length=COLUMN_LENGTH, help_text="Column of the file; blank where the field is taken from none."
    ),
    field=Text(read_only=True, help_text="Name of the field."),
    label=Text(read_only=True, help_text="What people call the field."),
    description=Text(read_only=True, help_text="What the field is about."),
    lookup_field=Text(
        required=False,
        null=True,
        blank=True,
        max_length=_LOOKUP_LENGTH,
        help_text="Of fields that refer to other records: by which of their fields these are found; null tries all.",
    ),
)


def change_mapping(request: ApiRequest, key: int) -> None:
    """Choose the column of a field; it counts when the mapping is accepted the next time."""
    request.host.records.importing.columns.change(key, request.data, by=request.caller)


ENDPOINTS: Final[tuple[Endpoint, ...]] = tuple(
    Resource(
        path="/api/importer/column-mapping/",
        name="column mapping",
        tag=TAG,
        listing=MAP_LIST,
        shape=COLUMN_MAPPING,
        read="user",
        write="user",
        update=change_mapping,
    ).endpoints
)
