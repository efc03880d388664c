"""What cells mean for fields of each type."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from host import ImportField
from host.importing.values import ValueFault, cleaned, converted

CHOICE: dict[str, Any] = {"type": "choice", "choices": [("a", "First"), (2, "Second One")]}


def field(**members: Any) -> ImportField:
    """Return a field."""
    return ImportField(name="x", **members)


@pytest.mark.parametrize(
    ("members", "cell", "data", "value"),
    [
        pytest.param({}, "  a < b & c ", "a < b & c", "a < b & c", id="text"),
        pytest.param({}, "a\tb\x07\nc", "a\tb\x07\nc", "abc", id="control characters"),
        pytest.param({"multiline": True}, "a\nb", "a\nb", "a\nb", id="lines"),
        pytest.param({}, 5, 5, "5", id="number as text"),
        pytest.param({"type": "integer"}, " -7.0 ", "-7.0", -7, id="integer"),
        pytest.param({"type": "decimal"}, "1.10", "1.10", Decimal("1.10"), id="decimal"),
        pytest.param({"type": "float"}, "1e3", "1e3", 1000.0, id="float"),
        pytest.param({"type": "boolean"}, "Yes", True, True, id="yes"),
        pytest.param({"type": "boolean"}, "0", False, False, id="zero"),
        pytest.param({"type": "date"}, "2030-01-02", "2030-01-02", date(2030, 1, 2), id="ISO date"),
        pytest.param({"type": "date"}, "03/02/2030", "2030-02-03", date(2030, 2, 3), id="day first"),
        pytest.param({"type": "date"}, "02/13/2030", "2030-02-13", date(2030, 2, 13), id="month first"),
        pytest.param({"type": "date"}, "2030/01/02", "2030-01-02", date(2030, 1, 2), id="slashes"),
        pytest.param({"type": "date"}, "2030-01-02 00:00:00", "2030-01-02", date(2030, 1, 2), id="midnight"),
        pytest.param(CHOICE, "a", "a", "a", id="choice by value"),
        pytest.param(CHOICE, "second one", 2, 2, id="choice by label"),
        pytest.param({"type": "url"}, "https://a.example/", "https://a.example/", "https://a.example/", id="URL"),
        pytest.param({"type": "email"}, "a@b.example", "a@b.example", "a@b.example", id="e-mail"),
    ],
)
def test_cells_mean_values(members: dict[str, Any], cell: Any, data: Any, value: Any):
    """A row keeps what JSON can say; the plugin gets a value of the field's type."""
    found = converted(field(**members), cell)

    assert (found, type(found)) == (data, type(data))
    assert cleaned(field(**members), found) == value


@pytest.mark.parametrize(
    ("members", "cell"),
    [
        pytest.param({"max_length": 2}, "abc", id="long text"),
        pytest.param({}, "<script>x</script>", id="HTML"),
        pytest.param({}, ["a"], id="list as text"),
        pytest.param({}, True, id="truth as text"),
        pytest.param({"type": "integer"}, "1.5", id="half"),
        pytest.param({"type": "integer"}, str(2**63), id="65 bits"),
        pytest.param({"type": "integer"}, "٣", id="foreign digits"),
        pytest.param({"type": "integer", "minimum": 1}, "0", id="too small"),
        pytest.param({"type": "float"}, "nan", id="not a number"),
        pytest.param({"type": "float"}, "1e999", id="infinite"),
        pytest.param({"type": "decimal"}, "1,5", id="comma"),
        pytest.param({"type": "boolean"}, "perhaps", id="perhaps"),
        pytest.param({"type": "date"}, "31/31/2030", id="no day"),
        pytest.param({"type": "datetime"}, "9999-99-99", id="no moment"),
        pytest.param(CHOICE, "third", id="no choice"),
        pytest.param(CHOICE, "1", id="true is not one"),
        pytest.param({"type": "url"}, "javascript:alert(1)", id="script"),
        pytest.param({"type": "email"}, "a@b", id="no domain"),
    ],
)
def test_other_cells_are_refused(members: dict[str, Any], cell: Any):
    """What a field does not take is said, and nothing is made of it."""
    with pytest.raises(ValueFault):
        cleaned(field(**members), converted(field(**members), cell))
