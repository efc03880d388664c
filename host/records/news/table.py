"""The tables of the news, and how they are listed."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from sqlalchemy import Column, Index
from sqlmodel import Field

from host.records.news.entry import TEXT_LENGTH
from host.storage.listing import Listing, by_boolean
from host.storage.tables import HostTable, UtcDateTime


class NewsEntry(HostTable, table=True):
    """One piece of news."""

    __tablename__ = "news_entry"
    __table_args__ = (
        Index("ix_news_entry_published_id", "published", "id"),
        Index("ix_news_entry_author_id", "author", "id"),
        Index("ix_news_entry_read_id", "read", "id"),
    )

    id: int | None = Field(default=None, primary_key=True)
    feed_id: str = Field(max_length=TEXT_LENGTH, unique=True)
    title: str = Field(max_length=TEXT_LENGTH)
    link: str = Field(max_length=TEXT_LENGTH)
    published: datetime = Field(sa_column=Column(UtcDateTime, nullable=False))
    author: str = Field(max_length=TEXT_LENGTH)
    summary: str = Field(max_length=TEXT_LENGTH)
    read: bool = False


class NewsSeen(HostTable, table=True):
    """An entry that the feed has shown, so that it does not come back once it was deleted here."""

    __tablename__ = "news_seen"

    feed_id: str = Field(max_length=TEXT_LENGTH, primary_key=True)
    last: datetime = Field(sa_column=Column(UtcDateTime, nullable=False, index=True))


class NewsFeed(HostTable, table=True):
    """What the last answer of a feed's server said of itself, for the next question."""

    __tablename__ = "news_feed"

    digest: str = Field(max_length=64, primary_key=True)
    """Of the address, which may hold a secret."""
    etag: str = Field(default="", max_length=TEXT_LENGTH)
    modified: str = Field(default="", max_length=TEXT_LENGTH)


ENTRIES: Final = HostTable.metadata.tables["news_entry"]
SEEN: Final = HostTable.metadata.tables["news_seen"]
FEEDS: Final = HostTable.metadata.tables["news_feed"]

NEWS: Final = Listing(
    table=ENTRIES,
    key=ENTRIES.c.id,
    members={
        "pk": ENTRIES.c.id,
        **{name: ENTRIES.c[name] for name in ("feed_id", "title", "link", "published", "author", "summary", "read")},
    },
    filters={"read": by_boolean(ENTRIES.c.read, "Whether somebody of the staff has read it.")},
    ordering={name: ENTRIES.c[name] for name in ("published", "author", "read")},
    default_order=("-published",),
)
"""News, the newest first."""
