"""Metadata of plugins."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from api.metadata import Carrier
from api.plugins import PLUGINS_PATH
from api.request import ApiRequest
from host.plugins.listing import PLUGINS
from host.storage.listing import Query

_MODEL: Final = "pluginconfig"


def _may_change(request: ApiRequest) -> bool:
    return request.caller.is_superuser or request.host.rights.may(request.caller, _MODEL, "change")


def _read(request: ApiRequest, key: str) -> Mapping[str, Any]:
    return request.host.plugins.metadata(key)


def _write(request: ApiRequest, key: str, data: Mapping[str, Any], merge: bool) -> Mapping[str, Any]:  # noqa: FBT001
    return request.host.plugins.set_metadata(key, data, merge=merge)


def _key_of(request: ApiRequest, pk: int) -> str:
    row = request.context.rows.one(PLUGINS, "pk", pk, Query(user=request.user))
    return str(row.key)


def _read_by_pk(request: ApiRequest, pk: int) -> Mapping[str, Any]:
    return _read(request, _key_of(request, pk))


def _write_by_pk(request: ApiRequest, pk: int, data: Mapping[str, Any], merge: bool) -> Mapping[str, Any]:  # noqa: FBT001
    return _write(request, _key_of(request, pk), data, merge)


CARRIER: Final = Carrier(
    model=_MODEL,
    access="user",
    right=_may_change,
    lookups={"pk": ("int", _read_by_pk, _write_by_pk), "key": ("str", _read, _write)},
    aliases=((f"{PLUGINS_PATH}{{value}}/metadata/", "key"),),
)

ENDPOINTS: Final = tuple(CARRIER.endpoints())
