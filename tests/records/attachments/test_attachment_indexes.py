"""Every filter and every order of the list reads an index."""

from __future__ import annotations

import re
from typing import Any

import pytest
from sqlalchemy import Select, func, select

from host.records.attachments.listing import ATTACHMENT_LIST
from host.records.attachments.table import ATTACHMENTS
from host.storage.listing import Search
from host.storage.patterns import search_condition

VALUES = {
    "model_type": "part",
    "model_id": 1,
    "upload_user": 1,
    "is_link": True,
    "is_file": False,
    "is_image": True,
    "has_thumbnail": True,
    "tags": "red,blue",
}
ORDERS = ["pk", "-pk", *(sign + name for name in ATTACHMENT_LIST.ordering for sign in ("", "-"))]


def page_by(order: str) -> Select[Any]:
    plain = order.removeprefix("-")
    column = ATTACHMENT_LIST.ordering.get(plain, ATTACHMENT_LIST.key)
    columns = [column, ATTACHMENT_LIST.key] if plain != "pk" else [column]
    criteria = [one.desc() if order.startswith("-") else one.asc() for one in columns]
    statement = select(*ATTACHMENT_LIST.members.values()).select_from(ATTACHMENTS)
    return statement.order_by(*criteria).limit(100)


def counted(condition: Any) -> Select[Any]:
    return select(func.count()).select_from(ATTACHMENTS).where(condition)


def plan(database, statement: Select[Any]) -> str:
    """Return how the database would run it, were the tables large."""
    with database.read() as connection:
        text = str(statement.compile(connection, compile_kwargs={"literal_binds": True})).replace("%", "%%")
        if database.is_sqlite:
            return "\n".join(row[3] for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {text}"))
        connection.exec_driver_sql("SET LOCAL enable_seqscan = off")
        connection.exec_driver_sql("SET LOCAL enable_sort = off")
        return "\n".join(row[0] for row in connection.exec_driver_sql(f"EXPLAIN {text}"))


def test_every_filter_has_a_value_here():
    """No filter is added without looking at how it is run."""
    assert set(VALUES) == set(ATTACHMENT_LIST.filters)


def test_filters_and_orders_read_indexes(database):
    """Nothing is read as a whole to choose a few rows, and nothing is sorted to show a page."""
    for order in ORDERS:
        found = plan(database, page_by(order))
        assert not re.search(r"TEMP B-TREE|Sort|Seq Scan on attachment\b", found), (order, found)
        assert re.search(r"SCAN attachment(?: USING INDEX|$)|Index (?:Only )?Scan", found, re.MULTILINE), (order, found)
    for name, value in VALUES.items():
        condition = ATTACHMENT_LIST.filters[name].where(value)
        for statement in (counted(condition), page_by("pk").where(condition)):
            found = plan(database, statement)
            assert not re.search(r"SCAN attachment\b|Seq Scan on attachment\b", found), (name, found)
            assert re.search(r"(?:ix|pk)_attachment|INTEGER PRIMARY KEY", found), (name, found)


@pytest.mark.parametrize("terms", [["a"], ["a", "b", "c"]], ids=["one term", "three terms"])
def test_a_search_reads_the_table_once(database, terms):
    """However many terms there are."""
    condition = search_condition(Search(terms=terms), ATTACHMENT_LIST.search)
    found = plan(database, counted(condition))

    assert len(re.findall(r"SCAN attachment\b|Scan (?:using \w+ )?on attachment\b", found)) == 1, found
