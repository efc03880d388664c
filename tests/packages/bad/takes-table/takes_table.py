"""Has a table that the host has."""

from __future__ import annotations

from collections.abc import Sequence

from sqlmodel import Field, SQLModel

from host import Plugin, hookimpl, table_base


class Mine(table_base(), table=True):
    __tablename__ = "plugin_config"

    id: int | None = Field(default=None, primary_key=True)
    mine: str = ""


class Wrong(Plugin):
    @hookimpl
    def models(self) -> Sequence[type[SQLModel]]:
        return [Mine]
