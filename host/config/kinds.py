"""Kinds of values that settings share."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator


def _split(value: object) -> object:
    if isinstance(value, str):
        return [part.strip() for part in value.split(",") if part.strip()]
    return value


Names = Annotated[tuple[str, ...], BeforeValidator(_split)]
"""A list; in the environment separated by commas."""
