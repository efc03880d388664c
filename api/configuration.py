"""The configuration: which settings there are, where each came from and when it was last looked up."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Final

from starlette.responses import Response

from api.answers import Json
from api.choice_field import Choice
from api.endpoint import Endpoint
from api.nested_fields import ListOf, Nested
from api.operations import Operation
from api.request import ApiRequest
from api.shapes import Shape
from api.text_fields import Text
from api.time_fields import DateTime, iso_local
from host.errors import NotFoundError

_TAG: Final = "Server"
_SHOWN: Final = 100

CONFIG: Final = Shape(
    "Config",
    key=Text(read_only=True),
    env_var=Text(read_only=True, null=True),
    config_key=Text(read_only=True, null=True, help_text="Name in the configuration file."),
    source=Choice(choices=[(name, name) for name in ("env", "toml", "default")], read_only=True),
    accessed=DateTime(read_only=True, style="iso-local", help_text="When the server last looked it up."),
)


def list_config(request: ApiRequest) -> Response:
    """List every configuration value by its name and source. Values are never shown."""
    return Json([_shown(entry) for entry in request.host.config.entries()])


def show_config(request: ApiRequest) -> Response:
    """Show where one configuration value comes from, by its variable or its name in the file."""
    wanted: str = request.path_params["key"]
    for entry in request.host.config.entries():
        if wanted in {entry.key, entry.config_key}:
            return Json(_shown(entry))
    raise NotFoundError(f"There is no configuration value '{wanted[:_SHOWN]}'. GET /api/admin/config/ lists them all.")


def _shown(entry: Any) -> dict[str, Any]:
    return asdict(entry) | {"accessed": iso_local(entry.accessed)}


ENDPOINTS: Final = (
    Endpoint(
        "/api/admin/config/",
        name="Configuration",
        tag=_TAG,
        operations={
            "GET": Operation(
                id="config_list",
                summary="List configuration values",
                access="superuser",
                handler=list_config,
                answers={200: ListOf(item=Nested(shape=CONFIG))},
                writes=CONFIG,
            )
        },
    ),
    Endpoint(
        "/api/admin/config/{key}/",
        name="Configuration value",
        tag=_TAG,
        operations={
            "GET": Operation(
                id="config_retrieve",
                summary="Show a configuration value's source",
                access="superuser",
                handler=show_config,
                answers={200: CONFIG},
                faults={404: "There is no such configuration value."},
                writes=CONFIG,
            )
        },
    ),
)
