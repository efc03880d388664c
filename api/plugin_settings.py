"""Settings of plugins, and those that each user has of them."""

from __future__ import annotations

from typing import Final

from starlette.responses import Response

from api.answers import Json
from api.endpoint import Endpoint
from api.fields import Boolean, Integer
from api.lists import Members
from api.nested_fields import Json as JsonField
from api.nested_fields import ListOf, Nested, Object
from api.operations import Handler, Operation
from api.plugins import PLUGINS_PATH, TAG
from api.request import ApiRequest
from api.resources import Resource
from api.shapes import Shape
from api.text_fields import Text
from host.contract.values import Access
from host.plugins.listing import SETTINGS

_PLUGIN: Final = f"{PLUGINS_PATH}{{plugin}}/"
_MISSING: Final = {404: "No active plugin has this key, or it has no such setting."}

SETTING: Final = Shape(
    "PluginSetting",
    pk=Integer(read_only=True, null=True, help_text="Null until it is stored."),
    key=Text(read_only=True),
    value=JsonField(null=True, help_text="Boolean or number for settings of that type, else text."),
    name=Text(read_only=True),
    description=Text(read_only=True),
    type=Text(read_only=True),
    units=Text(read_only=True),
    required=Boolean(read_only=True),
    choices=ListOf(item=Object(), read_only=True, help_text="Objects of `value` and `display_name`."),
    model_name=Text(read_only=True, null=True),
    model_filters=Object(read_only=True, null=True),
    api_url=Text(read_only=True, null=True),
    confirm=Boolean(read_only=True),
    confirm_text=Text(read_only=True),
    typ=Text(read_only=True),
    plugin=Text(read_only=True),
    read_only=Boolean(read_only=True, help_text="Fixed by the server's configuration; writing has no effect."),
    manual_confirm=JsonField(required=False, write_only=True, help_text="True changes what asks for confirmation."),
)
USER_SETTING: Final = SETTING.but("PluginUserSetting", "read_only", user=Integer(read_only=True))


def _names(request: ApiRequest) -> tuple[str, str]:
    return request.path_params["plugin"], request.path_params["key"]


def list_settings(request: ApiRequest) -> Response:
    """List the settings of an active plugin, in the order of their definition."""
    return Json(request.host.plugin_settings.list(request.path_params["plugin"]))


def show_setting(request: ApiRequest) -> Response:
    """Show one setting of an active plugin. A protected value is never shown."""
    return Json(request.host.plugin_settings.get(*_names(request)))


def write_setting(request: ApiRequest) -> Response:
    """Store the value of one setting of an active plugin."""
    settings, data = request.host.plugin_settings, request.data
    if "value" not in data:
        return Json(settings.get(*_names(request)))
    confirmed = data.get("manual_confirm", False)
    return Json(settings.write(*_names(request), data["value"], manual_confirm=confirmed, by=request.user))


def list_own(request: ApiRequest) -> Response:
    """List the own settings of an active plugin, in the order of their definition."""
    return Json(request.host.plugin_settings.list_for_user(request.path_params["plugin"], request.caller))


def show_own(request: ApiRequest) -> Response:
    """Show one own setting of an active plugin."""
    return Json(request.host.plugin_settings.get_for_user(*_names(request), request.caller))


def write_own(request: ApiRequest) -> Response:
    """Store the value of one own setting of an active plugin."""
    settings, data = request.host.plugin_settings, request.data
    if "value" not in data:
        return Json(settings.get_for_user(*_names(request), request.caller))
    confirmed = data.get("manual_confirm", False)
    return Json(settings.write_for_user(*_names(request), data["value"], request.caller, manual_confirm=confirmed))


def _describe(request: ApiRequest, found: Members) -> None:
    settings = request.host.plugin_settings
    for record in found:
        described = settings.describe_stored(record["plugin"], record["key"], record["pk"], record["value"])
        record.clear()
        record.update(described)


STORED: Final = Resource(
    path=f"{PLUGINS_PATH}settings/",
    name="stored plugin setting",
    tag=TAG,
    listing=SETTINGS,
    shape=SETTING,
    read="staff",
    details=False,
    finish=_describe,
)


def _settings(name: str, shape: Shape, write: Access, handlers: tuple[Handler, Handler, Handler]) -> list[Endpoint]:
    listed, shown, written = handlers
    word = name.replace("-", " ")
    identifier = f"plugin_{name.replace('-', '_')}"
    reading = {"access": "user", "calls_plugins": True, "replays": True, "faults": _MISSING, "writes": shape}
    writing = {
        "access": write,
        "calls_plugins": True,
        "handler": written,
        "body": shape,
        "answers": {200: shape},
        "faults": _MISSING | {400: "The value was refused, or the change must be confirmed."},
    }
    return [
        Endpoint(
            f"{_PLUGIN}{name}/",
            name=f"Plugin {word}",
            tag=TAG,
            operations={
                "GET": Operation(
                    id=f"{identifier}_list",
                    summary=f"List the {word} of a plugin",
                    handler=listed,
                    answers={200: ListOf(item=Nested(shape=shape))},
                    **reading,  # type: ignore[arg-type]
                )
            },
        ),
        Endpoint(
            f"{_PLUGIN}{name}/{{key}}/",
            name=f"Plugin {word.removesuffix('s')}",
            tag=TAG,
            operations={
                "GET": Operation(
                    id=f"{identifier}_retrieve",
                    summary=f"Show one of the {word} of a plugin",
                    handler=shown,
                    answers={200: shape},
                    **reading,  # type: ignore[arg-type]
                ),
                "PATCH": Operation(
                    id=f"{identifier}_partial_update",
                    summary=f"Change one of the {word} of a plugin",
                    partial=True,
                    **writing,  # type: ignore[arg-type]
                ),
                "PUT": Operation(
                    id=f"{identifier}_update",
                    summary=f"Set one of the {word} of a plugin",
                    **writing,  # type: ignore[arg-type]
                ),
            },
        ),
    ]


ENDPOINTS: Final = (
    *STORED.endpoints,
    *_settings("settings", SETTING, "staff", (list_settings, show_setting, write_setting)),
    *_settings("user-settings", USER_SETTING, "user", (list_own, show_own, write_own)),
)
