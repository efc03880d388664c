"""Show status sets, and manage the states that are added to them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Final

from starlette.responses import Response

from api.answers import Json
from api.choice_field import Choice
from api.endpoint import Endpoint
from api.fields import Boolean, Integer
from api.nested_fields import Nested, Object, Reference
from api.operations import Operation
from api.request import ApiRequest
from api.resources import Resource
from api.shapes import Shape
from api.text_fields import Text
from host.records.state_table import COLORS, STATE_LIST, TEXT_LENGTH
from host.storage.listing import Listing

_TAG: Final = "Status sets"
_PATH: Final = "/api/generic/status/"


@dataclass(frozen=True, kw_only=True)
class _SetName(Text):
    # Which there are only the host knows that is asked; `_States` tells it to OPTIONS, the service checks it.
    kind: ClassVar[str] = "choice"


STATE: Final = Shape(
    "StatusSetState",
    key=Integer(read_only=True),
    name=Text(read_only=True),
    label=Text(read_only=True),
    color=Choice(choices=[(color, color.title()) for color in COLORS], read_only=True),
    logical_key=Integer(read_only=True, always=False, help_text="Of custom states: the built-in key it counts as."),
    custom=Boolean(read_only=True, always=False, help_text="Of custom states: true."),
)
STATUS_SET: Final = Shape(
    "StatusSet",
    status_class=Text(read_only=True, help_text="Name of the set."),
    values=Object(read_only=True, values=Nested(shape=STATE), help_text="Name of a state and what it is."),
)
CUSTOM_STATE: Final = Shape(
    "CustomState",
    pk=Integer(read_only=True, label="ID"),
    key=Integer(label="Value", help_text="Numerical value that will be saved in the records of the model."),
    name=Text(max_length=TEXT_LENGTH, help_text="Name of the state: upper case, a valid identifier."),
    label=Text(max_length=TEXT_LENGTH, help_text="Label that people see."),
    color=Choice(
        choices=[(color, color.title()) for color in COLORS],
        default="secondary",
        help_text="Color that the state is shown in.",
    ),
    logical_key=Integer(help_text="Built-in state of the set that this state equals in business logic."),
    model=Reference(model="contenttype", api_url="/api/contenttype/", help_text="Model the state belongs to."),
    model_name=Text(read_only=True),
    reference_status=_SetName(max_length=TEXT_LENGTH, help_text=f"Name of the status set: one of GET {_PATH}."),
)


def list_sets(request: ApiRequest) -> Response:
    """Show every status set, by name, with the states that were added to it."""
    return Json(request.host.records.states.sets.all())


def show_set(request: ApiRequest) -> Response:
    """Show one status set by its exact name, with the states that were added to it."""
    return Json(request.host.records.states.sets.one(request.path_params["name"]))


def create_state(request: ApiRequest) -> int:
    """Add a state to a status set."""
    return request.host.records.states.create(request.data, by=request.caller)


def change_state(request: ApiRequest, key: int) -> None:
    """Change a state that was added."""
    request.host.records.states.change(key, request.data, by=request.caller)


def delete_state(request: ApiRequest, key: int) -> None:
    """Delete a state that was added."""
    request.host.records.states.delete(key, by=request.caller)


def _listing(request: ApiRequest) -> Listing:
    if name := request.query.get("reference_status"):
        request.host.records.states.sets.check_filter(name)
    return STATE_LIST


class _States(Endpoint):
    """An endpoint of custom states, which tells in OPTIONS which status sets there are."""

    def describe(self, request: ApiRequest) -> dict[str, Any]:
        """Return what OPTIONS answers to this caller."""
        described = super().describe(request)
        names = request.host.records.states.sets.names
        for members in described["actions"].values():
            if "reference_status" in members:
                members["reference_status"]["choices"] = [{"value": name, "display_name": name} for name in names]
        return described


_CUSTOM: Final = Resource(
    path=f"{_PATH}custom/",
    name="custom state",
    tag=_TAG,
    listing=STATE_LIST,
    shape=CUSTOM_STATE,
    read="user",
    write="staff",
    choose=_listing,
    create=create_state,
    update=change_state,
    delete=delete_state,
)
ENDPOINTS: Final[tuple[Endpoint, ...]] = (
    Endpoint(
        _PATH,
        name="Status sets",
        tag=_TAG,
        operations={
            "GET": Operation(
                id="status_set_list",
                summary="Show all status sets",
                access="user",
                handler=list_sets,
                answers={200: Object(values=Nested(shape=STATUS_SET))},
                writes=STATUS_SET,
            )
        },
    ),
    Endpoint(
        f"{_PATH}{{name}}/",
        name="Status set",
        tag=_TAG,
        operations={
            "GET": Operation(
                id="status_set_retrieve",
                summary="Show a status set",
                access="user",
                handler=show_set,
                answers={200: STATUS_SET},
                faults={400: "There is no such status set; the message names those that there are."},
                writes=STATUS_SET,
            )
        },
    ),
    *(
        _States(one.path, name=one.name, tag=one.tag, operations=one.operations, description=one.description)
        for one in _CUSTOM.endpoints
    ),
)
