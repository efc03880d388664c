"""The tables of plugin settings."""

from __future__ import annotations

from sqlalchemy import Column, ForeignKey, UniqueConstraint
from sqlmodel import Field

from host.accounts.account import USERS
from host.settings.store import Scope
from host.settings.values import KEY_LENGTH, VALUE_LENGTH
from host.storage.tables import HostTable

_PLUGIN_KEY_LENGTH = 255


class PluginSettingRecord(HostTable, table=True):
    """A value of a plugin's setting."""

    __tablename__ = "plugin_setting"
    __table_args__ = (UniqueConstraint("plugin_key", "key"),)

    id: int | None = Field(default=None, primary_key=True)
    plugin_key: str = Field(max_length=_PLUGIN_KEY_LENGTH)
    key: str = Field(max_length=KEY_LENGTH)
    value: str = Field(max_length=VALUE_LENGTH)


class PluginUserSettingRecord(HostTable, table=True):
    """A user's value of a plugin's user setting."""

    __tablename__ = "plugin_user_setting"
    __table_args__ = (UniqueConstraint("plugin_key", "user_id", "key"),)

    id: int | None = Field(default=None, primary_key=True)
    plugin_key: str = Field(max_length=_PLUGIN_KEY_LENGTH)
    user_id: int = Field(sa_column=Column(ForeignKey(USERS.c.id, ondelete="CASCADE"), nullable=False, index=True))
    key: str = Field(max_length=KEY_LENGTH)
    value: str = Field(max_length=VALUE_LENGTH)


SETTING_TABLE = HostTable.metadata.tables["plugin_setting"]
USER_SETTING_TABLE = HostTable.metadata.tables["plugin_user_setting"]


def settings_of(plugin: str, user_id: int | None = None) -> Scope:
    """Return the scope of a plugin's settings, or of those that one user has of it."""
    if user_id is None:
        return Scope(SETTING_TABLE, (("plugin_key", plugin),))
    return Scope(USER_SETTING_TABLE, (("plugin_key", plugin), ("user_id", user_id)))


def all_of(plugin: str) -> tuple[Scope, Scope]:
    """Return the scopes of everything that is stored of a plugin's settings, those of all its users included."""
    return settings_of(plugin), Scope(USER_SETTING_TABLE, (("plugin_key", plugin),))
