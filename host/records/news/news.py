"""News for the staff: entries of a feed, each taken once."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Protocol

from sqlalchemy import Connection, delete, func, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import IntegrityError

from host.errors import InvalidInputError, NotFoundError
from host.records.news.entry import Entry, FeedError, Reading
from host.records.news.reading import read_feed
from host.records.news.table import ENTRIES, FEEDS, SEEN
from host.storage.engine import Database
from host.storage.tables import now

MOST_KEPT: Final = 1000
"""So many entries are kept; beyond them the oldest go."""
_REMEMBERED: Final = timedelta(days=180)
_EARLIEST: Final = datetime(1970, 1, 2, tzinfo=UTC)
_LATEST: Final = datetime(2999, 12, 31, tzinfo=UTC)


class ReadFeed(Protocol):
    """Fetches and reads a feed."""

    def __call__(self, url: str, etag: str, modified: str, moment: datetime) -> Reading:
        """Return what the feed says.

        Raises:
            FeedError: it cannot be had or read.

        """


class News:
    """Reads the feed, and keeps what it said.

    An entry that was deleted does not come back as long as the feed shows it, nor for half a year afterwards.

    Args:
        database: where the entries are.
        url: address of the feed; empty means that there is none.
        report: keeps an error report.
        read: fetches and reads the feed.
        clock: tells the moment.
        most: how many entries are kept.

    """

    def __init__(
        self,
        database: Database,
        *,
        url: str,
        report: Callable[[str, str], object],
        read: ReadFeed = read_feed,
        clock: Callable[[], datetime] = now,
        most: int = MOST_KEPT,
    ) -> None:
        self._database = database
        self._url = url
        self._report = report
        self._read = read
        self._clock = clock
        self._most = most

    @property
    def is_on(self) -> bool:
        """Whether there is a feed to read."""
        return bool(self._url)

    def refresh(self) -> int:
        """Read the feed and keep the entries that are new; return how many they are.

        A feed that cannot be read gives an error report, and everything stays as it was.
        """
        if not self.is_on:
            return 0
        digest = hashlib.sha256(self._url.encode("utf-8", "replace")).hexdigest()
        with self._database.read() as connection:
            known = connection.execute(select(FEEDS.c.etag, FEEDS.c.modified).where(FEEDS.c.digest == digest)).first()
        moment = self._clock()
        try:
            reading = self._read(self._url, known.etag if known else "", known.modified if known else "", moment)
        except FeedError as error:
            self._report("news:refresh", f"The news cannot be read. {error} The address is PLUGYARD_NEWS_URL.")
            return 0
        if reading.entries is None:
            return 0
        with self._database.write() as session:
            connection = session.connection()
            new = _keep(connection, reading.entries, moment)
            _remember_answer(connection, digest, reading)
            _trim(connection, self._most, moment)
        return new

    def change(self, key: int, values: Mapping[str, Any]) -> None:
        """Change members of an entry.

        Raises:
            InvalidInputError: another entry has this feed id, or the moment is none that news can have.
            NotFoundError: there is no such entry.

        """
        published = values.get("published")
        if published is not None and not _EARLIEST <= published <= _LATEST:
            years = f"{_EARLIEST.year} and {_LATEST.year}"
            raise InvalidInputError({"published": [f"Give a moment between the years {years}."]})
        statement = update(ENTRIES).where(ENTRIES.c.id == key)
        try:
            with self._database.write() as session:
                connection = session.connection()
                # Without any values this still tells whether the entry is there.
                if not connection.execute(statement.values({"read": ENTRIES.c.read, **values})).rowcount:
                    raise _missing(key)
                if "feed_id" in values:
                    _see(connection, [values["feed_id"]], self._clock())
        except IntegrityError:
            raise InvalidInputError({"feed_id": ["There is a news entry with this feed id already."]}) from None

    def delete(self, key: int) -> None:
        """Delete an entry for good.

        Raises:
            NotFoundError: there is none.

        """
        with self._database.write() as session:
            if not session.connection().execute(delete(ENTRIES).where(ENTRIES.c.id == key)).rowcount:
                raise _missing(key)


def _missing(key: int) -> NotFoundError:
    return NotFoundError(f"Not found. There is no news entry with pk '{key}'.")


def _insert(connection: Connection) -> Callable[[Any], Any]:
    return sqlite.insert if connection.dialect.name == "sqlite" else postgresql.insert


def _see(connection: Connection, feed_ids: Iterable[str], moment: datetime) -> None:
    # In the same order everywhere, so that no two readers wait for each other's rows.
    rows = [{"feed_id": feed_id, "last": moment} for feed_id in sorted(set(feed_ids))]
    if rows:
        statement = _insert(connection)(SEEN).values(rows)
        connection.execute(
            statement.on_conflict_do_update(index_elements=[SEEN.c.feed_id], set_={"last": statement.excluded.last})
        )


def _keep(connection: Connection, entries: Iterable[Entry], moment: datetime) -> int:
    """Keep the entries that were never seen, and return how many they are."""
    wanted = {entry.feed_id: entry for entry in entries}
    maker = _insert(connection)
    if not wanted:
        return 0
    # Whoever adds the row of an entry keeps it; of several readers at once that is one.
    rows = [{"feed_id": feed_id, "last": moment} for feed_id in sorted(wanted)]
    adding = maker(SEEN).values(rows).on_conflict_do_nothing().returning(SEEN.c.feed_id)
    added = frozenset(connection.execute(adding).scalars())
    _see(connection, wanted.keys() - added, moment)
    new = [asdict(entry) | {"read": False} for feed_id, entry in wanted.items() if feed_id in added]
    if new:
        connection.execute(maker(ENTRIES).values(new).on_conflict_do_nothing())
    return len(new)


def _remember_answer(connection: Connection, digest: str, reading: Reading) -> None:
    values = {"etag": reading.etag, "modified": reading.modified}
    statement = _insert(connection)(FEEDS).values(digest=digest, **values)
    connection.execute(statement.on_conflict_do_update(index_elements=[FEEDS.c.digest], set_=values))
    # What an address said that is no longer read is of no use.
    connection.execute(delete(FEEDS).where(FEEDS.c.digest != digest))


def _trim(connection: Connection, most: int, moment: datetime) -> None:
    surplus = connection.execute(select(func.count()).select_from(ENTRIES)).scalar_one() - most
    if surplus > 0:
        oldest = select(ENTRIES.c.id).order_by(ENTRIES.c.published, ENTRIES.c.id).limit(surplus)
        connection.execute(delete(ENTRIES).where(ENTRIES.c.id.in_(oldest)))
    kept = select(ENTRIES.c.feed_id)
    connection.execute(delete(SEEN).where(SEEN.c.last < moment - _REMEMBERED, SEEN.c.feed_id.not_in(kept)))
