"""The table in a file: its header and its rows, whatever format they came in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from host.errors import RefusedError
from host.importing.tables import COLUMN_LENGTH

_NEVER: Final = str.maketrans(dict.fromkeys((*range(9), 11, 12, *range(14, 32), 127)))
_LARGEST_CELL: Final = 100_000
_SHOWN: Final = 60


class DataFileError(RefusedError):
    """A file cannot be imported; the text says why and what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableLimits:
    """How large a table may be."""

    rows: int
    columns: int


@dataclass(frozen=True, slots=True)
class Header:
    """The columns of a table."""

    names: tuple[str, ...]
    """One for each cell of a line; of two that are the same, the last one counts."""

    @property
    def columns(self) -> list[str]:
        """The names, each once."""
        return list(dict.fromkeys(self.names))

    def named(self, cells: Sequence[str]) -> dict[str, str]:
        """Return the cells of a line by their columns."""
        return dict(zip(self.names, cells, strict=False))


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a table that holds something."""

    index: int
    """Counted from 0 below the header, blank lines too."""
    cells: Sequence[str]


class Table:
    """Reads a table, line by line, and refuses what cannot be one.

    Args:
        lines: the cells of each line, from the first one on.
        limits: how large it may be.
        is_even: whether lines that are shorter than the header are filled up; else they are refused.

    Raises:
        DataFileError: there is no usable header.

    """

    def __init__(self, lines: Iterable[Sequence[str]], limits: TableLimits, *, is_even: bool) -> None:
        self._lines = enumerate(lines, 1)
        self._limits = limits
        self._is_even = is_even
        self.header = self._read_header()

    def __iter__(self) -> Iterator[Line]:
        """Iterate over the lines below the header, once.

        Raises:
            DataFileError: a line does not fit the header, or there are too many.

        """
        width, rows, below = len(self.header.names), 0, 0
        for number, cells in self._lines:
            index, below = below, below + 1
            if not any(cell.strip() for cell in cells):
                self._check_count(below, "lines", self._limits.rows * 10 + 1000)
                continue
            rows += 1
            self._check_count(rows, "rows", self._limits.rows)
            yield Line(index, self._fitted(number, cells, width))

    def _read_header(self) -> Header:
        for number, cells in self._lines:
            if any(cell.strip() for cell in cells):
                return self._header(cells)
            if number > self._limits.rows:
                break
        raise DataFileError("The file is empty: its first line must name the columns.")

    def _header(self, cells: Sequence[str]) -> Header:
        if len(cells) > self._limits.columns:
            raise DataFileError(
                f"The file has {len(cells)} columns; at most {self._limits.columns} can be imported. Remove columns, "
                "or ask an administrator to raise the setting IMPORT_MAX_COLUMNS."
            )
        names = tuple(" ".join(storable(cell).split()) or f"Column {number}" for number, cell in enumerate(cells, 1))
        for number, name in enumerate(names, 1):
            if len(name) > COLUMN_LENGTH:
                raise DataFileError(
                    f"The name of column {number} ('{name[:_SHOWN]}…') is longer than {COLUMN_LENGTH} characters. "
                    "Shorten it in the first line of the file."
                )
        return Header(names)

    def _fitted(self, number: int, cells: Sequence[str], width: int) -> Sequence[str]:
        if len(cells) > width and not any(cell.strip() for cell in cells[width:]) and self._is_even:
            cells = cells[:width]
        if len(cells) > width or (len(cells) < width and not self._is_even):
            raise DataFileError(
                f"Line {number} has {len(cells)} cells, and the header has {width}. Make all lines as long as the "
                "header; text that holds the separator must stand in quotation marks."
            )
        if any(len(cell) > _LARGEST_CELL for cell in cells):
            raise DataFileError(f"Line {number} has a cell of more than {_LARGEST_CELL} characters. Shorten it.")
        return [storable(cell) for cell in cells] + [""] * (width - len(cells))

    def _check_count(self, count: int, what: str, most: int) -> None:
        if count > most:
            raise DataFileError(
                f"The file has more than {most} {what}. Import it in parts, or ask an administrator to raise the "
                "setting IMPORT_MAX_ROWS."
            )


def storable(text: str) -> str:
    """Return a text without what no database can store and nobody can see; line breaks and tabs stay."""
    if text.isprintable():
        return text
    return text.translate(_NEVER).encode("utf-8", "replace").decode()
