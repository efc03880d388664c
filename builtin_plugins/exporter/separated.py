"""Tables as text: values with commas or tabs between them."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from io import TextIOWrapper
from typing import BinaryIO

from builtin_plugins.exporter.cells import harmless, harmless_within, tidy
from host import ExportSheet, Json


class SeparatedWriter:
    """Writes UTF-8 text, with a line of headings first.

    Args:
        file: what is written to.
        sheet: what is written.
        separator: what stands between values.

    """

    def __init__(self, file: BinaryIO, sheet: ExportSheet, separator: str) -> None:
        # Half a surrogate pair, which no text can hold, becomes a question mark.
        self._text = TextIOWrapper(file, "utf-8", errors="replace", newline="")
        self._writer = csv.writer(self._text, delimiter=separator)
        self._writer.writerow([harmless_within(harmless(column.heading)) for column in sheet.columns])

    def write(self, rows: Sequence[Sequence[Json]]) -> None:
        """Write some rows."""
        self._writer.writerows(
            [harmless_within(value) if type(value) is str else value for value in row] for row in tidy(rows)
        )

    def close(self) -> None:
        """Write what is left."""
        self._text.flush()
        self._text.detach()
