"""Settings of plugins, and those that each user has of them."""

from __future__ import annotations

from typing import Final

from starlette.responses import Response

from api.answers import Json
from api.lists import Members
from api.nested_fields import Reference
from api.plugins import PLUGINS_PATH, TAG
from api.request import ApiRequest
from api.resources import Resource
from api.setting_endpoints import SETTING, SettingKind
from host.plugins.listing import SETTINGS

_PLUGIN: Final = f"{PLUGINS_PATH}{{plugin}}/"
_MISSING: Final = "No active plugin has this key, or it has no such setting."

USER_SETTING: Final = SETTING.but(
    "PluginUserSetting", "read_only", user=Reference(model="user", api_url="/api/user/", read_only=True)
)


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


ENDPOINTS: Final = (
    *STORED.endpoints,
    *SettingKind(
        path=f"{_PLUGIN}settings/",
        word="settings",
        of=" of a plugin",
        tag=TAG,
        shape=SETTING,
        write="staff",
        missing=_MISSING,
    ).endpoints(list_settings, show_setting, write_setting),
    *SettingKind(
        path=f"{_PLUGIN}user-settings/",
        word="user settings",
        of=" of a plugin",
        tag=TAG,
        shape=USER_SETTING,
        write="user",
        missing=_MISSING,
    ).endpoints(list_own, show_own, write_own),
)
