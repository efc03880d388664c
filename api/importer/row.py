"""Show, edit and delete the rows of files that are imported."""

from __future__ import annotations

from typing import Any, Final

from starlette.responses import Response

from api.endpoint import Endpoint
from api.fields import Boolean, Integer
from api.importer.models import TAG
from api.nested_fields import Json, Object, Reference
from api.operations import Operation
from api.request import ApiRequest
from api.resources import Resource
from api.shapes import Shape
from host.importing.listings import ROW_LIST
from host.storage.listing import Choice

ROW: Final = Shape(
    "DataImportRow",
    pk=Integer(read_only=True, label="ID"),
    session=Reference(model="dataimportsession", api_url="/api/importer/session/", read_only=True),
    row_index=Integer(read_only=True, minimum=0, help_text="Lines below the header, from 0; blank ones count."),
    row_data=Object(read_only=True, help_text="The line as text, by its columns."),
    data=Object(help_text="The values, by fields. They are replaced all at once, and checked again."),
    errors=Json(read_only=True, null=True, help_text="What is wrong, by fields; null where nothing is."),
    valid=Boolean(read_only=True, help_text="Whether the row can become a record."),
    complete=Boolean(read_only=True, help_text="Whether the row has become a record."),
)


def change_row(request: ApiRequest) -> Response:
    """Give a row other values. All of them are replaced and checked again."""
    key = RESOURCE.key_of(request)
    if "data" in request.data:
        request.host.records.importing.rows.change(key, request.data["data"], by=request.caller)
    return RESOURCE.answer_one(request, key)


def delete_row(request: ApiRequest, key: int) -> None:
    """Delete a row. The import is complete when none is open any more."""
    request.host.records.importing.rows.delete(key, by=request.caller)


def delete_rows(request: ApiRequest, choice: Choice) -> int:
    """Delete rows. An import is complete when none of its rows is open any more."""
    return request.host.records.importing.rows.delete_many(choice, by=request.caller)


_CHANGES: Final[dict[str, Any]] = {
    "access": "user",
    "handler": change_row,
    "body": ROW,
    "answers": {200: ROW},
    "faults": {
        400: "Members of the body are refused.",
        404: "There is no such row, or the caller may not see it.",
    },
    "calls_plugins": True,
}

RESOURCE: Final = Resource(
    path="/api/importer/row/",
    name="import row",
    tag=TAG,
    listing=ROW_LIST,
    shape=ROW,
    read="user",
    write="user",
    delete=delete_row,
    bulk_delete=delete_rows,
    detail_operations={
        "PATCH": Operation(id="import_row_partial_update", summary="Change an import row", partial=True, **_CHANGES),
        "PUT": Operation(id="import_row_update", summary="Replace an import row", **_CHANGES),
    },
)

ENDPOINTS: Final[tuple[Endpoint, ...]] = tuple(RESOURCE.endpoints)
