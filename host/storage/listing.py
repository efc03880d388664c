"""Listings: what lists of one record show, and by what they can be filtered, ordered and searched."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from sqlalchemy import FromClause, Table
from sqlalchemy.sql.elements import ColumnElement

from host.contract.values import User

Kind: TypeAlias = Literal["boolean", "number", "choice", "reference", "text"]
Column: TypeAlias = Any
"""A column or an expression; SQLModel's attributes are typed as the values they hold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """One way to choose rows.

    ``where`` makes the condition for a value. The kind says which values are good and what happens with others:
    see :mod:`api.filters`.
    """

    kind: Kind
    where: Callable[[Any], ColumnElement[bool]]
    choices: Sequence[str | int] = ()
    target: Column = None
    """Key column in which the value of a reference must stand."""
    help_text: str = ""


def by_boolean(column: Column, help_text: str = "") -> Filter:
    """Filter by a column that is true or false."""
    return Filter(kind="boolean", where=column.is_, help_text=help_text)


def by_number(column: Column, help_text: str = "") -> Filter:
    """Filter by a column that holds a whole number."""
    return Filter(kind="number", where=lambda value: column == value, help_text=help_text)


def by_choice(column: Column, choices: Sequence[str | int], help_text: str = "") -> Filter:
    """Filter by a column that holds one of some values."""
    return Filter(kind="choice", where=lambda value: column == value, choices=choices, help_text=help_text)


def by_reference(column: Column, target: Column, help_text: str = "") -> Filter:
    """Filter by a column that names another record; ``target`` is that record's key column."""
    return Filter(kind="reference", where=lambda value: column == value, target=target, help_text=help_text)


def by_text(column: Column, help_text: str = "") -> Filter:
    """Filter by a column that holds exactly this text."""
    return Filter(kind="text", where=lambda value: column == value, help_text=help_text)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Listing:
    """How one record is read.

    ``members`` maps each member of the answer to its column. A dot puts a member into a nested object:
    ``user_detail.pk`` and ``user_detail.username`` make ``user_detail``, which is ``null`` where its ``pk`` is.
    """

    table: Table
    key: Column
    """The primary key: last criterion of every order, and what bulk deletes name."""
    members: Mapping[str, Column]
    source: FromClause | None = None
    """Joins; without them the table alone."""
    filters: Mapping[str, Filter] = field(default_factory=dict)
    ordering: Mapping[str, Column] = field(default_factory=dict)
    default_order: Sequence[str] = ()
    """As in a query: ``-active``. Names that ``ordering`` does not offer may stand here by ``members``."""
    search: Sequence[Column] = ()
    notes: Column = None
    """Searched as well where ``search_notes`` is asked for."""
    view: Callable[[User | None], ColumnElement[bool] | None] | None = None
    """Restricts the rows to those that a caller may see; ``None`` for all."""

    def order(self, wanted: Sequence[str]) -> tuple[str, ...]:
        """Return by which names to order: those that are offered, else the default, else the primary key."""
        names: dict[str, str] = {}
        for name in wanted:
            plain = name.removeprefix("-")
            if plain in self.ordering:
                names.setdefault(plain, name)
        return tuple(names.values()) or tuple(self.default_order) or ("pk",)

    def condition(self, user: User | None) -> Sequence[ColumnElement[bool]]:
        """Return the condition of the caller's view."""
        condition = None if self.view is None else self.view(user)
        return () if condition is None else (condition,)


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """What is searched for; each term must be found in at least one column."""

    terms: Sequence[str]
    regex: bool = False
    whole: bool = False
    notes: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """What a caller wants to see of a listing; ``user`` is the caller."""

    user: User | None = None
    filters: Mapping[str, Any] = field(default_factory=dict)
    """Name of a filter → good value."""
    order: Sequence[str] = ()
    """Names with an optional ``-``; those that the listing does not offer are dropped."""
    search: Search | None = None
    limit: int | None = None
    offset: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Which rows a bulk operation means; conditions that are given are combined by AND."""

    user: User | None = None
    keys: Sequence[Any] | None = None
    equal: Mapping[str, Any] = field(default_factory=dict)
    """Member of the answer → value."""
