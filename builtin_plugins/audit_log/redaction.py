"""Keep secrets and oversized values out of the log.

Events should carry no secrets, but any plugin may emit what it likes, and a log is read by more people and kept for
longer than what it tells of.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from host import Json

HIDDEN = "***"
_LONGEST_TEXT = 1000
_MOST_MEMBERS = 100
_DEEPEST = 6

_WORD_LIMIT = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[^A-Za-z0-9]+")
_SECRET_NAME = re.compile(
    r"(^|_)("
    r"password\d?|passwd|pwd|passphrase|passcode|secrets?|tokens?|jwt|authorization|cookies?|credentials?|otp|totp|pin"
    r"|(api|private|secret|access|session|signing|encryption)_?key|session_?id|csrf"
    r"|(recovery|backup|verification|reset|mfa|login|security)_?codes?"
    r")($|_)"
)
_SECRET_TEXT = re.compile(
    r"\bply-[0-9a-f]{40}-\d{8}\b"  # an API token of the host
    r"|\b(?:Bearer|Basic|Token)\s+[A-Za-z0-9._~+/=-]{8,}"
    r"|\beyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*"  # a JSON web token
    r"|(?<=://)[^\s/:@]*:[^\s/@]+(?=@)"  # the password of a URL
)


def redacted(data: Mapping[str, Json], *, depth: int = 0) -> dict[str, Json]:
    """Return a copy in which secrets are replaced by ``***`` and what is too large is cut."""
    return {
        str(name): HIDDEN if _names_a_secret(str(name)) else _redacted_value(value, depth)
        for name, value in list(data.items())[:_MOST_MEMBERS]
    }


def _redacted_value(value: Json, depth: int) -> Json:
    if isinstance(value, str):
        return _SECRET_TEXT.sub(HIDDEN, value)[:_LONGEST_TEXT]
    if value is None or isinstance(value, bool | int | float):
        return value
    if depth == _DEEPEST:
        return "…"
    if isinstance(value, Mapping):
        return redacted(value, depth=depth + 1)
    return [_redacted_value(item, depth + 1) for item in value[:_MOST_MEMBERS]]


def _names_a_secret(name: str) -> bool:
    return _SECRET_NAME.search(_WORD_LIMIT.sub("_", name).lower()) is not None
