"""Read a spreadsheet or JSON in a process of its own: whatever the file does to its reader, the host goes on.

A small file can hold a large table, and readers of such formats keep all of it in memory. The question is JSON on the
standard input. Each line of the standard output is a JSON array with the cells of one line of the table as texts, and
the last one is an object: empty when all went well, or with ``error``.
"""

from __future__ import annotations

import json
import sys
import zipfile
from collections.abc import Iterable, Iterator
from datetime import datetime, time
from typing import Any

import orjson
from python_calamine import CalamineError, CalamineWorkbook, PasswordError, SheetTypeEnum, SheetVisibleEnum

from host.children.limits import restrain

_MOST_MEMBERS = 5000
_MOST_UNPACKED = 2 * 1024**3
_RATIO = 400
_SMALL = 16 * 1024**2
_HEAD = 4
_EXACT = 1e15


class _UnreadableError(Exception):
    """The file cannot be read; the text says why."""


def _spreadsheet(path: str, question: dict[str, Any]) -> Iterator[list[str]]:
    _check_archive(path)
    try:
        workbook = CalamineWorkbook.from_path(path)
        sheets = [one for one in workbook.sheets_metadata if one.typ == SheetTypeEnum.WorkSheet]
        if not sheets:
            raise _UnreadableError("The spreadsheet has no sheet with a table.")
        # What its author does not see is hardly what they mean to import.
        seen = [one for one in sheets if one.visible == SheetVisibleEnum.Visible]
        sheet = workbook.get_sheet_by_name((seen or sheets)[0].name)
        if sheet.width > question["columns"]:
            # The header says it better, where it is as wide as that.
            yield ["x"] * sheet.width
            return
        for row in sheet.iter_rows():
            yield [_text(cell) for cell in row]
    except PasswordError:
        raise _UnreadableError("The spreadsheet is protected by a password. Save it without one.") from None
    except (CalamineError, OSError, ValueError) as error:
        raise _UnreadableError(f"The spreadsheet is broken: {str(error)[:200]}. Save it anew, or as CSV.") from None


def _check_archive(path: str) -> None:
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
    except (zipfile.BadZipFile, NotImplementedError, ValueError, OSError):
        with open(path, "rb") as file:  # noqa: PTH123 - pathlib takes longer to load than all this takes to run
            head = file.read(_HEAD)
        what = "It is a spreadsheet of an old format" if head == b"\xd0\xcf\x11\xe0" else "It is no spreadsheet"
        raise _UnreadableError(f"{what}. Save the table as XLSX or CSV, with the ending of its format.") from None
    packed = sum(one.compress_size for one in members)
    unpacked = sum(one.file_size for one in members)
    is_bomb = unpacked > _MOST_UNPACKED or (unpacked > _SMALL and unpacked > _RATIO * max(packed, 1))
    if is_bomb or len(members) > _MOST_MEMBERS:
        raise _UnreadableError("The spreadsheet unpacks to far more than its size. Save the table as CSV.")


def _objects(path: str, question: dict[str, Any]) -> Iterator[list[str]]:
    with open(path, "rb") as file:  # noqa: PTH123 - as above
        content = file.read().removeprefix(b"\xef\xbb\xbf")
    try:
        found = orjson.loads(content)
    except orjson.JSONDecodeError as error:
        raise _UnreadableError(f"The file is no JSON in UTF-8: {error}.") from None
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise _UnreadableError('The file must hold an array of objects, as [{"name": "Screw"}, {"name": "Nut"}].')
    columns: dict[str, None] = {}
    for one in found:
        columns.update(dict.fromkeys(one))
        if len(columns) > question["columns"]:
            break
    if found:
        yield list(columns)
    for one in found:
        yield [_text(one.get(name)) for name in columns]


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < _EXACT else repr(value)
    if isinstance(value, (list, dict)):
        return orjson.dumps(value).decode()
    return _moment(value) if isinstance(value, datetime) else str(value)


def _moment(value: datetime) -> str:
    # Spreadsheets know days as moments at midnight.
    return value.date().isoformat() if value.time() == time() else value.isoformat(" ")


def _write(lines: Iterable[list[str]]) -> None:
    out = sys.stdout.buffer
    for line in lines:
        out.write(orjson.dumps(line))
        out.write(b"\n")


def main() -> None:
    """Read the file and end."""
    question = json.load(sys.stdin)
    restrain(question["parent"], memory=question["memory"], cpu=question["cpu"])
    read = _objects if question["format"] == "json" else _spreadsheet
    end: dict[str, str] = {}
    try:
        _write(read(question["path"], question))
    except _UnreadableError as error:
        end = {"error": str(error)}
    except (MemoryError, RecursionError):
        end = {"error": "The file needs too much memory to be read. Import it in parts, or save the table as CSV."}
    sys.stdout.buffer.write(orjson.dumps(end))


if __name__ == "__main__":
    main()
