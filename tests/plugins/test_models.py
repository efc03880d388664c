"""Tables of plugins."""

from __future__ import annotations

import threading
from enum import Enum
from typing import Any

import pytest
from sqlalchemy import Column, ForeignKey, Integer, Table, inspect, text
from sqlmodel import Field, SQLModel

from host import table_base
from host.plugins.models import ModelsError, prepare_tables
from host.storage.engine import Database
from host.storage.tables import HostTable


class Kind(Enum):
    """Kinds of shelf."""

    OPEN = "open"
    CLOSED = "closed"


def shelf(table: str = "stock_shelf", *columns: str) -> Any:
    """Return a model as a version of a plugin has it."""
    known: dict[str, tuple[Any, Any]] = {
        "note": (str | None, None),
        "count": (int, Field(default=0, sa_column_kwargs={"server_default": "0"})),
        "code": (str | None, Field(default=None, unique=True)),
        "tag": (str | None, Field(default=None, index=True)),
        "strict": (int, Field()),
        "kind": (Kind | None, None),
        "parent_id": (int | None, Field(default=None, foreign_key=f"{table}.id")),
    }
    body: dict[str, Any] = {
        "__module__": __name__,
        "__tablename__": table,
        "__annotations__": {"id": int | None, "name": str, **{name: known[name][0] for name in columns}},
        "id": Field(default=None, primary_key=True),
        **{name: known[name][1] for name in columns if name != "strict"},
    }
    base: Any = table_base()
    return type(base)("Shelf", (base,), body, table=True)


def columns_of(database: Database, table: str = "stock_shelf") -> set[str]:
    return {column["name"] for column in inspect(database.engine).get_columns(table)}


def test_a_missing_table_is_made_and_stays(database):
    """Preparing again changes nothing and loses nothing."""
    prepare_tables(database, "stock", [shelf()])
    with database.write() as session:
        session.connection().execute(text("INSERT INTO stock_shelf (name) VALUES ('top')"))

    prepare_tables(database, "stock", [shelf()])

    with database.read() as connection:
        assert connection.execute(text("SELECT name FROM stock_shelf")).scalars().all() == ["top"]


def test_new_columns_are_added_to_rows_that_exist(database):
    """Optional ones are empty, those with a server default have it; index and uniqueness come along."""
    prepare_tables(database, "stock", [shelf()])
    with database.write() as session:
        session.connection().execute(text("INSERT INTO stock_shelf (name) VALUES ('top')"))

    prepare_tables(database, "stock", [shelf("stock_shelf", "note", "count", "code", "tag", "kind", "parent_id")])

    with database.read() as connection:
        assert connection.execute(text("SELECT name, note, count, code FROM stock_shelf")).all() == [
            ("top", None, 0, None)
        ]
    inspector = inspect(database.engine)
    indexes = {tuple(index["column_names"]): bool(index["unique"]) for index in inspector.get_indexes("stock_shelf")}
    assert indexes == {("tag",): False, ("code",): True}
    (foreign,) = inspector.get_foreign_keys("stock_shelf")
    assert foreign["constrained_columns"] == ["parent_id"]
    prepare_tables(database, "stock", [shelf("stock_shelf", "note", "count", "code", "tag", "kind", "parent_id")])


def test_a_column_that_existing_rows_cannot_have_is_refused(database):
    """The text names table, column and remedy; nothing else is changed."""
    prepare_tables(database, "stock", [shelf()])

    with pytest.raises(ModelsError, match=r"'strict' of table 'stock_shelf'.*server_default"):
        prepare_tables(database, "stock", [shelf("stock_shelf", "note", "strict")])

    assert columns_of(database) == {"id", "name"}


def test_nothing_is_ever_dropped(database):
    """An older version of the plugin leaves what the newer one made."""
    prepare_tables(database, "stock", [shelf("stock_shelf", "note")])
    prepare_tables(database, "stock", [shelf()])

    assert columns_of(database) == {"id", "name", "note"}


@pytest.mark.parametrize("table", ["plugin_table", "Plugin_Table", "alembic_version"])
def test_tables_of_the_host_are_refused(database, table):
    """Names are compared without case, as some databases do."""
    with pytest.raises(ModelsError, match="belongs to the host"):
        prepare_tables(database, "stock", [shelf(table)])


def test_tables_of_another_plugin_are_refused(database):
    """Also when that plugin is inactive: a table stays with the plugin that made it."""
    prepare_tables(database, "stock", [shelf()])

    with pytest.raises(ModelsError, match="belongs to plugin 'stock'"):
        prepare_tables(database, "other", [shelf()])


def test_a_table_of_somebody_else_is_refused(database):
    """What is in the database already, and not the plugin's, is left alone."""
    with database.write() as session:
        session.connection().execute(text("CREATE TABLE stock_shelf (id INTEGER)"))

    with pytest.raises(ModelsError, match="belongs to no plugin"):
        prepare_tables(database, "stock", [shelf()])


def test_a_refusal_leaves_no_tables_behind(database):
    """All or nothing."""
    with pytest.raises(ModelsError):
        prepare_tables(database, "stock", [shelf("stock_a"), shelf("plugin_table")])

    assert not inspect(database.engine).has_table("stock_a")
    prepare_tables(database, "other", [shelf("stock_a")])


def test_tables_of_a_common_base_are_refused():
    """The text says what to derive from."""

    class Common(SQLModel, table=True):
        __tablename__ = "models_test_common"
        id: int | None = Field(default=None, primary_key=True)

    database: Any = None
    try:
        with pytest.raises(ModelsError, match="table_base"):
            prepare_tables(database, "stock", [Common])
        with pytest.raises(ModelsError, match="table_base"):
            prepare_tables(
                database, "stock", [type("X", (), {"__table__": next(iter(HostTable.metadata.sorted_tables))})]
            )
        with pytest.raises(ModelsError, match="table=True"):
            prepare_tables(database, "stock", [int])
    finally:
        SQLModel.metadata.remove(SQLModel.metadata.tables["models_test_common"])


def test_a_table_that_links_two_models_is_made_too(database):
    """It has no class of its own, but belongs to the same base."""
    model = shelf()
    Table(
        "stock_link",
        model.metadata,
        Column("a", Integer, ForeignKey("stock_shelf.id")),
        Column("b", Integer, ForeignKey("stock_shelf.id")),
    )

    prepare_tables(database, "stock", [model])

    assert inspect(database.engine).has_table("stock_link")


def test_a_table_that_cannot_be_made_is_explained(database):
    """A reference to a table outside the plugin's base is the author's mistake."""
    base: Any = table_base()

    class Part(base, table=True):  # type: ignore[misc, call-arg]
        __tablename__ = "stock_part"
        id: int | None = Field(default=None, primary_key=True)
        owner: int = Field(foreign_key="account_user.id")

    with pytest.raises(ModelsError, match="account_user"):
        prepare_tables(database, "stock", [Part])


def test_several_processes_may_prepare_at_once(database):
    """As they do when they all start."""
    start = threading.Barrier(4)
    errors: list[Exception] = []

    def prepare() -> None:
        start.wait()
        try:
            prepare_tables(database, "stock", [shelf("stock_shelf", "note")])
        except Exception as error:  # noqa: BLE001 - shown by the assertion
            errors.append(error)

    threads = [threading.Thread(target=prepare) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert errors == []
