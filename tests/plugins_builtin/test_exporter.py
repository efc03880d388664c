"""The exporter: its four formats, what it does to dangerous cells, and its options."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from python_calamine import CalamineWorkbook

from builtin_plugins.exporter.cells import harmless, harmless_within
from builtin_plugins.exporter.plugin import Exporter
from builtin_plugins.exporter.workbook import WorkbookWriter
from host import ExportColumn, ExportJob, ExportSheet, User

ROWS: list[list[Any]] = [
    [1, 'plain, with "quotes" and\nlines', True, None, 1.5],
    [-5, '=HYPERLINK("http://x")', False, ["a", {"b": None}], 2**60],
    [2**53, "-5", None, {}, float("inf")],
]  # fmt: skip
HARMLESS = '\'=HYPERLINK("http://x")'


def sheet(folder: Path, *headings: str) -> ExportSheet:
    columns = [ExportColumn(name=name) for name in headings or ("n", "text", "flag", "any", "=x")]
    return ExportSheet(name="Lamps: [all]", columns=columns, folder=folder)


def written(name: str, folder: Path, rows: list[list[Any]]) -> bytes:
    (spec,) = [one for one in Exporter().export_formats() if one.name == name]
    file = io.BytesIO()
    writer = spec.open(file, sheet(folder))
    for row in rows:  # in batches of one
        writer.write([row])
    writer.close()
    assert not file.closed
    return file.getvalue()


@pytest.mark.parametrize(("name", "separator"), [("csv", ","), ("tsv", "\t")])
def test_separated_values_can_be_read_again(tmp_path, name, separator):
    """Every value is in its cell, whatever it holds; lists and objects are JSON."""
    text = written(name, tmp_path, ROWS).decode()

    assert list(csv.reader(io.StringIO(text, newline=""), delimiter=separator)) == [
        ["n", "text", "flag", "any", "'=x"],
        ["1", 'plain, with "quotes" and\nlines', "True", "", "1.5"],
        ["-5", HARMLESS, "False", '["a",{"b":null}]', str(2**60)],
        [str(2**53), "-5", "", "{}", "inf"],
    ]


def test_json_is_an_array_of_objects(tmp_path):
    """Values keep their types, and nothing is changed in texts; without rows it is an empty array."""
    found = json.loads(written("json", tmp_path, ROWS[:2]))

    assert found[1] == {"n": -5, "text": ROWS[1][1], "flag": False, "any": ["a", {"b": None}], "=x": 2**60}
    assert json.loads(written("json", tmp_path, [])) == []


def test_workbooks_keep_types_and_hold_no_formula(tmp_path):
    """Numbers are numbers as far as Excel knows them; what is text is text."""
    book = CalamineWorkbook.from_filelike(io.BytesIO(written("xlsx", tmp_path, [*ROWS, ["x" * 40_000, "\x01\ud800"]])))

    assert book.sheet_names == ["Lamps   all"]
    rows = book.get_sheet_by_index(0).to_python()
    assert rows[0] == ["n", "text", "flag", "any", "'=x"]
    assert rows[1] == [1, ROWS[0][1], True, "", 1.5]
    assert rows[2] == [-5, HARMLESS, False, '["a",{"b":null}]', str(2**60)]
    assert rows[3] == [2**53, "-5", "", "{}", "inf"]
    assert rows[4][0] == "x" * 32_767
    assert list(tmp_path.iterdir()) == []


def test_a_full_worksheet_is_followed_by_another(tmp_path):
    """Each with the headings, and none with more rows than Excel can show."""
    file = io.BytesIO()
    writer = WorkbookWriter(file, sheet(tmp_path, "n"), most_rows=3)
    writer.write([[number] for number in range(5)])
    writer.close()
    book = CalamineWorkbook.from_filelike(io.BytesIO(file.getvalue()))

    assert [book.get_sheet_by_name(name).to_python() for name in book.sheet_names] == [
        [["n"], [0], [1]], [["n"], [2], [3]], [["n"], [4]],
    ]  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "=1+1", "+cmd|' /C calc'!A0", "-2+3+cmd|' /C calc'!A0", "@SUM(1,2)", "\t=1", "\r=1", "\n=1", "\ttext", " =1+1",
        "\u00a0=1", "\uff1d1+1", "-5-5", "+1e5e5", "--5", "-", "=", "+49 30 1234", "-0x10", "- 5",
    ],
)  # fmt: skip
def test_formulas_are_made_harmless(text):
    """An apostrophe stands in front of what a spreadsheet could run; nothing of the text is lost."""
    expected = text if len(text) == 1 else f"'{text}"

    assert harmless(text) == expected


@pytest.mark.parametrize(
    "text",
    ["-5", "+5", "-5.25", "-5,25", "+1e-9", "-.5", "-1E5", "", " indented", "a=b", "'=1", "5-5", "\ufeff", "\t"],
)
def test_numbers_and_plain_texts_stay(text):
    """A negative number is one, also where it is a text."""
    assert harmless(text) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("a;=1", "a;'=1", id="semicolon"),
        pytest.param('a; "@x', "a; \"'@x", id="blank and mark"),
        pytest.param("a\n=1\t\uff1d2", "a\n'=1\t'\uff1d2", id="line and tab"),
        pytest.param(";-2+3+cmd|' /C calc'!A0", ";'-2+3+cmd|' /C calc'!A0", id="sign"),
        pytest.param("a;-5;+1,5\n- one\n-5;b=c", "a;-5;+1,5\n- one\n-5;b=c", id="numbers and lists"),
    ],
)
def test_cells_of_other_separators_are_made_harmless(tmp_path, text, expected):
    """A CSV file is opened in other countries too; other formats know where a cell ends."""
    (_, row) = csv.reader(io.StringIO(written("csv", tmp_path, [[text] * 5]).decode(), newline=""))

    assert (harmless_within(text), row[0]) == (expected, expected)
    assert json.loads(written("json", tmp_path, [[text] * 5]))[0]["n"] == text


def test_json_takes_what_plugins_make(tmp_path):
    """Numbers of any size and halves of characters are no reason to fail."""
    (found,) = json.loads(written("json", tmp_path, [[2**70, "\ud800", None, 1, 2]]))

    assert (found["n"], found["text"]) == (2**70, "\ud800")


COLUMNS = (
    ExportColumn(name="pk", label="ID"),
    ExportColumn(name="user", label="User"),
    ExportColumn(name="user_detail.username", label="User"),
)


@pytest.mark.parametrize(
    ("options", "headings"),
    [
        pytest.param({}, ["pk", "user", "user_detail.username"], id="names"),
        pytest.param(
            {"export_headings": "labels"}, ["ID", "user", "user_detail.username"], id="labels, if they differ"
        ),
        pytest.param({"export_columns": " user , pk,,user"}, ["user", "pk"], id="some columns"),
        pytest.param({"export_columns": ", "}, ["pk", "user", "user_detail.username"], id="no name at all"),
    ],
)
def test_columns_are_chosen_and_called(options, headings):
    """By the options, in the order that they give."""
    job = _job(options)

    assert [column.heading for column in Exporter().plan_export(job).columns] == headings


def test_an_unknown_column_is_refused():
    """The reason names it and those that there are."""
    refusal = Exporter().plan_export(_job({"export_columns": "pk,colour"})).refusal

    assert refusal == "export_columns: there is no column 'colour'. There are: pk, user, user_detail.username."


def _job(options: dict[str, Any]) -> ExportJob:
    user = User(id=1, username="ada")
    return ExportJob(
        list_name="lamps", label="lamps", columns=COLUMNS, total=0, user=user, format="csv", options=options
    )
