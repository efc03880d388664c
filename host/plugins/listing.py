"""How plugins and their stored settings are listed."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import ColumnElement, and_, false, true

from host.plugins.records import PluginRecord
from host.plugins.setting_store import SETTING_TABLE
from host.storage.listing import Filter, Listing, by_boolean, by_text
from host.storage.tables import HostTable

_TABLE: Final = HostTable.metadata.tables[str(PluginRecord.__tablename__)]
_COLUMNS: Final = _TABLE.c
_MOST_MIXINS: Final = 100
"""Far more than there are families; a database has a limit for conditions."""


def _with_mixins(value: str) -> ColumnElement[bool]:
    names = sorted({name.strip().lower() for name in value.split(",") if name.strip()})
    if len(names) > _MOST_MIXINS or any(not name.replace("_", "").replace("-", "").isalnum() for name in names):
        return false()
    return and_(true(), *(_COLUMNS.mixin_keys.contains(f",{name},", autoescape=True) for name in names))


def _members(*names: str) -> dict[str, Any]:
    return {name: _COLUMNS[name] for name in names}


PLUGINS: Final = Listing(
    table=_TABLE,
    key=_COLUMNS.id,
    members={
        "pk": _COLUMNS.id,
        **_members(
            "key",
            "name",
            "package_name",
            "active",
            "meta",
            "mixins",
            "is_builtin",
            "is_sample",
            "is_installed",
            "is_package",
            "is_mandatory",
        ),
    },
    filters={
        "active": by_boolean(_COLUMNS.active),
        "builtin": by_boolean(_COLUMNS.is_builtin),
        "sample": by_boolean(_COLUMNS.is_sample),
        "mandatory": by_boolean(_COLUMNS.is_mandatory),
        "installed": by_boolean(_COLUMNS.is_installed),
        "mixin": Filter(kind="text", where=_with_mixins, help_text="Keys of families with commas; all must match."),
    },
    ordering=_members("key", "name", "active"),
    default_order=("-active", "name", "key"),
    search=(_COLUMNS.key, _COLUMNS.name),
)
"""The records of plugins."""

SETTINGS: Final = Listing(
    table=SETTING_TABLE,
    key=SETTING_TABLE.c.id,
    source=SETTING_TABLE.outerjoin(_TABLE, _COLUMNS.key == SETTING_TABLE.c.plugin_key),
    members={
        "pk": SETTING_TABLE.c.id,
        "plugin": SETTING_TABLE.c.plugin_key,
        "key": SETTING_TABLE.c.key,
        "value": SETTING_TABLE.c.value,
    },
    filters={"plugin__active": by_boolean(_COLUMNS.active), "plugin__key": by_text(SETTING_TABLE.c.plugin_key)},
    ordering={"plugin": SETTING_TABLE.c.plugin_key, "key": SETTING_TABLE.c.key},
    default_order=("plugin", "key"),
)
"""The stored settings of all plugins; values as they are stored, so they must be described before they are shown."""
