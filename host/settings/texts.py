"""How the values of settings are written as text, and read again."""

from __future__ import annotations

import math
import re
import unicodedata

import orjson

from host.contract.settings import Setting, SettingValue
from host.errors import InvalidInputError

_TRUE = frozenset({"1", "true", "t", "yes", "y", "on"})
_INTEGER = re.compile(r"[+-]?[0-9]{1,19}")
_TAG = re.compile(r"</?[A-Za-z][^>]*>|<!--|<![A-Za-z]|<\?[A-Za-z]")
_BIGGEST = 2**63 - 1
_EXACT = 2**53
_CONTROLS = frozenset({"Cc", "Cs", "Zl", "Zp"})


def clean_text(text: str) -> str:
    """Trim a text and take out line breaks and other control characters.

    Raises:
        InvalidInputError: on ``value``, when the text contains HTML tags.

    """
    kept = "".join(character for character in text if unicodedata.category(character) not in _CONTROLS).strip()
    if _TAG.search(kept):
        raise InvalidInputError({"value": ["Remove the HTML tags from this value."]})
    return kept


def to_text(value: object) -> str:
    """Return a value as it is stored; ``None`` is the empty text."""
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, float) and value.is_integer() and abs(value) < _EXACT:
        value = int(value)
    if isinstance(value, int):
        # Numbers beyond this cannot be said in JSON, and much longer ones cannot be turned into text.
        return str(value) if abs(value) <= _BIGGEST else "too large"
    try:
        return orjson.dumps(value).decode() if isinstance(value, (dict, list, tuple)) else repr(value)
    except TypeError:
        return repr(value)


def convert(setting: Setting, text: str) -> SettingValue:
    """Turn a stored text into the type of its setting.

    A boolean is false unless its text says otherwise.

    Raises:
        InvalidInputError: the text is no integer or no number where the setting is one.

    """
    if setting.type == "boolean":
        return is_true(text)
    if setting.type == "integer":
        if not _INTEGER.fullmatch(text.strip()) or abs(int(text)) > _BIGGEST:
            raise InvalidInputError.of(f"{setting.name or setting.key}: give a whole number.")
        return int(text)
    if setting.type == "float":
        return _float(setting, text)
    return text


def _float(setting: Setting, text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number) or "_" in text:
        raise InvalidInputError.of(f"{setting.name or setting.key}: give a number.")
    return number


def is_true(text: str) -> bool:
    """Tell whether a text says yes."""
    return text.strip().lower() in _TRUE


def sayable(text: str) -> str:
    """Return the text, or raise where JSON cannot say it, as half of a surrogate pair."""
    text.encode()
    return text
