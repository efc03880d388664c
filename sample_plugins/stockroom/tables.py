"""The stockroom's own tables.

``table_base`` keeps them apart from the tables of the host and of other plugins; begin their names with the plugin's
key all the same. The host makes missing tables and adds missing columns when the plugin is loaded, so let a column
that you add later be null, or give it ``sa_column_kwargs={"server_default": …}`` for the rows that exist.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlmodel import Field

from host import table_base

if TYPE_CHECKING:
    # A type checker cannot follow a base class that is made by a call.
    from sqlmodel import SQLModel as Base
else:
    Base = table_base()

GREATEST_ID = 2**31 - 1
"""The greatest number that an ``int`` column holds on every database."""

# The fields of each table stand in a class of their own, which is what a client may send to create a record.


class CategoryFields(Base):
    name: str = Field(min_length=1, max_length=100)
    description: str = Field(default="", max_length=250)
    parent_id: int | None = Field(default=None, le=GREATEST_ID, foreign_key="sample_stockroom_category.id")


class PartCategory(CategoryFields, table=True):
    """A tree of kinds of part."""

    __tablename__ = "sample_stockroom_category"

    id: int | None = Field(default=None, primary_key=True)


class LocationFields(Base):
    name: str = Field(min_length=1, max_length=100)
    description: str = Field(default="", max_length=250)
    parent_id: int | None = Field(default=None, le=GREATEST_ID, foreign_key="sample_stockroom_location.id")


class StockLocation(LocationFields, table=True):
    """A tree of places."""

    __tablename__ = "sample_stockroom_location"

    id: int | None = Field(default=None, primary_key=True)


class PartFields(Base):
    name: str = Field(min_length=1, max_length=100)
    description: str = Field(default="", max_length=250)
    category_id: int | None = Field(default=None, le=GREATEST_ID, foreign_key="sample_stockroom_category.id")


class Part(PartFields, table=True):
    """Something that can be in stock."""

    __tablename__ = "sample_stockroom_part"

    id: int | None = Field(default=None, primary_key=True)


class ItemFields(Base):
    part_id: int = Field(le=GREATEST_ID, foreign_key="sample_stockroom_part.id")
    location_id: int | None = Field(default=None, le=GREATEST_ID, foreign_key="sample_stockroom_location.id")
    quantity: int = Field(default=1, ge=0, le=GREATEST_ID)


class StockItem(ItemFields, table=True):
    """Some of one part, in one place."""

    __tablename__ = "sample_stockroom_item"

    id: int | None = Field(default=None, primary_key=True)


TABLES = (PartCategory, StockLocation, Part, StockItem)
