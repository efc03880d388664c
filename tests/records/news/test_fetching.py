"""Fetching feeds from a real server, kind or hostile."""

from __future__ import annotations

import base64
import socket
import threading
import time
from datetime import UTC, datetime

import pytest

from host.records.news.entry import FeedError
from host.records.news.fetching import LARGEST, _check_redirect, fetch
from host.records.news.reading import Limits, read_feed
from tests.records.news.feed_server import RSS, FeedServer, item

NOW = datetime(2030, 5, 1, 12, tzinfo=UTC)


def test_a_feed_is_fetched(feeds: FeedServer):
    """With what the next question needs; compressed or not."""
    kind, day = 'a/b; charset="X"', "Mon, 29 Apr 2030 10:30:00 GMT"
    feeds.answer("/feed", "ä", ETag='"1"', Last_Modified=day, Content_Type=kind)
    feeds.answer("/packed", "x" * 100_000, packed=True)

    fetched = fetch(f"{feeds.url}/feed")

    assert (fetched.content, fetched.url, fetched.charset) == ("ä".encode(), f"{feeds.url}/feed", "x")
    assert (fetched.etag, fetched.modified) == ('"1"', day)
    assert fetch(f"{feeds.url}/packed").content == b"x" * 100_000
    assert "If-None-Match" not in feeds.asked[0][1]


def test_an_unchanged_feed_is_not_fetched_again(feeds: FeedServer):
    """The server is told what is known, and says that nothing is new."""
    feeds.answer("/feed", "x", ETag='"1"')

    assert fetch(f"{feeds.url}/feed", '"1"', "yesterday").content is None
    assert fetch(f"{feeds.url}/feed", '"0"').content == b"x"
    assert feeds.asked[0][1]["If-Modified-Since"] == "yesterday"


def test_credentials_go_to_their_server_only(feeds: FeedServer):
    """They stand in a header, and are dropped where a redirect leads elsewhere."""
    feeds.answer("/here", "", 302, Location="/there")
    feeds.answer("/there", "", 307, Location=f"{feeds.url.replace('127.0.0.1', 'localhost')}/elsewhere")
    feeds.answer("/elsewhere", "x")

    fetched = fetch(f"{feeds.url}/here".replace("//", "//joe:hunt%40er2@", 1))

    sent = [headers.get("Authorization", "") for _, headers in feeds.asked]
    expected = "Basic " + base64.b64encode(b"joe:hunt@er2").decode()
    assert sent == [expected, expected, ""]
    assert "joe" not in fetched.url


@pytest.mark.parametrize(
    ("location", "message"),
    [
        ("/loop", "redirects more than 5 times"),
        ("file:///etc/passwd", "http:// or https://"),
        ("ftp://127.0.0.1/", "http:// or https://"),
        ("http://[::1", "no useful answer"),
    ],
)
def test_redirects_have_bounds(feeds: FeedServer, location: str, message: str):
    """They end, and stay in the web."""
    feeds.answer("/loop", "", 302, Location=location)

    with pytest.raises(FeedError, match=message):
        fetch(f"{feeds.url}/loop")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("https://a.example/", "http://a.example/", "without encryption"),
        ("http://93.184.216.34/", "http://127.0.0.1:8000/", "private network"),
        ("http://93.184.216.34/", "http://169.254.169.254/latest/", "private network"),
        ("http://93.184.216.34/", "http://[::1]/", "private network"),
        ("http://127.0.0.1/", "http://[::1]/", ""),
        ("http://93.184.216.34/", "https://93.184.216.34:8443/", ""),
    ],
)
def test_redirects_lead_nowhere_secret(old: str, new: str, message: str):
    """A server of the world cannot have the host ask machines that only the host can reach."""
    if not message:
        _check_redirect(old, new)
        return
    with pytest.raises(FeedError, match=message):
        _check_redirect(old, new)


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("{}/missing", "status 404"),
        ("{}/broken", "status 500"),
        ("{}/large", "more than"),
        ("{}/bomb", "more than"),
        ("{}/garbled", "no useful answer"),
        ("http://127.0.0.1:1/?key=hunter2", "no useful answer"),
        ("http://joe:hunter2@nowhere.invalid/", "no useful answer"),
        ("file:///etc/passwd", "http:// or https://"),
        ("/etc/passwd", "http:// or https://"),
        ("hunter2", "http:// or https://"),
    ],
)
def test_what_cannot_be_had_is_explained(feeds: FeedServer, url: str, message: str):
    """Without the address, which may hold a secret."""
    feeds.answer("/broken", "no", 500)
    feeds.answer("/large", "x" * (LARGEST + 1))
    feeds.answer("/bomb", b"\0" * 20_000_000, packed=True)
    feeds.answer("/garbled", "no gzip", Content_Encoding="gzip")

    with pytest.raises(FeedError, match=message) as caught:
        fetch(url.format(feeds.url))

    assert "hunter2" not in str(caught.value)


def test_a_feed_is_read_in_a_process_of_its_own(feeds: FeedServer):
    """The answer comes back whole; an unchanged feed has no entries."""
    feeds.answer("/feed", RSS.format(item("lamp", title="Lämpchen 👩‍🔧")), ETag='"1"')

    reading = read_feed(f"{feeds.url}/feed", "", "", NOW)

    assert [(entry.title, entry.published) for entry in reading.entries or ()] == [("Lämpchen 👩‍🔧", NOW)]
    assert reading.etag == '"1"'


def test_a_reader_that_is_ended_is_told_of(feeds: FeedServer):
    """As by the limit of its memory; the host goes on."""
    feeds.answer("/feed", RSS.format(item("lamp")))

    with pytest.raises(FeedError, match="The document cannot be read"):
        read_feed(f"{feeds.url}/feed", "", "", NOW, Limits(memory=1024 * 1024))


def test_a_server_that_dribbles_is_left():
    """However slowly it sends, even its headers, reading ends in time."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=_dribble, args=(server,), daemon=True).start()
        begun = time.monotonic()

        with pytest.raises(FeedError, match=r"more than 0\.8 seconds"):
            read_feed(f"http://127.0.0.1:{server.getsockname()[1]}/", "", "", NOW, Limits(seconds=0.8))

        assert time.monotonic() - begun < 3


def _dribble(server: socket.socket) -> None:
    try:
        connection, _ = server.accept()
        with connection:
            while True:
                connection.sendall(b"H")
                time.sleep(0.05)
    except OSError:
        return
