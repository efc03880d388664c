"""Usernames: which are allowed, and which two are the same."""

from __future__ import annotations

import re
import unicodedata

from host.accounts.problems import Problem

MAX_LENGTH = 150
# Case folding makes three characters of one at most.
MAX_FOLDED_LENGTH = 3 * MAX_LENGTH
# Normalising makes one character of four at most.
LONGEST_NORMALIZED = 1024

_ALLOWED = re.compile(r"[\w.@+-]+")


def clean_username(text: str) -> str:
    """Return the name as it is kept: trimmed, in one Unicode form, its case preserved.

    What is far too long for a name stays as it is.
    """
    # The time to put marks in order grows with the square of their number, and nothing else runs meanwhile.
    return unicodedata.normalize("NFKC", text).strip() if len(text) <= LONGEST_NORMALIZED else text


def fold_username(text: str) -> str:
    """Return what two spellings of the same username have in common."""
    if len(text) > LONGEST_NORMALIZED:
        return text
    folded = clean_username(text)
    # Folding can leave a form that normalising changes again, and the other way round; it settles in a few rounds.
    while (again := unicodedata.normalize("NFKC", folded.casefold())) != folded:
        folded = again
    return folded


def username_problems(name: str) -> list[Problem]:
    """List what is wrong with a cleaned username, apart from being taken."""
    if not name:
        return [Problem("required", "Enter a username.")]
    problems = []
    if not _ALLOWED.fullmatch(name):
        problems.append(Problem("invalid", "A username may hold letters, digits and the characters @ . + - _ only."))
    if len(name) > MAX_LENGTH or len(fold_username(name)) > MAX_FOLDED_LENGTH:
        problems.append(Problem("max_length", f"A username has at most {MAX_LENGTH} characters; this has {len(name)}."))
    return problems


def username_taken(name: str) -> Problem:
    """Say that somebody else has the name."""
    return Problem("username_taken", f"The username '{name}' is taken. Choose another one.")
