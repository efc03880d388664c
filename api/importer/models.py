"""Show what can be imported."""

from __future__ import annotations

from typing import Final

from starlette.responses import Response

from api.answers import Json
from api.endpoint import Endpoint
from api.nested_fields import ListOf, Nested
from api.operations import Operation
from api.request import ApiRequest
from api.shapes import Shape
from api.text_fields import Text

TAG: Final = "Data import"
MODEL: Final = Shape(
    "DataImportModel",
    serializer=Text(read_only=True, help_text="Name of the kind of record."),
    model_type=Text(read_only=True, help_text="What `model_type` of a session can be."),
    api_url=Text(read_only=True, null=True, help_text="Where the records are."),
)


def list_models(request: ApiRequest) -> Response:
    """Show every kind of record that files can be imported into at present."""
    return Json(request.host.records.importing.targets.models())


ENDPOINTS: Final[tuple[Endpoint, ...]] = (
    Endpoint(
        "/api/importer/models/",
        name="Import models",
        tag=TAG,
        operations={
            "GET": Operation(
                id="import_model_list",
                summary="List what can be imported",
                access="user",
                handler=list_models,
                answers={200: ListOf(item=Nested(shape=MODEL))},
                writes=MODEL,
            )
        },
    ),
)
