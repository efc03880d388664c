"""Show content types: the numbers of all kinds of record."""

from __future__ import annotations

from typing import Any, Final

from starlette.responses import Response

from api.answers import Json
from api.endpoint import Endpoint
from api.fields import Boolean, Integer
from api.lists import Encoder
from api.operations import Operation
from api.request import ApiRequest
from api.resources import Resource
from api.shapes import Shape
from api.text_fields import Text
from host.records.content_types import CONTENT_TYPE_LIST
from host.storage.listing import Query

_TAG: Final = "Content types"
_MISSING: Final = {404: "There is no such content type, or its plugin is not active."}

CONTENT_TYPE: Final = Shape(
    "ContentType",
    pk=Integer(read_only=True, label="ID"),
    app_label=Text(read_only=True),
    model=Text(read_only=True, help_text="Name of the kind of record, in lower case."),
    app_labeled_name=Text(read_only=True),
    is_plugin=Boolean(read_only=True, help_text="Whether a plugin package brings it."),
)
_ENCODER: Final = Encoder(CONTENT_TYPE_LIST, CONTENT_TYPE)


def show_content_type(request: ApiRequest) -> Response:
    """Show the content type with a number."""
    return _one(request, "pk", request.path_params["id"])


def find_content_type(request: ApiRequest) -> Response:
    """Show the content type of a model, by its exact name."""
    return _one(request, "model", request.path_params["model"])


def _one(request: ApiRequest, member: str, value: Any) -> Response:
    listing = request.host.records.content_types.listing
    row = request.context.rows.one(listing, member, value, Query(user=request.user))
    return Json(_ENCODER([row])[0])


def _showing(verb: str, handler: Any, summary: str) -> dict[str, Operation]:
    return {
        "GET": Operation(
            id=f"content_type_{verb}",
            summary=summary,
            access="user",
            handler=handler,
            answers={200: CONTENT_TYPE},
            faults=_MISSING,
            writes=CONTENT_TYPE,
        )
    }


ENDPOINTS: Final[tuple[Endpoint, ...]] = (
    *Resource(
        path="/api/contenttype/",
        name="content type",
        tag=_TAG,
        listing=CONTENT_TYPE_LIST,
        shape=CONTENT_TYPE,
        read="user",
        choose=lambda request: request.host.records.content_types.listing,
        detail_operations=_showing("retrieve", show_content_type, "Show a content type"),
    ).endpoints,
    Endpoint(
        "/api/contenttype/model/{model}/",
        name="Content type of a model",
        tag=_TAG,
        operations=_showing("of_model", find_content_type, "Show the content type of a model"),
    ),
)
