"""The order of a list, as the interface names it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import ColumnElement


def ordered(
    text: str, columns: Mapping[str, ColumnElement[Any]], default: str, last: ColumnElement[Any]
) -> list[ColumnElement[Any]]:
    """Return what to order by.

    Args:
        text: names after commas, each with ``-`` in front for the other way round; unknown names are ignored.
        columns: the names that can be used.
        default: what counts when no name is left.
        last: decides between equal rows.

    """
    names = [name for name in text.split(",") if name.removeprefix("-") in columns] or [default]
    order = [columns[name.removeprefix("-")].desc() if name.startswith("-") else columns[name].asc() for name in names]
    return [*order, last.desc() if names[0].startswith("-") else last.asc()]
