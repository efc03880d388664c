"""Batches: many things, some at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

T = TypeVar("T")


def in_batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Iterate over the items in lists of at most so many."""
    rest = iter(items)
    while batch := list(islice(rest, size)):
        yield batch
