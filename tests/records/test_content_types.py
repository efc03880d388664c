"""Content types: numbers that mean the same for good."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import event
from sqlmodel import Field

from host.contract.models import ModelType
from host.contract.tables import table_base
from host.records.content_types import ContentTypes
from host.storage.engine import Database
from host.storage.listing import Query
from host.storage.rows import Rows
from tests.records.registries import FixedRegistry, loaded, registry_of

PARTS = loaded("inventory", model_types=[ModelType(name="part", label="Part", app_label="part")], is_builtin=True)
SHELVES = loaded("shelf-room", model_types=[ModelType(name="shelf", label="Shelf")])


def shown(database: Database, types: ContentTypes) -> dict[str, Any]:
    """Return what a list would show, by model."""
    rows, _ = Rows(database).page(types.listing, Query())
    return {row.model: row for row in rows}


def test_a_plugin_that_comes_back_finds_its_numbers(database: Database):
    """Without its plugin a content type is not shown; its number is never given to another one."""
    registries = FixedRegistry(registry_of(PARTS, SHELVES))
    types = ContentTypes(database, registries)
    before = shown(database, types)
    lamp = loaded("lamp", model_types=[ModelType(name="bulb", label="Bulb")])

    registries.current = registry_of(PARTS, lamp)
    meanwhile = shown(database, types)
    registries.current = registry_of(PARTS, lamp, SHELVES)
    after = shown(database, types)

    assert "shelf" not in meanwhile
    assert after["shelf"] == before["shelf"]
    assert after["part"].id == meanwhile["part"].id == before["part"].id
    assert len({row.id for row in after.values()}) == len(after)
    assert meanwhile["bulb"].id not in {row.id for row in before.values()}


def test_what_is_shown_of_a_kind(database: Database):
    """Labels are those of app and model; only what a plugin package brings counts as a plugin's."""
    base = table_base()

    class StockItem(base, table=True):  # type: ignore[valid-type, misc, call-arg]
        __tablename__ = "Shelf_Stock"
        id: int | None = Field(default=None, primary_key=True)

    room = loaded("shelf-room", model_types=SHELVES.model_types, models=[StockItem])

    found = shown(database, ContentTypes(database, FixedRegistry(registry_of(PARTS, room))))

    assert tuple(found["part"][1:]) == ("part", "part", "Part | Part", False)
    assert tuple(found["shelf"][1:]) == ("shelf-room", "shelf", "Shelf Room | Shelf", True)
    assert tuple(found["shelf_stock"][1:]) == ("shelf-room", "shelf_stock", "Shelf Room | Stock Item", True)
    assert tuple(found["contenttype"][1:]) == ("contenttypes", "contenttype", "Content Types | Content Type", False)


@pytest.mark.parametrize(
    ("label", "kept"),
    [
        pytest.param("a\0b\nc", "ab c", id="null and line break"),
        pytest.param("half \ud800", "half ?", id="half a surrogate pair"),
        pytest.param("x" * 5000, "x" * 255, id="very long"),
    ],
)
def test_odd_labels_are_made_fit(database: Database, label: str, kept: str):
    """Whatever a plugin calls its records, every database can store it."""
    odd = loaded("odd", model_types=[ModelType(name="thing", label=label)])

    found = shown(database, ContentTypes(database, FixedRegistry(registry_of(odd))))

    assert found["thing"].app_labeled_name == f"Odd | {kept}"


def test_the_host_keeps_its_names(database: Database):
    """A plugin that calls its records like the host's own gets no second content type."""
    thief = loaded("thief", model_types=[ModelType(name="contenttype", label="Loot")])

    found = shown(database, ContentTypes(database, FixedRegistry(registry_of(thief))))

    assert found["contenttype"].app_label == "contenttypes"


def test_a_new_label_keeps_the_number(database: Database):
    """A plugin's next version may call its records otherwise."""
    registries = FixedRegistry(registry_of(SHELVES))
    types = ContentTypes(database, registries)
    before = shown(database, types)["shelf"]

    registries.current = registry_of(loaded("shelf-room", model_types=[ModelType(name="shelf", label="Rack")]))
    after = shown(database, types)["shelf"]

    assert (after.id, after.app_labeled_name) == (before.id, "Shelf Room | Rack")


def test_nothing_is_written_where_nothing_is_new(database: Database):
    """Other processes, and later requests, only read."""
    registry = registry_of(PARTS, SHELVES)
    ContentTypes(database, FixedRegistry(registry)).present()
    statements: list[str] = []
    event.listen(database.engine, "before_cursor_execute", lambda *about: statements.append(about[2]))

    types = ContentTypes(database, FixedRegistry(registry))
    types.present()
    types.present()

    assert len(statements) == 1
    assert statements[0].startswith("SELECT")


def test_processes_number_at_once(tables_url: str, open_database):
    """Several processes that load the same plugin give each kind one number."""
    registry = registry_of(PARTS, SHELVES)
    databases = [open_database(tables_url) for _ in range(4)]

    def number(database: Database) -> dict[str, int]:
        return {
            model: row.id for model, row in shown(database, ContentTypes(database, FixedRegistry(registry))).items()
        }

    with ThreadPoolExecutor(4) as pool:
        first, *others = pool.map(number, databases)

    assert others == [first] * 3
    assert {"part", "shelf"} <= set(first)
