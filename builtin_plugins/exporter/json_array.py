"""Tables as JSON: an array of objects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import BinaryIO

from builtin_plugins.exporter.cells import as_text
from host import ExportSheet, Json


class JsonWriter:
    """Writes an array of objects, one a line; their members are called like the headings.

    Args:
        file: what is written to.
        sheet: what is written.

    """

    def __init__(self, file: BinaryIO, sheet: ExportSheet) -> None:
        self._file = file
        self._names = [column.heading for column in sheet.columns]
        self._between = b"[\n"

    def write(self, rows: Sequence[Sequence[Json]]) -> None:
        """Write some rows."""
        names = self._names
        for row in rows:
            self._file.write(self._between)
            self._file.write(as_text(dict(zip(names, row, strict=True))).encode())
            self._between = b",\n"

    def close(self) -> None:
        """Write the end of the array."""
        self._file.write(b"[]\n" if self._between == b"[\n" else b"\n]\n")
