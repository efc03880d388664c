"""Sources: the lists that can be exported, as whoever shows them offers them to the exports."""

from __future__ import annotations

from collections.abc import Collection, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from host.contract.exports import ExportColumn
from host.contract.values import User


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """The rows of a list that one person may see and wants."""

    columns: Sequence[ExportColumn]
    """All that rows can have; those of nested objects have a dot in their name."""
    optional: Collection[str]
    """Members that only some callers get to see: their columns are left out where no row has them."""
    total: int
    """How many rows there were when they were counted."""
    batches: Generator[Sequence[Mapping[str, Any]]]
    """The rows as the list answers them, read while they are taken; close it in the end."""


class Source(Protocol):
    """A list that can be exported."""

    @property
    def name(self) -> str:
        """The same for ever: tasks that wait bear it."""

    @property
    def label(self) -> str:
        """As people call it."""

    def may_read(self, user: User) -> bool:
        """Tell whether an account may see the list at all."""

    def open(self, user: User, query: str) -> Reading:
        """Begin to read the list on behalf of an account.

        Args:
            user: who wants it.
            query: the query of the list's address, with its filters, search and ordering.

        Raises:
            NotAllowedError: the account may not see the list.
            InvalidInputError: a filter or the search has a bad value.

        """
