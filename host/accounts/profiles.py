"""The profile of an account: what it says of itself, and how its screens look."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import orjson

from host.accounts.problems import Problem

PROFILE_TYPES = ("bot", "internal", "external", "guest")

DEFAULTS: Mapping[str, Any] = MappingProxyType(
    {
        "language": None,
        "theme": None,
        "widgets": None,
        "displayname": None,
        "position": None,
        "status": None,
        "location": None,
        "active": True,
        "contact": None,
        "type": "internal",
        "organisation": None,
    }
)
"""The members that are kept as they are; ``primary_group`` is a column of its own."""

_LENGTHS = {"displayname": 255, "position": 255, "status": 2000, "location": 2000, "contact": 255, "organisation": 255}
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}([_-][A-Za-z0-9]{1,8}){0,2}")
_MAX_OBJECT = 65_536
_NO_TEXT = re.compile("[\x00\ud800-\udfff]")
_JSON_NULL = re.compile(rb"(?<!\\)(\\\\)*\\u0000")


def show_profile(stored: Mapping[str, Any] | None, primary_group: int | None) -> dict[str, Any]:
    """Return every member of a profile, with the default where the account chose nothing."""
    chosen = stored or {}
    return {**{name: chosen.get(name, default) for name, default in DEFAULTS.items()}, "primary_group": primary_group}


def check_profile(values: Mapping[str, object], problems: dict[str, list[Problem]]) -> dict[str, Any]:
    """Check the members of a profile that are given; others are ignored.

    Args:
        values: the input.
        problems: what is wrong is added here, under the name of the member.

    Returns:
        The members that are right.

    """
    checked: dict[str, Any] = {}
    for name in DEFAULTS:
        if name not in values:
            continue
        value = values[name]
        problem = _check_member(name, value)
        if problem is not None:
            problems.setdefault(name, []).append(problem)
        else:
            checked[name] = value.strip() if isinstance(value, str) else value
    return checked


def _check_member(name: str, value: object) -> Problem | None:
    if name == "active":
        return None if isinstance(value, bool) else Problem("invalid", "Say true or false.")
    if name == "type":
        choices = ", ".join(PROFILE_TYPES)
        return None if value in PROFILE_TYPES else Problem("invalid_choice", f"Choose one of {choices}.")
    if value is None:
        return None
    return _check_object(value) if name in {"theme", "widgets"} else _check_text(name, value)


def _check_text(name: str, value: object) -> Problem | None:
    if not isinstance(value, str) or _NO_TEXT.search(value):
        return Problem("invalid", "Enter a text.")
    if name == "language":
        matches = value == "" or _LANGUAGE.fullmatch(value)
        return None if matches else Problem("invalid", "Enter a language code, such as en or de-at.")
    longest = _LENGTHS[name]
    if len(value) > longest:
        return Problem("max_length", f"Enter at most {longest} characters; this has {len(value)}.")
    return None


def _check_object(value: object) -> Problem | None:
    if not isinstance(value, Mapping):
        return Problem("invalid", "Give a JSON object.")
    try:
        text = orjson.dumps(value)
    except TypeError:
        return Problem("invalid", "Give a JSON object.")
    if len(text) > _MAX_OBJECT:
        return Problem("max_length", f"The object is larger than {_MAX_OBJECT // 1024} KiB.")
    if _JSON_NULL.search(text):
        return Problem("null_characters_not_allowed", "The object may not hold null characters.")
    return None
