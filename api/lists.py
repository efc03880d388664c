"""Lists: read what a query asks for, as columns, and encode it without objects in between."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from typing import Any, TypeAlias

from starlette.responses import Response

from api.answers import Json, JsonArray
from api.filters import read_filters
from api.pages import envelope, read_page
from api.request import ApiRequest
from api.search import read_search
from api.shapes import Shape
from host.storage.listing import Listing, Query
from host.storage.rows import Rows

Members: TypeAlias = list[dict[str, Any]]
Finish: TypeAlias = Callable[[ApiRequest, Members], None]

_STREAMED = 5000
"""Longer arrays are sent while they are read."""


class Encoder:
    """Makes answers of rows: names the columns, encodes what JSON cannot say, nests what has a dot in its name."""

    def __init__(self, listing: Listing, shape: Shape) -> None:
        self._names = tuple(listing.members)
        self._encoders = [
            (name, field.encode)
            for name, field in shape.fields.items()
            if name in listing.members and field.encode is not None
        ]
        groups: dict[str, list[tuple[str, str]]] = {}
        for name in self._names:
            group, dot, member = name.partition(".")
            if dot:
                groups.setdefault(group, []).append((member, name))
        self._groups = groups

    def __call__(self, rows: Sequence[Any]) -> Members:
        """Return the rows as the objects of an answer."""
        names = self._names
        found = [dict(zip(names, row, strict=True)) for row in rows]
        for name, encode in self._encoders:
            for record in found:
                record[name] = encode(record[name])
        for group, members in self._groups.items():
            for record in found:
                nested = {member: record.pop(name) for member, name in members}
                record[group] = None if nested.get("pk") is None else nested
        return found


def read_query(request: ApiRequest, listing: Listing, rows: Rows) -> Query:
    """Return what the query parameters ask for.

    Raises:
        InvalidBodyError: a filter or the search has a bad value.

    """
    query = request.query
    if not query:
        return Query(user=request.user)
    limit, offset = read_page(request)
    ordering = query.get("ordering", "")
    return Query(
        user=request.user,
        filters=read_filters(query, listing.filters, rows.exists) if listing.filters else {},
        order=[name.strip() for name in ordering.split(",")] if ordering else (),
        search=read_search(query) if listing.search else None,
        limit=limit,
        offset=offset,
    )


def answer_list(request: ApiRequest, listing: Listing, encoder: Encoder, finish: Finish | None) -> Response:
    """Answer a list: a page where ``limit`` is given, else an array of everything.

    Raises:
        InvalidBodyError: a filter or the search has a bad value.

    """
    rows = request.context.rows
    query = read_query(request, listing, rows)
    if query.limit is None:
        return _everything(request, encoder, finish, rows.batches(listing, query))
    page, count = rows.page(listing, query)
    results = encoder(page)
    if finish is not None:
        finish(request, results)
    return Json(envelope(request, results, count, query.limit, query.offset))


def _everything(
    request: ApiRequest, encoder: Encoder, finish: Finish | None, batches: Generator[Sequence[Any]]
) -> Response:
    def encoded() -> Iterator[Members]:
        for batch in batches:
            members = encoder(batch)
            if finish is not None:
                finish(request, members)
            yield members

    pieces = encoded()
    first: Members = []
    for piece in pieces:
        first += piece
        if len(first) >= _STREAMED:
            return JsonArray(_chained(first, pieces, batches))
    return Json(first)


def _chained(first: Members, rest: Iterator[Members], source: Generator[Any]) -> Generator[Members]:
    with closing(source):
        yield first
        yield from rest
