"""A server of feeds, shared by the tests of a module."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.records.news.feed_server import FeedServer, feed_server


@pytest.fixture(scope="module")
def running_feeds() -> Iterator[FeedServer]:
    with feed_server() as running:
        yield running


@pytest.fixture
def feeds(running_feeds: FeedServer) -> FeedServer:
    """A server that nobody has asked anything yet."""
    running_feeds.asked.clear()
    return running_feeds
