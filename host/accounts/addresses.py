"""E-mail addresses: which are well formed, and how they are kept."""

from __future__ import annotations

import re
import unicodedata

from host.accounts.problems import Problem

MAX_LENGTH = 254

_LOCAL = re.compile(r"[a-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*", re.IGNORECASE | re.ASCII)
_LABEL = re.compile(r"[^\W_]([\w-]*[^\W_])?")
_MAX_LOCAL = 64
_MAX_LABEL = 63
# Four times as long as an address at most: normalising makes one character of no more than so many.
_LONGEST_NORMALIZED = 1024


def clean_email(text: str) -> str:
    """Return the address as it is kept: trimmed, in lower case and in one Unicode form.

    What looks alike is the same then: full-width letters, ligatures, the sign for kelvin. Letters that only fold alike,
    such as ß and ss, stay apart, for domains tell them apart too and mail would go astray. What is far too long for an
    address stays as it is.
    """
    # The time to put marks in order grows with the square of their number, and nothing else runs meanwhile.
    if len(text) > _LONGEST_NORMALIZED:
        return text
    # Lower case can leave a form that normalising changes again.
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).strip().lower()).strip()


def email_problems(address: str) -> list[Problem]:
    """List what is wrong with a cleaned address; an empty one is the caller's affair."""
    if len(address) > MAX_LENGTH:
        return [Problem("max_length", f"An e-mail address has at most {MAX_LENGTH} characters.")]
    if not _is_well_formed(address):
        return [Problem("invalid", "Enter a valid e-mail address, such as name@example.org.")]
    return []


def _is_well_formed(address: str) -> bool:
    local, at, domain = address.rpartition("@")
    if not at or len(local) > _MAX_LOCAL or not _LOCAL.fullmatch(local):
        return False
    labels = domain.split(".")
    return (len(labels) > 1 or domain == "localhost") and all(
        len(label) <= _MAX_LABEL and "_" not in label and _LABEL.fullmatch(label) for label in labels
    )
