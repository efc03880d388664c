"""Cells of spreadsheets: texts that programs would take for formulas are made harmless, numbers stay numbers."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

import orjson

from host import Json

# The wide forms count as their narrow ones in some languages.
_FORMULA = frozenset("=+-@\uff1d\uff0b\uff0d\uff20")
_SPACE = frozenset("\t\r\n\v\f \u00a0\u3000\ufeff")
_DOUBTFUL = _FORMULA | _SPACE
_LINES = frozenset("\t\r\n")
_UNSIGNED = r"(?:[0-9]+(?:[.,][0-9]*)?|[.,][0-9]+)(?:[eE][+-]?[0-9]+)?"
_NUMBER = re.compile(f"[+-]?{_UNSIGNED}")
_INSIDE = re.compile(
    r'([;\t\r\n][ "\u00a0\u3000\ufeff]*)'
    rf'(?=[=@\uff1d\uff20]|[+\uff0b\uff0d-](?!\s|{_UNSIGNED}(?:[;\t\r\n"]|$)))'
)
_STRUCTURES = frozenset({dict, list})


def harmless(text: str) -> str:
    """Return a text that no spreadsheet takes for a formula: with an apostrophe in front where one could.

    Whoever opens a table that others have filled would otherwise run what they have written. A number such as ``-5``
    stays as it is.
    """
    # A sign that stands alone says that there is nothing.
    if text[:1] not in _DOUBTFUL or len(text) == 1 or _NUMBER.fullmatch(text):
        return text
    bare = text.lstrip("".join(_SPACE))
    return f"'{text}" if text[0] in _LINES or bare[:1] in _FORMULA else text


def harmless_within(text: str) -> str:
    """Return a text of a CSV file that is harmless also where other cells begin for whoever opens it.

    In countries where numbers have a comma, spreadsheets take semicolons for what separates cells, and the quotation
    marks that hold a text together go unnoticed. What looks like a list, ``- one``, stays as it is.
    """
    return _INSIDE.sub(r"\1'", text)


def as_text(value: Json) -> str:
    """Return a list or an object as JSON text."""
    try:
        return orjson.dumps(value, default=str).decode()
    except TypeError:  # numbers of any length, and texts that are none
        return json.dumps(value, separators=(",", ":"), default=str)


def tidy(rows: Sequence[Sequence[Json]]) -> list[Sequence[Json]]:
    """Return rows whose texts are harmless, and whose lists and objects are texts."""
    # A column at a time, since most need nothing: that takes a third of the time.
    return list(zip(*(_tidy_column(column) for column in zip(*rows, strict=True)), strict=True))


def _tidy_column(column: Sequence[Json]) -> Sequence[Json]:
    types = set(map(type, column))
    if not _STRUCTURES.isdisjoint(types):
        column = [as_text(value) if type(value) in _STRUCTURES else value for value in column]
    elif str not in types:
        return column
    # The host hands over plain texts, never a class derived from them.
    if _DOUBTFUL.isdisjoint([value[:1] for value in column if type(value) is str]):
        return column
    return [harmless(value) if type(value) is str else value for value in column]
