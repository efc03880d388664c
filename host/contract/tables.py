"""The base class for a plugin's own tables."""

from __future__ import annotations

from sqlalchemy.orm import registry
from sqlmodel import SQLModel


def table_base() -> type[SQLModel]:
    """Return a base class for the tables of one plugin.

    Call it once in the module that defines the tables::

        Base = table_base()


        class Shelf(Base, table=True):
            __tablename__ = "stockroom_shelf"

    Each call gives a registry of its own, so that a plugin can be loaded afresh and two plugins cannot collide.
    Begin table names with the plugin's key.
    """
    own = registry()

    class PluginTable(SQLModel, registry=own):
        pass

    return PluginTable
