"""Actions and locating: what clients ask of plugins by name."""

from __future__ import annotations

from typing import Final

from starlette.responses import Response

from api.answers import Json, Refusal
from api.endpoint import Endpoint
from api.fields import FieldError
from api.nested_fields import Json as JsonField
from api.nested_fields import check_json, structure_or_text
from api.operations import Operation
from api.request import ApiRequest
from api.shapes import Shape
from api.text_fields import Text
from host.errors import NotFoundError

_TAG = "Actions"

ACTION: Final = Shape(
    "Action",
    action=Text(help_text="Name of the action."),
    data=JsonField(required=False, null=True, help_text="Handed to the plugin as it is.", always=False),
    result=JsonField(read_only=True, always=False),
    info=JsonField(read_only=True, always=False),
)
ACTION_FAULT: Final = Shape(
    "ActionError", error=Text(read_only=True, always=False), action=JsonField(read_only=True, always=False)
)
_TARGET = "Id of the stock {} to identify."
LOCATE: Final = Shape(
    "Locate",
    plugin=Text(help_text="Key of the plugin that identifies."),
    item=JsonField(required=False, null=True, help_text=_TARGET.format("item"), always=False),
    location=JsonField(required=False, null=True, help_text=_TARGET.format("location"), always=False),
    success=Text(read_only=True),
)


def perform_action(request: ApiRequest) -> Response:
    """Let the first active plugin of that name perform an action.

    The answer is what the plugin says; by default `action`, `result` and `info`.
    """
    name, data = request.sent.get("action"), request.sent.get("data")
    if request.is_form:
        data = structure_or_text(data)
    if name is None:
        return Json({"error": "Name the 'action' to perform."}, 400)
    try:
        check_json(name, nulls=True)
    except FieldError as error:
        return Json({"error": f"'action' cannot be used: {error}"}, 400)
    try:
        check_json(data, nulls=True)
    except FieldError as error:
        return Json({"error": f"'data' cannot be used: {error}", "action": name}, 400)
    try:
        return Json(request.host.actions.perform(name, data, request.caller).body)
    except NotFoundError as error:
        return Json({"error": str(error), "action": name}, 404)


def locate(request: ApiRequest) -> Response:
    """Let a plugin show where a stock item or a stock location is; with both, the item counts."""
    sent = request.sent
    for member in ("plugin", "item", "location"):
        try:
            check_json(sent.get(member), nulls=True)
        except FieldError as error:
            raise Refusal(400, f"'{member}' cannot be used: {error}") from None
    outcome = request.host.locate.locate(sent.get("plugin"), sent.get("item"), sent.get("location"), request.caller)
    return Json(outcome.body)


ENDPOINTS: Final = (
    Endpoint(
        "/api/action/",
        name="Plugin action",
        tag=_TAG,
        operations={
            "POST": Operation(
                id="action",
                summary="Perform a plugin's action",
                access="user",
                handler=perform_action,
                takes=ACTION,
                calls_plugins=True,
                replays=True,
                answers={200: JsonField(help_text="What the plugin answered.")},
                faults={400: "No action is named.", 404: "No active plugin performs it."},
                fault_shapes={404: ACTION_FAULT},
            )
        },
    ),
    Endpoint(
        "/api/locate/",
        name="Locate",
        tag=_TAG,
        operations={
            "POST": Operation(
                id="locate",
                summary="Show where an item or location is",
                access="user",
                handler=locate,
                takes=LOCATE,
                calls_plugins=True,
                replays=True,
                answers={200: LOCATE},
                faults={
                    400: "The plugin is not named, cannot locate or failed, or nothing is named to locate.",
                    404: "The plugin has no such item or location.",
                },
            )
        },
    ),
)
