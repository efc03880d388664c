"""Column mappings: which column of the file each field is taken from, guessed and checked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from host.importing.targets import Target, described
from host.importing.values import is_empty


def guessed(available: Mapping[str, Any], overridden: Mapping[str, Any], columns: Sequence[str]) -> dict[str, str]:
    """Return field → column, ``""`` for none, for each field that is not overridden.

    The column is the first unused one that is called like the field, its label or its help text; else one that is
    called so in other letters, capital or small.
    """
    free = dict.fromkeys(columns)
    found: dict[str, str] = {}
    for name, info in available.items():
        if name in overridden:
            continue
        wanted = [text for text in (name, info.get("label", ""), info.get("help_text", "")) if text]
        folded = {text.casefold() for text in wanted}
        exact = (column for column in free if column in wanted)
        column = next(exact, None) or next((one for one in free if one.casefold() in folded), "")
        found[name] = column
        free.pop(column, None)
    return found


def mapping_rows(
    available: Mapping[str, Any], overridden: Mapping[str, Any], columns: Sequence[str]
) -> Iterator[dict[str, Any]]:
    """Iterate over the rows of new column mappings."""
    for name, column in guessed(available, overridden, columns).items():
        info = available[name]
        yield {
            "field": name,
            "column": column,
            "label": info.get("label", name),
            "description": info.get("help_text", ""),
            "lookup_field": None,
        }


def defaults_of(target: Target) -> dict[str, Any]:
    """Return the defaults that the target itself has, by field."""
    return {field.name: field.default for field in target.spec.fields if field.default is not None}


def missing_fields(
    target: Target,
    *,
    update: bool,
    columns: Mapping[str, str],
    defaults: Mapping[str, Any],
    overrides: Mapping[str, Any],
) -> list[str]:
    """Return the required fields that nothing fills: no override, no default that says something, and no column."""
    required = [name for name, info in described(target, update=update).items() if info["required"]]
    return [
        name
        for name in required
        if name not in overrides and not columns.get(name) and not _says_something(defaults.get(name))
    ]


def _says_something(value: object) -> bool:
    return not is_empty(value) and bool(value)
