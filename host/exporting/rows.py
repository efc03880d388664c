"""Rows: take the members of records apart into the cells of a table."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, TypeAlias

from host.contract.exports import ExportColumn

Records: TypeAlias = Sequence[Mapping[str, Any]]
"""Records as a list answers them, with nested objects."""
Rows: TypeAlias = Sequence[Sequence[Any]]

_PLAIN = frozenset({str, int, float, bool, type(None), list, dict})


def present(columns: Sequence[ExportColumn], optional: Collection[str], records: Records) -> list[ExportColumn]:
    """Return the columns without those that callers of this kind do not get to see."""
    hidden = {name for name in optional if not any(name in record for record in records)}
    return [column for column in columns if column.name.partition(".")[0] not in hidden]


class Table:
    """Makes rows of records: a cell for each of some columns, by their names."""

    def __init__(self, columns: Sequence[ExportColumn]) -> None:
        self.names = tuple(column.name for column in columns)
        self._readers = [_reader(name) for name in self.names]

    def rows(self, records: Records) -> Rows:
        """Return the rows. A column at a time: that takes half as long as a row at a time."""
        return list(zip(*(_plain(read(records)) for read in self._readers), strict=True))

    def named(self, rows: Rows) -> list[dict[str, Any]]:
        """Return rows with the names of their cells."""
        names = self.names
        return [dict(zip(names, row, strict=True)) for row in rows]


def picked(columns: Sequence[ExportColumn], records: Records) -> Rows:
    """Return rows of what is in flat records; what they lack is empty."""
    names = [column.name for column in columns]
    return list(zip(*(_plain([record.get(name) for record in records]) for name in names), strict=True))


def _reader(name: str) -> Callable[[Records], list[Any]]:
    path = name.split(".")
    first = path[0]
    if len(path) == 1:
        return lambda records: [record.get(first) for record in records]
    rest = path[1:]

    def read(records: Records) -> list[Any]:
        found = [record.get(first) for record in records]
        for member in rest:
            found = [value.get(member) if isinstance(value, dict) else None for value in found]
        return found

    return read


def _plain(values: list[Any]) -> list[Any]:
    # What formats and plugins get is what JSON can say.
    if _PLAIN.issuperset(map(type, values)):
        return values
    return [value if type(value) in _PLAIN else _text(value) for value in values]


def _text(value: Any) -> Any:
    if isinstance(value, tuple):
        return list(value)
    return value.isoformat() if hasattr(value, "isoformat") else str(value)
