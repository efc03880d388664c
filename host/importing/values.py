"""The values of rows: what a cell means, and whether a field takes it."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit

from host.contract.imports import ImportField

INT64_MAX: Final = 2**63 - 1
_TRUE: Final = frozenset({"true", "1", "yes", "on", "t", "y"})
_FALSE: Final = frozenset({"false", "0", "no", "off", "f", "n"})
_DATES: Final = ("%Y-%m-%d", "%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d")
_INTEGER: Final = re.compile(r"[+-]?\d{1,30}(?:\.0{1,10})?", re.ASCII)
_NUMBER: Final = re.compile(r"[+-]?(?:\d{1,60}\.?\d{0,60}|\.\d{1,60})(?:[eE][+-]?\d{1,3})?", re.ASCII)
_CONTROL: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_CONTROL_IN_LONG_TEXT: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff]")
# As the interface refuses it in every other text.
_HTML: Final = re.compile(r"<[a-zA-Z/!?][^<>]*>|<[a-zA-Z][\w:-]*\s+[\w:-]+\s*=", re.ASCII)
_EMAIL: Final = re.compile(
    r"[^@\s<>(),;:\"\[\]\\]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?\.[A-Za-z]{2,63}"
)
_SCHEMES: Final = frozenset({"http", "https", "ftp", "ftps"})


_Number = TypeVar("_Number", int, Decimal)


class ValueFault(Exception):  # noqa: N818 - it says what is wrong with a value, nothing went wrong
    """A field does not take a value; the text says why."""


def is_empty(value: object) -> bool:
    """Tell whether a value says nothing."""
    return value is None or (isinstance(value, str) and not value.strip())


def converted(field: ImportField, value: Any) -> Any:
    """Return what a value means for a field, as JSON; one that means nothing stays as it is, and is refused later."""
    if field.type == "boolean":
        truth = read_boolean(value)
        return value if truth is None else truth
    if field.type == "date" and isinstance(value, str):
        day = _read_date(value)
        return value if day is None else day.isoformat()
    if field.type == "choice":
        return _chosen(field, value)
    return value.strip() if isinstance(value, str) else value


def cleaned(field: ImportField, value: Any) -> Any:
    """Return a converted value as one of the field's type.

    Raises:
        ValueFault: the field does not take it.

    """
    return _CLEANERS[field.type](field, value)


def read_boolean(value: object) -> bool | None:
    """Return the truth value that a JSON value or a word says, or ``None``."""
    if isinstance(value, bool):
        return value
    word = str(value).strip().lower() if isinstance(value, str | int) else ""
    return True if word in _TRUE else False if word in _FALSE else None


def read_id(value: object) -> int | None:
    """Return the id that a value says, or ``None``."""
    number = _read_integer(value)
    return number if number is not None and 0 <= number <= INT64_MAX else None


def _read_integer(value: object) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    if isinstance(value, str) and _INTEGER.fullmatch(value.strip()):
        return int(value.strip().partition(".")[0])
    return None


def _read_date(text: str) -> date | None:
    text = text.strip()
    if len(text) > len("2024-01-02") and _is_midnight(text):
        text = text[: len("2024-01-02")]
    for form in _DATES:
        try:
            return datetime.strptime(text, form).date()  # noqa: DTZ007 - a day has no zone
        except ValueError:
            continue
    return None


def _is_midnight(text: str) -> bool:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return False
    return (moment.hour, moment.minute, moment.second) == (0, 0, 0)


def _chosen(field: ImportField, value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, str | int):
        return value
    text = str(value).strip()
    for choice, _ in field.choices:
        if text == str(choice):
            return choice
    for choice, label in field.choices:
        if text.casefold() == label.strip().casefold():
            return choice
    return value


def _text(field: ImportField, value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueFault("Not a valid string.")
    text = (_CONTROL_IN_LONG_TEXT if field.multiline else _CONTROL).sub("", str(value)).strip()
    if _HTML.search(text):
        raise ValueFault("Remove HTML tags from this value.")
    if field.max_length is not None and len(text) > field.max_length:
        raise ValueFault(f"Ensure this field has no more than {field.max_length} characters.")
    return text


def _email(field: ImportField, value: Any) -> str:
    text = _text(field, value)
    if not _EMAIL.fullmatch(text):
        raise ValueFault("Enter a valid email address.")
    return text


def _url(field: ImportField, value: Any) -> str:
    text = _text(field, value)
    try:
        parts = urlsplit(text)
        is_right = parts.scheme.lower() in _SCHEMES and bool(parts.hostname) and " " not in text
    except ValueError:
        is_right = False
    if not is_right:
        raise ValueFault("Enter a valid URL.")
    return text


def _integer(field: ImportField, value: Any) -> int:
    number = _read_integer(value)
    if number is None:
        raise ValueFault("A valid integer is required.")
    return _within(field, number, minimum=-INT64_MAX - 1, maximum=INT64_MAX)


def _decimal(field: ImportField, value: Any) -> Decimal:
    text = str(value).strip()
    if isinstance(value, bool) or not isinstance(value, str | int | float) or not _NUMBER.fullmatch(text):
        raise ValueFault("A valid number is required.")
    try:
        return _within(field, Decimal(text))
    except InvalidOperation:
        raise ValueFault("A valid number is required.") from None


def _float(field: ImportField, value: Any) -> float:
    number = float(_decimal(field, value))
    if not math.isfinite(number):
        raise ValueFault("A valid number is required.")
    return number


def _within(field: ImportField, number: _Number, minimum: int | None = None, maximum: int | None = None) -> _Number:
    least = field.minimum if field.minimum is not None else minimum
    most = field.maximum if field.maximum is not None else maximum
    if least is not None and number < least:
        raise ValueFault(f"Ensure this value is greater than or equal to {least}.")
    if most is not None and number > most:
        raise ValueFault(f"Ensure this value is less than or equal to {most}.")
    return number


def _boolean(_field: ImportField, value: Any) -> bool:
    truth = read_boolean(value)
    if truth is None:
        raise ValueFault("Must be a valid boolean.")
    return truth


def _choice(field: ImportField, value: Any) -> str | int:
    for choice, _ in field.choices:
        if value == choice and type(value) is type(choice):
            return choice
    raise ValueFault(f'"{str(value)[:100]}" is not a valid choice.')


def _date(_field: ImportField, value: Any) -> date:
    day = _read_date(value) if isinstance(value, str) else None
    if day is None:
        raise ValueFault("Date has wrong format. Use YYYY-MM-DD, DD/MM/YYYY, MM/DD/YYYY or YYYY/MM/DD.")
    return day


def _datetime(_field: ImportField, value: Any) -> datetime:
    try:
        # Without a zone it is the server's time.
        return datetime.fromisoformat(value.strip()).astimezone(UTC)
    except (AttributeError, ValueError, OverflowError, OSError):
        raise ValueFault("Datetime has wrong format. Use YYYY-MM-DD hh:mm[:ss][+HH:MM|-HH:MM|Z].") from None


def _reference(field: ImportField, value: Any) -> int:
    found = read_id(value) if isinstance(value, int) else None
    if found is None:
        names = ", ".join(("id", *field.lookup_fields))
        raise ValueFault(f'"{str(value)[:100]}" names no {field.model}; looked up by {names}.')
    return found


_CLEANERS: Final[Mapping[str, Callable[[ImportField, Any], Any]]] = {
    "string": _text,
    "integer": _integer,
    "float": _float,
    "decimal": _decimal,
    "boolean": _boolean,
    "choice": _choice,
    "date": _date,
    "datetime": _datetime,
    "url": _url,
    "email": _email,
    "related field": _reference,
}
