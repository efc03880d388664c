"""The query parameter ``search``: how its text is taken apart."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from api.fields import read_boolean
from api.operations import Parameter
from api.shapes import InvalidBodyError
from api.text_fields import Text
from host.storage.listing import Search

_TERM = re.compile(r'"([^"]*)"|\'([^\']*)\'|([^\s,]+)')
_MOST_TERMS = 32
_LONGEST = 2000

PARAMETERS: Final = (
    Parameter(name="search", field=Text(required=False, blank=True, help_text="Terms that all must be found.")),
    Parameter(
        name="search_regex",
        field=Text(required=False, blank=True, help_text="With `true`, terms are regular expressions."),
    ),
    Parameter(
        name="search_whole",
        field=Text(required=False, blank=True, help_text="With `true`, terms are whole words."),
    ),
)
NOTES: Final = Parameter(
    name="search_notes",
    field=Text(required=False, blank=True, help_text="With `true`, notes are searched as well."),
)


def read_search(query: Mapping[str, str]) -> Search | None:
    """Return what is searched for; ``None`` when nothing is.

    Raises:
        InvalidBodyError: the text holds null characters or is too long.

    """
    text = query.get("search", "")
    if len(text) > _LONGEST:
        raise InvalidBodyError(faults={"search": [f"Ensure this has no more than {_LONGEST} characters."]})
    if "\0" in text:
        raise InvalidBodyError(faults={"search": ["Null characters are not allowed."]})
    terms = split_terms(text)
    if not terms:
        return None
    return Search(
        terms=terms,
        regex=_is_on(query, "search_regex"),
        whole=_is_on(query, "search_whole"),
        notes=_is_on(query, "search_notes"),
    )


def split_terms(text: str) -> list[str]:
    """Split at blanks and commas; quotes, double or single, keep a phrase together."""
    found = (next((part for part in match if part), "") for match in _TERM.findall(text))
    return [term for term in found if term][:_MOST_TERMS]


def _is_on(query: Mapping[str, str], name: str) -> bool:
    return bool(read_boolean(query.get(name, "")))
