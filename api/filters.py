"""Filters of lists: which values each kind accepts, and what happens with others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from api.choice_field import Choice
from api.fields import INT64_MAX, INT64_MIN, Boolean, Field, Integer, read_integer
from api.operations import Parameter
from api.shapes import InvalidBodyError
from api.text_fields import Text
from host.storage.listing import Filter

# Narrower than booleans in bodies: everything else counts as if the filter were absent.
_BOOLEANS: Final[Mapping[str, bool]] = {
    "true": True, "True": True, "1": True, "false": False, "False": False, "0": False,
}  # fmt: skip

Exists = Callable[[Any, Any], bool]
"""Tells whether a column holds a value somewhere."""


def read_filters(query: Mapping[str, str], filters: Mapping[str, Filter], exists: Exists) -> dict[str, Any]:
    """Return the filters that a query asks for, with good values.

    Raises:
        InvalidBodyError: naming every filter with a bad value.

    """
    wanted: dict[str, Any] = {}
    faults: dict[str, Any] = {}
    for name, text in query.items():
        known = filters.get(name)
        if known is None:
            continue
        if known.kind == "boolean":
            if text in _BOOLEANS:
                wanted[name] = _BOOLEANS[text]
            continue
        fault, value = _read(known, text, exists)
        if fault:
            faults[name] = [fault]
        elif value is not None:
            wanted[name] = value
    if faults:
        raise InvalidBodyError(faults=faults)
    return wanted


def _read(known: Filter, text: str, exists: Exists) -> tuple[str, Any]:
    if known.kind == "text":
        return ("Null characters are not allowed.", None) if "\0" in text else ("", text)
    if text == "":
        return "", None
    if known.kind == "choice":
        value = next((choice for choice in known.choices if str(choice) == text), None)
        return ("" if value is not None else f"Select a valid choice. {text} is not one of them.", value)
    number = read_integer(text)
    if number is None or not INT64_MIN <= number <= INT64_MAX:
        return "Enter a number.", None
    if known.kind == "reference" and not exists(known.target, number):
        return "Select a valid choice. That choice is not one of the available choices.", None
    return "", number


def parameters(filters: Mapping[str, Filter]) -> list[Parameter]:
    """Describe filters as query parameters."""
    return [Parameter(name=name, field=_field(known), lenient=True) for name, known in filters.items()]


def _field(known: Filter) -> Field:
    match known.kind:
        case "boolean":
            return Boolean(required=False, help_text=known.help_text)
        case "choice":
            pairs = [(value, str(value)) for value in known.choices]
            return Choice(choices=pairs, required=False, help_text=known.help_text)
        case "text":
            return Text(required=False, blank=True, help_text=known.help_text)
        case "number" | "reference":
            return Integer(required=False, help_text=known.help_text)
