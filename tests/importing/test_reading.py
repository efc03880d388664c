"""Files as programs write them, and files that no program should read."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from datetime import datetime
from io import BytesIO
from typing import Any

import pytest
import xlsxwriter

from host.importing.reading.apart import ChildLimits, read_apart
from host.importing.reading.files import check_size, format_of, open_table
from host.importing.reading.table import DataFileError, TableLimits

LIMITS = TableLimits(rows=50, columns=20)


def table_of(name: str, content: bytes) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """Return columns and lines."""
    with open_table(BytesIO(content), format_of(name), LIMITS) as table:
        return table.header.columns, [(line.index, list(line.cells)) for line in table]


def sheet(fill: Callable[[Any, Any], None]) -> bytes:
    """Return a spreadsheet."""
    content = BytesIO()
    book = xlsxwriter.Workbook(content)
    fill(book, book.add_worksheet())
    book.close()
    return content.getvalue()


def _small(book: Any, page: Any) -> None:
    page.write_row(0, 0, ["name", "when", "ok"])
    page.write_row(1, 0, ["Größe", 1.0, True])
    page.write_datetime(3, 1, datetime(2030, 1, 2), book.add_format({"num_format": "yyyy-mm-dd"}))  # noqa: DTZ001


def _hidden(book: Any, page: Any) -> None:
    page.write_column(0, 0, ["secret", "x"])
    seen = book.add_worksheet()
    seen.write_column(0, 0, ["name", "Lamp"])
    seen.activate()
    seen.set_first_sheet()
    page.hide()


def ods(rows: str) -> bytes:
    """Return a spreadsheet of LibreOffice."""
    names = ("office", "table", "text")
    spaces = " ".join(f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in names)
    table = f'<table:table table:name="S">{rows}</table:table>'
    inner = f"<office:body><office:spreadsheet>{table}</office:spreadsheet></office:body>"
    content = BytesIO()
    with zipfile.ZipFile(content, "w") as out:
        out.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        out.writestr("META-INF/manifest.xml", "<manifest/>")
        out.writestr("content.xml", f"<office:document-content {spaces}>{inner}</office:document-content>")
    return content.getvalue()


def _cell(text: str, kind: str = "string", **attributes: str) -> str:
    values = "".join(f' office:{name.replace("_", "-")}="{value}"' for name, value in attributes.items())
    return f'<table:table-cell office:value-type="{kind}"{values}><text:p>{text}</text:p></table:table-cell>'


_BLANK = '<table:table-cell table:number-columns-repeated="16384"/>'
_ODS = (
    f"<table:table-row>{_cell('name')}{_cell('when')}{_cell('ok')}</table:table-row>"
    f"<table:table-row>{_cell('Größe &amp; Co')}{_cell('29.02.24', 'date', date_value='2024-02-29')}"
    f"{_cell('WAHR', 'boolean', boolean_value='true')}</table:table-row>"
    f'<table:table-row table:number-rows-repeated="2">{_BLANK}</table:table-row>'
    f"<table:table-row>{_cell('12,5 %', 'percentage', value='0.125')}</table:table-row>"
    f'<table:table-row table:number-rows-repeated="1048570">{_BLANK}</table:table-row>'
)
_REPEATED = f'<table:table-row table:number-rows-repeated="1000000">{_cell("x")}</table:table-row>'


def _vast(_book: Any, page: Any) -> None:
    page.write(0, 0, "a")
    page.write(1048575, 999, "z")


def _repacked(change: Callable[[bytes], bytes]) -> bytes:
    content = BytesIO()
    with zipfile.ZipFile(BytesIO(sheet(_small))) as source, zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as out:
        for one in source.infolist():
            data = source.read(one)
            out.writestr(one.filename, change(data) if one.filename == "xl/worksheets/sheet1.xml" else data)
    return content.getvalue()


GERMAN = "Name;Größe\nTräger;5\n"


@pytest.mark.parametrize(
    ("name", "content", "columns", "lines"),
    [
        pytest.param("a.csv", GERMAN.encode(), ["Name", "Größe"], [(0, ["Träger", "5"])], id="UTF-8"),
        pytest.param("a.csv", GERMAN.encode("utf-8-sig"), ["Name", "Größe"], [(0, ["Träger", "5"])], id="a mark"),
        pytest.param("a.csv", GERMAN.encode("cp1252"), ["Name", "Größe"], [(0, ["Träger", "5"])], id="Western"),
        pytest.param("a.csv", GERMAN.encode("utf-16"), ["Name", "Größe"], [(0, ["Träger", "5"])], id="UTF-16"),
        pytest.param("a.csv", GERMAN.encode("utf-16-le"), ["Name", "Größe"], [(0, ["Träger", "5"])], id="no mark"),
        pytest.param("a.csv", "名,数\nねじ,5\n".encode("cp932"), ["名", "数"], [(0, ["ねじ", "5"])], id="Japan"),
        pytest.param("a.csv", "имя,шт\nжизнь,5\n".encode("cp1251"), ["имя", "шт"], [(0, ["жизнь", "5"])], id="Russia"),
        pytest.param("A.TSV", b"a\tb\n1,2\t3\n", ["a", "b"], [(0, ["1,2", "3"])], id="tabs"),
        pytest.param("a.csv", b"a|b\n1,2|3\n", ["a", "b"], [(0, ["1,2", "3"])], id="bars"),
        pytest.param("a.csv", b'a,b\n"x\ny, ""z""",1\n', ["a", "b"], [(0, ['x\ny, "z"', "1"])], id="quotes"),
        pytest.param("a.csv", b" a , ,a\n\n1,2,3\n", ["a", "Column 2"], [(1, ["1", "2", "3"])], id="odd header"),
        pytest.param("a.csv", b"a\n", ["a"], [], id="no rows"),
        pytest.param(
            "a.xlsx",
            sheet(_small),
            ["name", "when", "ok"],
            [(0, ["Größe", "1", "true"]), (2, ["", "2030-01-02", ""])],
            id="spreadsheet",
        ),
        pytest.param("a.xlsx", sheet(_hidden), ["name"], [(0, ["Lamp"])], id="hidden sheet"),
        pytest.param(
            "a.ods", ods(_ODS), ["name", "when", "ok"],
            [(0, ["Größe & Co", "2024-02-29", "true"]), (3, ["0.125", "", ""])], id="LibreOffice",
        ),
        pytest.param(
            "a.json", b'[{"a":1.5,"b":null},{"a":"x","c":[1]}]', ["a", "b", "c"],
            [(0, ["1.5", "", ""]), (1, ["x", "", "[1]"])], id="JSON",
        ),
    ],
)  # fmt: skip
def test_tables_are_found(name: str, content: bytes, columns: list[str], lines: list[Any]):
    """Encoding and separator are found; blank lines count and are no rows."""
    assert table_of(name, content) == (columns, lines)


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        pytest.param("a.txt", b"a\n", "must end in one of", id="unknown kind"),
        pytest.param("csv", b"a\n", "must end in one of", id="no ending"),
        pytest.param("a.csv", b"\n \n", "must name the columns", id="blank"),
        pytest.param("a.csv", b"a,b\n1\n", "Line 2 has 1 cells", id="short line"),
        pytest.param("a.csv", b"a,b\n1,2\n1,2,\n", "Line 3 has 3 cells", id="long line"),
        pytest.param("a.csv", b'a,b\n"1,2\n', "cannot be read", id="open quotes"),
        pytest.param("a.csv", b"a,b\n1,\x002\n", "null characters", id="null character"),
        pytest.param("a.csv", b"a" * 70000 + b"\n\0", "null characters|longer than", id="late null character"),
        pytest.param("a.csv", sheet(_small), "a spreadsheet or a ZIP", id="spreadsheet as CSV"),
        pytest.param("a.xlsx", GERMAN.encode(), "no spreadsheet", id="CSV as spreadsheet"),
        pytest.param("a.xlsx", b"\xd0\xcf\x11\xe0" * 99, "old format", id="old spreadsheet"),
        pytest.param("a.xlsx", sheet(_small)[:-99], "no spreadsheet", id="half a spreadsheet"),
        pytest.param("a.ods", sheet(_small)[:300] + b"\0" * 300, "no spreadsheet|broken", id="broken"),
        pytest.param("a.csv", b"a\n" + b"1\n" * 51, "more than 50 rows", id="too many rows"),
        pytest.param("a.csv", b",".join(b"%d" % one for one in range(10000)), "10000 columns", id="many columns"),
        pytest.param("a.csv", b"a\n" + b"\n" * 9999, "more than 1500 lines", id="blank lines for ever"),
        pytest.param("a.csv", b"x" * 101 + b"\n", "longer than 100", id="long name"),
        pytest.param("a.csv", b"a\n" + b"y" * 200_000, "more than 100000", id="long cell"),
        pytest.param("a.json", b'{"a":1}', "array of objects", id="object"),
        pytest.param("a.json", b"[1]", "array of objects", id="numbers"),
        pytest.param("a.json", b"[" * 50_000, "no JSON", id="deep"),
        pytest.param("a.json", b"[]", "must name the columns", id="no objects"),
        pytest.param("a.xlsx", sheet(_vast), "too much memory", id="vast sheet"),
        pytest.param("a.ods", ods(_REPEATED), "more than 50 rows", id="repeated row"),
        pytest.param(
            "a.xlsx", _repacked(lambda data: data.replace(b"<sheetData>", b"<sheetData>" + b" " * 40_000_000)),
            "unpacks to far more", id="ZIP bomb",
        ),
        pytest.param(
            "a.xlsx",
            _repacked(lambda data: b'<!DOCTYPE a [<!ENTITY b "bb">]>' + data.partition(b"?>")[2].replace(
                b"</sheetData>", b'<row r="9"><c r="A9" t="str"><v>&b;</v></c></row></sheetData>')),
            "broken", id="XML entities",
        ),
    ],
)  # fmt: skip
def test_what_is_no_table_is_refused(name: str, content: bytes, reason: str):
    """The message says why, whatever the file does to its reader."""
    with pytest.raises(DataFileError, match=reason):
        table_of(name, content)


def test_a_reader_that_needs_too_much_is_ended(tmp_path):
    """The memory for a file has a limit."""
    path = tmp_path / "a.json"
    path.write_bytes(b"[" + b"{}," * 4_000_000 + b"{}]")

    with pytest.raises(DataFileError, match="too much memory"):
        list(read_apart(path, "json", 5, ChildLimits(memory=200 * 1024**2)))


@pytest.mark.parametrize(("size", "reason"), [(0, "empty"), (1024**2 + 1, "at most 1 MB")])
def test_sizes_have_limits(size: int, reason: str):
    """A file is neither empty nor larger than the setting says."""
    with pytest.raises(DataFileError, match=reason):
        check_size(BytesIO(b"x" * size), 1)
    check_size(BytesIO(b"x" * 1024**2), 1)
