"""Sample: a small stockroom with tables of its own, which uses most of what plugins can do."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from sqlmodel import Session, SQLModel
from starlette.routing import BaseRoute

from host import ActionResult, ImportTarget, Json, LocateResult, ModelType, Panel, Plugin, UIContext, User, hookimpl
from sample_plugins.stockroom.collection import Collection
from sample_plugins.stockroom.imports import targets
from sample_plugins.stockroom.tables import (
    GREATEST_ID,
    TABLES,
    CategoryFields,
    ItemFields,
    LocationFields,
    Part,
    PartCategory,
    PartFields,
    StockItem,
    StockLocation,
)

PATH = "/plugin/sample-stockroom"

_Record = TypeVar("_Record", bound=SQLModel)


class Stockroom(Plugin):
    """Parts, places, and what lies where."""

    title = "Sample: stockroom"
    description = "Parts and stock items in tables of the plugin's own"

    @hookimpl
    def models(self) -> Sequence[type[SQLModel]]:
        return TABLES

    @hookimpl
    def model_types(self) -> Sequence[ModelType]:
        # A name can be taken once. `part` and `stockitem` are in the vocabulary that every host has, and attachments
        # that name them fit this plugin's records as well; these two are new.
        return [
            ModelType(
                name="partcategory",
                label="Part Category",
                role="part_category",
                api_url=f"{PATH}/categories/",
                exists=self._existence_of(PartCategory),
            ),
            ModelType(
                name="stocklocation",
                label="Stock Location",
                role="stock_location",
                api_url=f"{PATH}/locations/",
                exists=self._existence_of(StockLocation),
            ),
        ]

    @hookimpl
    def import_targets(self) -> Sequence[ImportTarget]:
        return targets(self.session)

    @hookimpl
    def routes(self) -> Sequence[BaseRoute]:
        return [
            *Collection(PartCategory, CategoryFields, self.session).routes("/categories/"),
            *Collection(StockLocation, LocationFields, self.session).routes("/locations/"),
            *Collection(Part, PartFields, self.session).routes("/parts/"),
            *Collection(StockItem, ItemFields, self.session).routes("/items/"),
        ]

    @hookimpl
    def action_names(self) -> Sequence[str]:
        return ["stockroom.move"]

    @hookimpl
    def perform_action(self, action: str, data: Json, user: User) -> ActionResult | None:
        """Move an item: ``{"item": 1, "location": 2}``."""
        moved = data if isinstance(data, Mapping) else {}
        item_id, location_id = moved.get("item"), moved.get("location")
        if type(item_id) is not int or type(location_id) is not int:
            return ActionResult(result=False, info='Send {"item": <id>, "location": <id>}.')
        with self.session() as session:
            item = _get(session, StockItem, item_id)
            if item is None or _get(session, StockLocation, location_id) is None:
                return ActionResult(result=False, info=f"There is no item {item_id} or no location {location_id}.")
            before, item.location_id = item.location_id, location_id
            session.add(item)
        # After the block, so after the commit: nobody hears of what was rolled back.
        self.emit("item.moved", {"item": item_id, "from": before, "to": location_id}, user_id=user.id)
        return ActionResult(result=True, info={"action": action, "from": before, "to": location_id})

    @hookimpl
    def locate_item(self, item_id: int, user: User) -> LocateResult | None:
        with self.session() as session:
            item = _get(session, StockItem, item_id)
            if item is None:
                return None
            part = _get(session, Part, item.part_id)
            place = None if item.location_id is None else _get(session, StockLocation, item.location_id)
            where = "nowhere" if place is None else f"at {place.name}"
            message = f"{user.username}: {'it' if part is None else part.name} is {where}"
        return LocateResult(message=message)

    @hookimpl
    def locate_location(self, location_id: int, user: User) -> LocateResult | None:
        with self.session() as session:
            place = _get(session, StockLocation, location_id)
            if place is None:
                return None
            return LocateResult(message=f"{user.username}: follow the signs to {place.name}")

    @hookimpl
    def ui_panels(self, context: UIContext) -> Sequence[Panel]:
        if context.query.get("target_model") != "stocklocation":
            return []
        target = context.query.get("target_id", "")
        panel = {"items": f"{PATH}/items/", "location": target}
        return [Panel(key="stockroom-items", title="What lies here", source="panel.js", context=panel)]

    def _existence_of(self, table: type[SQLModel]) -> Callable[[int], bool]:
        def exists(id: int) -> bool:
            with self.session() as session:
                return _get(session, table, id) is not None

        return exists


def _get(session: Session, table: type[_Record], id: int) -> _Record | None:
    # A client may send any number; one that no column holds would be an error of the database.
    return session.get(table, id) if 0 < id <= GREATEST_ID else None
