"""Searching: conditions for search terms, and regular expressions that cannot stop the host."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from typing import Any

from sqlalchemy import Connection, Text, and_, cast, or_
from sqlalchemy.sql.elements import ColumnElement

from host.errors import InvalidInputError
from host.storage.listing import Search

_LONGEST_PATTERN = 200
_SECONDS = 2.0
_SPECIAL = re.compile(r"\\[1-9]|\(\?")
# By how many parts of the pattern can repeat: characters looked at, and in how many ways the rest may match. The time
# is the product of all.
_CHARACTERS = {0: 100_000, 1: 4_000, 2: 300}
_WAYS = {0: 256, 1: 4, 2: 2}
_ONE_WAY = frozenset({"LITERAL", "NOT_LITERAL", "ANY", "IN", "AT", "CATEGORY"})
# Only the parsed pattern tells what can repeat what, and the library offers no other way to it.
_PARSER: Any = import_module("re._parser")


def search_condition(search: Search, columns: Sequence[Any]) -> ColumnElement[bool]:
    """Return the condition that every term is found in one of the columns.

    Raises:
        InvalidInputError: a term is no regular expression, or one that could take too long.

    """
    return and_(*(or_(*(_found(column, term, search) for column in columns)) for term in search.terms))


def _found(column: Any, term: str, search: Search) -> ColumnElement[bool]:
    text: ColumnElement[str] = cast(column, Text)
    if search.regex:
        check_pattern(term)
        return text.regexp_match(f"(?i){term}")
    if search.whole:
        return text.regexp_match(rf"(?i)(?:^|\W){re.escape(term)}(?:$|\W)")
    return text.icontains(term, autoescape=True)


def check_pattern(pattern: str) -> int:
    """Return how many parts of a pattern can repeat.

    Raises:
        InvalidInputError: the pattern is wrong, or could take too long.

    """
    try:
        re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        raise InvalidInputError({"search": [f"'{pattern}' is not a regular expression: {error}."]}) from None
    if _SPECIAL.search(pattern):
        raise InvalidInputError({"search": ["Groups with '?' and back references cannot be used in a search."]})
    try:
        repeats, ways = _weight(_PARSER.parse(pattern))
    except _TooLongError:
        repeats, ways = len(_CHARACTERS), 1
    if len(pattern) > _LONGEST_PATTERN or repeats not in _CHARACTERS or ways > _WAYS[repeats]:
        raise InvalidInputError({"search": ["This regular expression could take too long. Use fewer repetitions."]})
    return repeats


class _TooLongError(Exception):
    """The time for a pattern grows exponentially with the text."""


def _weight(items: Iterable[Any]) -> tuple[int, int]:
    """Return how many parts repeat, and in how many ways the rest can match at one place."""
    repeats, ways = 0, 1
    for code, argument in items:
        if str(code) not in _ONE_WAY:
            more, times = _weight_of(str(code), argument)
            repeats, ways = repeats + more, ways * times
    return repeats, ways


def _weight_of(code: str, argument: Any) -> tuple[int, int]:
    match code:
        case "SUBPATTERN":
            return _weight(argument[3])
        case "BRANCH":
            weights = [_weight(alternative) for alternative in argument[1]]
            return max(repeats for repeats, _ in weights), sum(ways for _, ways in weights)
        case "MAX_REPEAT" | "MIN_REPEAT":
            least, most, body = argument
            repeats, ways = _weight(body)
            if most <= 1:
                return repeats, ways + (least == 0)
            if repeats == 0 and ways == 1:
                return 1, 1
        case _:
            pass
    raise _TooLongError


def bound_patterns(connection: Connection) -> None:
    """Limit the time that regular expressions of the next statement may take."""
    if connection.dialect.name == "sqlite":
        driver: Any = connection.connection.driver_connection
        driver.create_function("regexp", 2, _bounded_regexp(time.monotonic() + _SECONDS))
    else:
        connection.exec_driver_sql(f"SET LOCAL statement_timeout = {int(_SECONDS * 1000)}")


def _bounded_regexp(deadline: float) -> Callable[[str, str | None], bool | None]:
    compiled: dict[str, tuple[re.Pattern[str], int]] = {}

    def regexp(pattern: str, text: str | None) -> bool | None:
        if text is None:
            return None
        if time.monotonic() > deadline:
            msg = "the search took too long"
            raise TimeoutError(msg)
        if pattern not in compiled:
            repeats, _ = _weight(_PARSER.parse(pattern))
            compiled[pattern] = (re.compile(pattern), _CHARACTERS.get(repeats, min(_CHARACTERS.values())))
        expression, longest = compiled[pattern]
        return expression.search(text[:longest]) is not None

    return regexp
