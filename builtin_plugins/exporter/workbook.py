"""Tables as workbooks of Excel."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any, BinaryIO, Final

import xlsxwriter
from xlsxwriter.worksheet import Worksheet

from builtin_plugins.exporter.cells import harmless, tidy
from host import ExportSheet, Json

MOST_ROWS: Final = 1_048_576
"""Of one worksheet, headings included."""
_LONGEST_TEXT: Final = 32_767
_EXACT: Final = 2**53
_TITLE_LENGTH: Final = 25
_NOT_IN_TITLES: Final = re.compile(r"[\[\]:*?/\\']+")
_OPTIONS: Final[dict[str, Any]] = {
    "constant_memory": True,
    "strings_to_formulas": False,
    "strings_to_numbers": False,
    "strings_to_urls": False,
    # Excel's own limit is four gigabytes; a worksheet alone can be longer before it is packed.
    "use_zip64": True,
}


class WorkbookWriter:
    """Writes a workbook, with headings that stay in sight; where one worksheet is full, the next one begins.

    Args:
        file: what is written to.
        sheet: what is written.
        most_rows: of one worksheet, headings included.

    """

    def __init__(self, file: BinaryIO, sheet: ExportSheet, most_rows: int = MOST_ROWS) -> None:
        self._book = xlsxwriter.Workbook(file, _OPTIONS | {"tmpdir": str(sheet.folder)})
        self._bold = self._book.add_format({"bold": True})
        self._headings = [harmless(column.heading) for column in sheet.columns]
        self._title = _NOT_IN_TITLES.sub(" ", sheet.name).strip()[:_TITLE_LENGTH].strip() or "Export"
        self._most_rows = most_rows
        self._pages = 0
        self._page, self._row = self._next_page()

    def write(self, rows: Sequence[Sequence[Json]]) -> None:
        """Write some rows."""
        for row in tidy(rows):
            if self._row >= self._most_rows:
                self._page, self._row = self._next_page()
            for number, value in enumerate(row):
                if value is not None and value != "":
                    _write(self._page, self._row, number, value)
            self._row += 1

    def close(self) -> None:
        """Pack the workbook."""
        self._book.close()

    def _next_page(self) -> tuple[Worksheet, int]:
        self._pages += 1
        page = self._book.add_worksheet(self._title if self._pages == 1 else f"{self._title} {self._pages}")
        for number, heading in enumerate(self._headings):
            page.write_string(0, number, heading[:_LONGEST_TEXT], self._bold)
        page.freeze_panes(1, 0)
        return page, 1


def _write(page: Worksheet, row: int, column: int, value: Json) -> None:
    if isinstance(value, bool):
        page.write_boolean(row, column, value)
    elif isinstance(value, int | float) and _is_exact(value):
        page.write_number(row, column, value)
    else:
        text = str(value).encode("utf-8", "replace").decode()
        page.write_string(row, column, text[:_LONGEST_TEXT])


def _is_exact(number: float) -> bool:
    # All numbers are floats there.
    return abs(number) <= _EXACT if isinstance(number, int) else math.isfinite(number)
