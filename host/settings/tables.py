"""The tables of global settings and of users' settings."""

from __future__ import annotations

from typing import Final

from sqlalchemy import UniqueConstraint
from sqlmodel import Field

from host.settings.store import Scope
from host.settings.values import KEY_LENGTH, VALUE_LENGTH
from host.storage.tables import HostTable


class SettingRecord(HostTable, table=True):
    """A value of a global setting."""

    __tablename__ = "setting"

    id: int | None = Field(default=None, primary_key=True)
    key: str = Field(max_length=KEY_LENGTH, unique=True)
    value: str = Field(max_length=VALUE_LENGTH)


class UserSettingRecord(HostTable, table=True):
    """A user's value of a setting that each user has."""

    __tablename__ = "user_setting"
    __table_args__ = (UniqueConstraint("user_id", "key"),)

    id: int | None = Field(default=None, primary_key=True)
    user_id: int = Field(foreign_key="account_user.id", ondelete="CASCADE")
    key: str = Field(max_length=KEY_LENGTH)
    value: str = Field(max_length=VALUE_LENGTH)


GLOBAL: Final = Scope(HostTable.metadata.tables["setting"])
"""The settings of the whole host."""

_OF_USERS: Final = HostTable.metadata.tables["user_setting"]


def of_user(user_id: int) -> Scope:
    """Return the scope of one user's settings."""
    return Scope(_OF_USERS, (("user_id", user_id),))
