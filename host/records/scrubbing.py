"""What must not stand in an error report: secrets, and characters that no database can hold."""

from __future__ import annotations

import re
from typing import Final

_MASK: Final = "***"
_NAMES: Final = (
    r"passw(?:or)?d|passphrase|passcode|pwd|secret|token|credential|api[_-]?key|access[_-]?key|private[_-]?key|"
    r"secret[_-]?key|signing[_-]?key|session[_-]?(?:id|key)|sessionid|otp|totp|sesame|signature|"
    r"(?:auth|login|recovery|backup|verification)[_-]?codes?"
)
# How a name is followed by its value: `a=b`, `a: b`, `"a": "b"`, `\"a\": \"b\"`, `a%3Db`, `('a', 'b')`.
_JOINED: Final = r"(?:\\{0,4}['\"]?\s{0,9}(?::=|=>|[:=]|%3[AaDd])\s{0,9}|\\{0,4}['\"]\s{0,9},\s{0,9}(?=b?\\{0,4}['\"]))"
_VALUE: Final = (
    r"(?:[bru]{0,2}(?P<quote>\\{0,4}['\"])(?:(?!(?<!\\)(?P=quote))(?:\\.|.))*(?:(?P=quote))?"
    r"|\[[^\]\n]*\]?|\{[^}\n]*\}?|\([^)\n]*\)?"
    r"|[^\s'\",;&(){}\[\]\\]+)"
)
# Every repetition has an end of its own or a bound, so that no text takes long to look through.
_SECRETS: Final[tuple[tuple[re.Pattern[str], str], ...]] = (
    # Private keys, also those that were cut off at either end.
    (re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [^\n]{0,60}|\Z)"), _MASK),
    (re.compile(r"\A[^-]*(?:-(?!----)[^-]*)*-----END [A-Z0-9 ]{0,40}KEY(?: BLOCK)?-----"), _MASK),
    (
        re.compile(r"(?i)\b((?:proxy-)?authorization|(?:set-)?cookie)(\\{0,4}['\"]?\s{0,9}[:=,]\s{0,9}).+"),
        rf"\1\2{_MASK}",
    ),
    (
        re.compile(
            r"(?i)\b(basic|bearer|token|digest|negotiate|apikey)( {1,4})"
            r"(?=[^\s'\"]{0,300}?(?:[0-9=]|(?-i:[a-z][A-Z])))[\w+/.~=-]{8,}"
        ),
        rf"\1\2{_MASK}",
    ),
    (re.compile(r"\bply-[0-9a-f]{8,}(?:-\d{8})?"), "ply-***"),
    (re.compile(r"(?<![\w-])eyJ[\w-]{5,4000}\.[\w-]{5,8000}(?:\.[\w-]{0,2000}){0,3}"), _MASK),
    (re.compile(r"\b(otpauth(?:-migration)?://)[^\s'\"<>]+"), rf"\1{_MASK}"),
    (
        re.compile(
            r"\b(?:gh[pousr]_\w{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|pypi-[\w-]{30,}|[rs]k_(?:live|test)_\w{10,}"
            r"|xox[a-z]-[\w-]{10,}|AKIA[0-9A-Z]{16}|AIza[\w-]{30,}|npm_\w{30,}|hf_\w{30,})"
        ),
        _MASK,
    ),
    (re.compile(r"\$(argon2(?:id?|d)|2[aby]|scrypt|pbkdf2-sha\d+)\$[^\s'\"]+"), rf"$\1${_MASK}"),
    # What stands before the host of an address; a password may hold what should have been encoded in it.
    (re.compile(r"(://)[^\s/?#'\"<>]{1,500}@"), rf"\1{_MASK}@"),
    (re.compile(r"(://)[^\s/@:'\"<>]{0,200}:(?!\d{1,5}[/?#])[^\s@'\"<>]{1,300}@"), rf"\1{_MASK}@"),
    (re.compile(r"(?i)([?&](?:code|key|sig|state|auth|jwt|ticket|nonce)=)[^&\s#'\"]+"), rf"\1{_MASK}"),
    (re.compile(rf"(?i)((?:{_NAMES})[\w.-]{{0,60}})({_JOINED}){_VALUE}"), rf"\1\2{_MASK}"),
)


def scrub(text: str) -> str:
    """Return the text without what looks like a password, token, cookie, key or credential in a URL."""
    for pattern, replacement in _SECRETS:
        text = pattern.sub(replacement, text)
    return storable(text)


def storable(text: str) -> str:
    """Return the text with other spellings for what neither a database nor an answer can carry."""
    # Half of a surrogate pair is no character.
    return text.replace("\x00", "\\0").encode("utf-8", "backslashreplace").decode("utf-8")


def scrub_within(text: str, most: int) -> str:
    """Return the scrubbed text with at most so many characters: its beginning and its end.

    What is much longer is cut before it is looked through, too, since looking takes time.
    """
    return shorten(scrub(shorten(text, 4 * most)), most)


def shorten(text: str, most: int) -> str:
    """Return the beginning and the last lines of a text that has more than so many characters."""
    if len(text) <= most:
        return text
    note = f"\n[{len(text) - most} characters or more are left out]\n"
    half = (most - len(note)) // 2
    # Where a line is cut, the name of a secret can be lost and its value remain: the end begins with a whole line.
    _, _, tail = text[-half:].partition("\n")
    return text[: most - len(note) - len(tail)] + note + tail
