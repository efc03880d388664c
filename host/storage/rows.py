"""Rows: read listings as columns, without objects, and delete by them."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple, TypeAlias, cast

from sqlalchemy import BigInteger, Connection, Row, Select, and_, bindparam, delete, false, func, select
from sqlalchemy.exc import DataError, OperationalError
from sqlalchemy.sql.elements import ColumnElement

from host.errors import InvalidInputError, NotFoundError
from host.storage.engine import Database
from host.storage.listing import Choice, Listing, Query
from host.storage.patterns import bound_patterns, search_condition

Rows_: TypeAlias = Sequence[Row[Any]]


_BATCH = 1000
_ALL = 2**63 - 1
_MINUTE = timedelta(minutes=1)
_MOST_KNOWN = 500
_KEYS_AT_ONCE = 500


class _Statements(NamedTuple):
    everything: Select[Any]
    page: Select[Any]
    total: Select[Any]


class Rows:
    """Reads and deletes the rows of any listing. A row holds the listing's members in their order."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._known: dict[tuple[Listing, tuple[str, ...]], _Statements] = {}

    def page(self, listing: Listing, query: Query) -> tuple[Rows_, int]:
        """Return the rows of one page, and how many there are in all.

        Raises:
            InvalidInputError: the search cannot be run.

        """
        conditions = _conditions(listing, query)
        ordered = listing.order(query.order)
        _, pages, count = self._statements(listing, ordered)
        if conditions:
            pages, count = pages.where(*conditions), count.where(*conditions)
        limit = _ALL if query.limit is None else query.limit
        with self._reading(query) as connection:
            rows = connection.execute(pages, {"page_limit": limit, "page_offset": query.offset}).all()
            if len(rows) < limit and (rows or not query.offset):
                return rows, query.offset + len(rows)
            return rows, connection.execute(count).scalar_one()

    def batches(self, listing: Listing, query: Query) -> Generator[Rows_]:
        """Return all rows in batches; the connection stays open until the iterator ends or is closed.

        Raises:
            InvalidInputError: the search cannot be run.

        """
        conditions = _conditions(listing, query)
        statement, _, _ = self._statements(listing, listing.order(query.order))
        if conditions:
            statement = statement.where(*conditions)
        with self._reading(query) as connection:
            options = {"stream_results": True, "yield_per": _BATCH}
            with connection.execute(statement, execution_options=options) as result:
                yield from result.partitions()

    def one(self, listing: Listing, member: str, value: Any, query: Query) -> Row[Any]:
        """Return the row of which a member has a value, when the caller may see it.

        Raises:
            NotFoundError: there is none.

        """
        statement = _select(listing).where(*listing.condition(query.user), listing.members[member] == value)
        with self._reading(query) as connection:
            row = connection.execute(statement.limit(1)).first()
        if row is None:
            msg = f"Not found. There is no {listing.table.name.replace('_', ' ')} with {member} '{value}'."
            raise NotFoundError(msg)
        return row

    def exists(self, column: Any, value: Any) -> bool:
        """Tell whether a column holds a value somewhere."""
        with self._database.read() as connection:
            return connection.execute(select(column).where(column == value).limit(1)).first() is not None

    def keys(self, listing: Listing, choice: Choice) -> list[Any]:
        """Return the keys of the rows that are meant, of those that the caller may see."""
        with self._database.read() as connection:
            return _chosen(connection, listing, choice)

    def delete(self, listing: Listing, choice: Choice) -> int:
        """Delete the rows that are meant, of those that the caller may see, and return how many.

        All or none: in one transaction.
        """
        with self._database.write() as session:
            connection = session.connection()
            keys = _chosen(connection, listing, choice)
            for part in _parts(keys):
                connection.execute(delete(listing.table).where(listing.key.in_(part)))
            return len(keys)

    def _statements(self, listing: Listing, order: tuple[str, ...]) -> _Statements:
        # Statements are put together once: that takes as long as running them.
        known = self._known.get((listing, order))
        if known is None:
            limit, offset = bindparam("page_limit", type_=BigInteger), bindparam("page_offset", type_=BigInteger)
            everything = _select(listing, order)
            known = _Statements(everything, everything.limit(limit).offset(offset), _count(listing))
            if len(self._known) < _MOST_KNOWN:
                self._known[listing, order] = known
        return known

    @contextmanager
    def _reading(self, query: Query) -> Iterator[Connection]:
        with self._database.read() as connection:
            if query.search is None or not (query.search.regex or query.search.whole):
                yield connection
                return
            bound_patterns(connection)
            try:
                yield connection
            except (OperationalError, DataError) as error:
                raise InvalidInputError({"search": ["The search took too long or cannot be run."]}) from error


def _source(listing: Listing) -> Any:
    return listing.table if listing.source is None else listing.source


def _select(listing: Listing, order: Sequence[str] = ()) -> Select[Any]:
    statement = select(*listing.members.values()).select_from(_source(listing))
    if not order:
        return statement
    criteria = [_criterion(listing, name) for name in order]
    criteria.append(listing.key.desc() if order[-1].startswith("-") else listing.key.asc())
    return statement.order_by(*criteria)


def _criterion(listing: Listing, name: str) -> Any:
    plain = name.lstrip("-")
    column = listing.ordering.get(plain)
    if column is None:
        column = listing.key if plain == "pk" else listing.members[plain]
    return column.desc() if name.startswith("-") else column.asc()


def _count(listing: Listing) -> Select[Any]:
    return select(func.count()).select_from(_source(listing))


def _conditions(listing: Listing, query: Query) -> list[ColumnElement[bool]]:
    conditions = list(listing.condition(query.user))
    conditions += [listing.filters[name].where(value) for name, value in query.filters.items()]
    if query.search is not None and listing.search:
        columns = list(listing.search)
        if query.search.notes and listing.notes is not None:
            columns.append(listing.notes)
        conditions.append(search_condition(query.search, columns))
    return conditions


def _chosen(connection: Connection, listing: Listing, choice: Choice) -> list[Any]:
    conditions = list(listing.condition(choice.user))
    for name, value in choice.equal.items():
        known = listing.filters.get(name)
        conditions.append(known.where(value) if known is not None else _equals(listing.members[name], value))
    statement = select(listing.key).select_from(_source(listing))
    if choice.keys is None:
        return list(connection.execute(statement.where(*conditions)).scalars())
    found: list[Any] = []
    for part in _parts(choice.keys):
        where = listing.key.in_(part) if part else false()
        found += connection.execute(statement.where(where, *conditions)).scalars()
    return found


def _equals(column: Any, value: Any) -> ColumnElement[bool]:
    is_whole_minute = isinstance(value, datetime) and not (value.second or value.microsecond)
    if not is_whole_minute or datetime.max.replace(tzinfo=UTC) - value < _MINUTE:
        return cast("ColumnElement[bool]", column == value)
    # Moments are stored to the microsecond and shown to the minute.
    return and_(column >= value, column < value + _MINUTE)


def _parts(keys: Sequence[Any]) -> Iterator[Sequence[Any]]:
    for start in range(0, len(keys), _KEYS_AT_ONCE):
        yield keys[start : start + _KEYS_AT_ONCE]
