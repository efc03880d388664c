"""Global settings, and those that each user has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from starlette.responses import Response

from api.answers import Json
from api.nested_fields import Reference
from api.pages import envelope, read_page
from api.request import ApiRequest
from api.setting_endpoints import SETTING, SettingKind

_TAG: Final = "Settings"
_MISSING: Final = "There is no setting of this key."

GLOBAL_SETTING: Final = SETTING.but("GlobalSetting", "plugin")
USER_SETTING: Final = SETTING.but(
    "UserSetting", "plugin", "read_only", user=Reference(model="user", api_url="/api/user/", read_only=True)
)


def list_global(request: ApiRequest) -> Response:
    """List the global settings, in the order of their definition."""
    return _page(request, request.host.global_settings.list())


def show_global(request: ApiRequest) -> Response:
    """Show one global setting."""
    return Json(request.host.global_settings.get(request.path_params["key"]))


def write_global(request: ApiRequest) -> Response:
    """Store the value of one global setting. It acts at once, in every process of the host."""
    settings, key, data = request.host.global_settings, request.path_params["key"], request.data
    if "value" not in data:
        return Json(settings.get(key))
    confirmed = data.get("manual_confirm", False)
    return Json(settings.write(key, data["value"], manual_confirm=confirmed, by=request.user))


def list_own(request: ApiRequest) -> Response:
    """List the own settings, in the order of their definition."""
    return _page(request, request.host.user_settings.list(request.caller))


def show_own(request: ApiRequest) -> Response:
    """Show one own setting."""
    return Json(request.host.user_settings.get(request.path_params["key"], request.caller))


def write_own(request: ApiRequest) -> Response:
    """Store the value of one own setting."""
    settings, key, data = request.host.user_settings, request.path_params["key"], request.data
    if "value" not in data:
        return Json(settings.get(key, request.caller))
    confirmed = data.get("manual_confirm", False)
    return Json(settings.write(key, data["value"], request.caller, manual_confirm=confirmed))


def _page(request: ApiRequest, settings: Sequence[Mapping[str, Any]]) -> Response:
    limit, offset = read_page(request)
    if limit is None:
        return Json(settings)
    return Json(envelope(request, settings[offset : offset + limit], len(settings), limit, offset))


ENDPOINTS: Final = (
    *SettingKind(
        path="/api/settings/global/",
        word="global settings",
        tag=_TAG,
        shape=GLOBAL_SETTING,
        write="staff",
        missing=_MISSING,
        paged=True,
    ).endpoints(list_global, show_global, write_global),
    *SettingKind(
        path="/api/settings/user/",
        word="user settings",
        tag=_TAG,
        shape=USER_SETTING,
        write="user",
        missing=_MISSING,
        paged=True,
    ).endpoints(list_own, show_own, write_own),
)
