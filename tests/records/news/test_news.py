"""Keeping news: each entry once, deleted ones never again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import select

from host.errors import InvalidInputError, NotFoundError
from host.records.news.entry import Entry, FeedError, Reading
from host.records.news.news import News
from host.records.news.table import ENTRIES, FEEDS, SEEN
from host.storage.engine import Database
from tests.records.news.feed_server import RSS, FeedServer, item

START = datetime(2030, 5, 1, 12, tzinfo=UTC)


def entry(name: str, **members: Any) -> Entry:
    given: dict[str, Any] = {
        "title": name,
        "link": f"https://a.example/{name}",
        "published": START,
        "author": "Ada",
        "summary": name,
    }
    return Entry(name, **given | members)


class Feed:
    """A feed that says what a test lets it say."""

    def __init__(self) -> None:
        self.entries: Sequence[Entry] | None = ()
        self.etag = ""
        self.fault = ""
        self.asked: list[tuple[str, str, str]] = []
        self.now = START
        self.reports: list[tuple[str, str]] = []

    def __call__(self, url: str, etag: str, modified: str, moment: datetime) -> Reading:
        assert moment == self.now
        self.asked.append((url, etag, modified))
        if self.fault:
            raise FeedError(self.fault)
        return Reading(self.entries, self.etag, "")

    def report(self, path: str, info: str) -> None:
        self.reports.append((path, info))


@pytest.fixture
def feed() -> Feed:
    return Feed()


@pytest.fixture
def news_of(database: Database, feed: Feed) -> Callable[[str], News]:
    return lambda url: News(database, url=url, report=feed.report, read=feed, clock=lambda: feed.now)


@pytest.fixture
def news(news_of: Callable[[str], News]) -> News:
    return news_of("https://joe:hunter2@a.example/feed")


def names(database: Database) -> list[str]:
    with database.read() as connection:
        return sorted(connection.execute(select(ENTRIES.c.feed_id)).scalars())


def key_of(database: Database, name: str) -> int:
    with database.read() as connection:
        return int(connection.execute(select(ENTRIES.c.id).where(ENTRIES.c.feed_id == name)).scalar_one())


def test_each_entry_is_kept_once(news: News, feed: Feed, database: Database):
    """What is known stays as it is, also where the feed tells it otherwise now."""
    feed.entries = [entry("a"), entry("b")]
    first = news.refresh()
    news.change(key_of(database, "a"), {"read": True, "title": "Ours"})
    feed.entries = [entry("a", title="Theirs"), entry("b"), entry("c")]
    second = news.refresh()

    assert (first, second, news.refresh()) == (2, 1, 0)
    assert names(database) == ["a", "b", "c"]
    with database.read() as connection:
        row = connection.execute(select(ENTRIES).where(ENTRIES.c.feed_id == "a")).one()
    assert (row.title, row.read, row.published) == ("Ours", True, START)


def test_a_deleted_entry_does_not_come_back(news: News, feed: Feed, database: Database):
    """As long as the feed shows it, however long that is; and half a year beyond."""
    feed.entries = [entry("a"), entry("b")]
    news.refresh()
    news.delete(key_of(database, "a"))
    for _ in range(4):
        feed.now += timedelta(days=100)
        assert news.refresh() == 0
    assert names(database) == ["b"]

    feed.entries = []
    feed.now += timedelta(days=181)
    news.refresh()
    with database.read() as connection:
        assert connection.execute(select(SEEN.c.feed_id)).scalars().all() == ["b"]


def test_the_server_is_told_what_is_known(news_of: Callable[[str], News], feed: Feed, database: Database):
    """What one address said is not told to another; the address itself is not stored."""
    feed.etag = '"1"'
    for url in ("https://joe:hunter2@a.example/", "https://joe:hunter2@a.example/", "https://b.example/"):
        news_of(url).refresh()
    feed.entries, feed.etag = None, ""
    news_of("https://b.example/").refresh()
    news_of("https://b.example/").refresh()

    assert [etag for _, etag, _ in feed.asked] == ["", '"1"', "", '"1"', '"1"']
    with database.read() as connection:
        rows = connection.execute(select(FEEDS)).all()
    assert len(rows) == 1
    assert "example" not in repr(rows)


def test_a_feed_that_fails_leaves_all_as_it_was(news: News, feed: Feed, database: Database):
    """An error report says what to look at, without the address."""
    feed.entries = [entry("a")]
    news.refresh()
    feed.fault = "The server answers with status 500."

    assert news.refresh() == 0

    assert names(database) == ["a"]
    said = "The news cannot be read. The server answers with status 500. The address is PLUGYARD_NEWS_URL."
    assert feed.reports == [("news:refresh", said)]


def test_without_an_address_nothing_is_read(news_of: Callable[[str], News], feed: Feed):
    """News are off."""
    news = news_of("")

    assert (news.is_on, news.refresh(), feed.asked) == (False, 0, [])


def test_several_readers_keep_an_entry_once(news: News, feed: Feed, database: Database):
    """Whoever is first keeps it, and nobody fails."""
    feed.entries = [entry(f"e{number}") for number in range(50)]

    with ThreadPoolExecutor(4) as pool:
        kept = list(pool.map(lambda _: news.refresh(), range(4)))

    assert sum(kept) == 50
    assert len(names(database)) == 50


def test_only_so_many_entries_are_kept(feed: Feed, database: Database):
    """The oldest go, and do not come back."""
    news = News(database, url="https://a.example/", report=feed.report, read=feed, clock=lambda: feed.now, most=7)
    entries = [entry(f"e{number:02}", published=START + timedelta(minutes=number)) for number in range(12)]
    for part in (entries[:6], entries[6:]):
        feed.entries = part
        news.refresh()
    feed.entries = entries[:5]

    assert news.refresh() == 0
    assert names(database) == [one.feed_id for one in entries[5:]]


@pytest.mark.parametrize(
    ("values", "member"),
    [
        ({"feed_id": "b", "title": "x"}, "feed_id"),
        ({"published": datetime(1, 1, 1, tzinfo=UTC), "title": "x"}, "published"),
        ({"published": datetime(9999, 12, 31, tzinfo=UTC)}, "published"),
    ],
)
def test_wrong_changes_change_nothing(news: News, feed: Feed, database: Database, values: dict[str, Any], member: str):
    """No two entries are the same one, and every moment can be shown."""
    feed.entries = [entry("a"), entry("b")]
    news.refresh()

    with pytest.raises(InvalidInputError) as caught:
        news.change(key_of(database, "a"), values)

    assert list(caught.value.fields) == [member]
    with database.read() as connection:
        found = connection.execute(select(ENTRIES.c.title, ENTRIES.c.published).where(ENTRIES.c.feed_id == "a")).one()
    assert tuple(found) == ("a", START)


def test_an_entry_of_another_name_is_known_by_both(news: News, feed: Feed, database: Database):
    """Neither what it was called nor what it is called comes with the next reading."""
    feed.entries = [entry("a")]
    news.refresh()
    news.change(key_of(database, "a"), {"feed_id": "z"})
    feed.entries = [entry("a"), entry("z")]

    assert news.refresh() == 0
    assert names(database) == ["z"]


def test_what_is_not_there_is_not_found(news: News):
    """A message says which."""
    for call in (lambda: news.delete(7), lambda: news.change(7, {}), lambda: news.change(7, {"feed_id": "x"})):
        with pytest.raises(NotFoundError, match="news entry with pk '7'"):
            call()


def test_a_real_feed_is_kept(feeds: FeedServer, sqlite_database: Database):
    """From the server into the table, and at the next question nothing new."""
    feeds.answer("/feed", RSS.format(item("lamp") + item("bulb")), ETag='"1"')
    reports: list[Any] = []
    news = News(sqlite_database, url=f"{feeds.url}/feed", report=lambda *report: reports.append(report))

    assert (news.refresh(), news.refresh(), reports) == (2, 0, [])

    assert names(sqlite_database) == ["bulb", "lamp"]
    assert [headers.get("If-None-Match") for _, headers in feeds.asked] == [None, '"1"']
