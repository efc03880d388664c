"""Reading feeds: what becomes of their texts, addresses and dates."""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from api.news import NEWS_ENTRY
from host.records.news.entries import MOST_ENTRIES, read_entries
from host.records.news.entry import Entry, FeedError
from host.records.news.texts import cut, plain
from tests.records.news.feed_server import ATOM, RSS, item

NOW = datetime(2030, 5, 1, 12, tzinfo=UTC)
URL = "https://shop.example.org/feed.xml?key=hunter2"


def read(document: str | bytes, charset: str = "") -> list[Entry]:
    content = document if isinstance(document, bytes) else document.encode()
    return read_entries(content, URL, NOW, charset)


def one(document: str) -> Entry:
    found = read(document)
    assert len(found) == 1
    return found[0]


def test_an_rss_feed_is_read():
    """Title, author and summary are plain text, the moment is in UTC."""
    entry = one(
        RSS.format(
            item(
                "lamp",
                title="New &lt;b&gt;lamps&lt;/b&gt; &amp;amp; bulbs",
                author="ada@example.org (Ada)",
                description="<![CDATA[<p>Now in <a href='javascript:x()'>red</a>.</p><script>alert(1)</script>]]>",
                pubDate="Mon, 29 Apr 2030 10:30:00 +0200",
            )
        )
    )

    assert entry == Entry(
        feed_id="lamp",
        title="New lamps & bulbs",
        link="https://shop.example.org/lamp",
        published=datetime(2030, 4, 29, 8, 30, tzinfo=UTC),
        author="ada@example.org (Ada)",
        summary="Now in red.",
    )


def test_an_atom_feed_is_read():
    """What an entry does not say is filled in, so that no text is empty."""
    entry = one(
        ATOM.format(
            "<entry><id>urn:1</id><title>Lamps</title><link href='/lamps?a=1&amp;copy=2'/>"
            "<updated>2030-04-01T00:00:00Z</updated></entry>"
        )
    )

    assert entry == Entry(
        feed_id="urn:1",
        title="Lamps",
        link="https://shop.example.org/lamps?a=1&copy=2",
        published=datetime(2030, 4, 1, tzinfo=UTC),
        author="Workshop",
        summary="Lamps",
    )


@pytest.mark.parametrize(
    ("date", "expected"),
    [
        ("", NOW),
        ("tomorrow", NOW),
        ("Mon, 29 Apr 2999 10:30:00 GMT", NOW),
        ("0001-01-01T00:00:00Z", NOW),
        ("Thu, 01 Jan 1969 00:00:00 GMT", NOW),
        ("99999-01-01T00:00:00Z", NOW),
        ("Mon, 29 Apr 2030 10:30:00 GMT", datetime(2030, 4, 29, 10, 30, tzinfo=UTC)),
    ],
)
def test_dates_that_cannot_be_count_as_now(date: str, expected: datetime):
    """No entry stays on top for years, and none breaks the list."""
    assert one(RSS.format(item("a", pubDate=date))).published == expected


@pytest.mark.parametrize(
    ("link", "expected"),
    [
        ("http://a.example/x", "http://a.example/x"),
        ("/x", "https://shop.example.org/x"),
        ("javascript:alert(1)", "https://shop.example.org/"),
        (" JaVaScRiPt:alert(1)", "https://shop.example.org/"),
        ("data:text/html,x", "https://shop.example.org/"),
        ("file:///etc/passwd", "https://shop.example.org/"),
        ("https://", "https://shop.example.org/"),
        ("https://a.example:port/", "https://shop.example.org/"),
        ("https://[::1/", "https://shop.example.org/"),
        ("https://joe:hunter2@a.example/x", "https://a.example/x"),
        ("https://a.example/x?utm=" + "y" * 300, "https://a.example/x"),
        ("https://a.example/" + "y" * 300, "https://shop.example.org/"),
        ("https://a.example/&quot;onclick=", "https://shop.example.org/"),
        ("#x", "https://shop.example.org/"),
        ("?x=1", "https://shop.example.org/"),
    ],
)
def test_links_lead_to_the_web(link: str, expected: str):
    """An address that a browser should not follow, or that is too long, gives way to the site's own."""
    assert one(RSS.format(item("a", link=link))).link == expected


def test_an_entry_without_any_address_is_left_out():
    """The others are read."""
    document = RSS.replace("<link>https://shop.example.org/</link>", "").format(
        item("a", link="javascript:x()") + item("b")
    )

    assert [entry.feed_id for entry in read(document)] == ["b"]


def test_the_same_entry_counts_once():
    """Long and strange identifiers stay different; an entry without one goes by its address."""
    names = ["x" * 300 + "1", "x" * 300 + "2", "&lt;b&gt;", "same", "same", ""]

    found = [entry.feed_id for entry in read(RSS.format("".join(item(f"n{i}", guid=n) for i, n in enumerate(names))))]

    assert len(found) == len(set(found)) == 5
    assert {name for name in found if not name.startswith("sha256:")} == {"same", "https://shop.example.org/n5"}


def test_only_the_newest_of_very_many_are_read():
    """Sorted, with the newest last; reading takes no time that grows beyond measure."""
    begun = time.process_time()
    items = "".join(item(f"e{n}", pubDate=f"Mon, 29 Apr 2030 10:{n // 60:02}:{n % 60:02} GMT") for n in range(1000))

    found = read(RSS.format(items))

    assert [entry.feed_id for entry in found] == [f"e{n}" for n in range(1000 - MOST_ENTRIES, 1000)]
    assert time.process_time() - begun < 5


@pytest.mark.parametrize(
    "hostile",
    [
        "<script>alert(1)</script>",
        "<<script>script>alert(1)<</script>/script>",
        "&lt;script&gt;alert(1)&lt;/script&gt;",
        "&amp;amp;lt;img src=x onerror=y&amp;amp;gt;",
        "<img src=x onerror=y",
        "a <b <c <d",
        "\u202etxt.exe\u2066 \u200bhidden",
        "one\ntwo\x07\x9f\u2028three",
        "\ud800 half",
        "<" * 5000,
        "&" * 5000,
        "<a " * 3000,
        "<p>" * 20000,
        "e\u0301" * 5000,
        "👩‍🔧" * 500,
    ],
    ids=range(15),
)
def test_hostile_texts_become_plain_ones(hostile: str):
    """What is kept would be accepted from a client, too."""
    text = cut(plain(hostile), 250) or "-"
    fields = {"title": text, "summary": text, "author": text}

    assert len(text) <= 250
    assert not re.search(r"<\w|[\x00-\x1f\u202a-\u202e\u2060-\u206f\ud800-\udfff]", text)
    assert NEWS_ENTRY.read(fields, partial=True) == fields


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("short", "short"),
        ("one two three", "one two…"),
        ("one t, three", "one t…"),
        ("onetwothree", "onetwothr…"),
        ("abcdefghe\u0301\u0301xyz", "abcdefgh…"),
        ("abcdefg👩‍🔧xyz", "abcdefg…"),
        ("\u0301" * 20, "…"),
    ],
)
def test_texts_are_cut_with_care(text: str, expected: str):
    """At the end of a word where there is one, and never inside of what is read as one character."""
    assert cut(text, 10) == expected


@pytest.mark.parametrize(
    "document",
    [
        b"",
        b"hello",
        b"<html><body>Not found</body></html>",
        b"\x00" * 1000,
        b'{"version": 1}',
        b"<rss",
        b"<rss version='2.0'><channel><title>x</title",
        bytes(range(256)),
        b"\x1f\x8b\x08\x00",
    ],
)
def test_what_is_no_feed_is_refused(document: bytes):
    """Whatever it is, it gives a message and not a crash."""
    with pytest.raises(FeedError):
        read(document)


def test_a_document_is_never_taken_for_the_name_of_a_file(tmp_path: Path):
    """A server cannot have files of the host read."""
    file = tmp_path / "feed.xml"
    file.write_text(RSS.format(item("secret")))

    with pytest.raises(FeedError):
        read(str(file))
    with pytest.raises(FeedError):
        read(file.as_uri())


@pytest.mark.parametrize(
    "beginning",
    [
        '<!DOCTYPE rss [<!ENTITY x SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE rss [<!ENTITY a "aaa"><!ENTITY x "&a;&a;&a;">]>',
        '<!DOCTYPE rss [\n<!ENTITY % x "aaa">]>',
        "\n" * 2_000_000,
        "<!DOCTYPE " * 200_000,
    ],
    ids=["file", "nested", "parameter", "blank lines", "declarations"],
)
def test_the_tricks_of_xml_are_refused(beginning: str):
    """No entity is resolved, and no declaration keeps the parser busy."""
    begun = time.process_time()

    with pytest.raises(FeedError, match="declarations"):
        read(beginning + RSS.removeprefix('<?xml version="1.0"?>').format(item("a", title="&x;")))

    assert time.process_time() - begun < 1


def test_a_plain_document_type_is_no_trick():
    """Old kinds of RSS begin with one."""
    kind = '<?xml version="1.0"?><!DOCTYPE rss PUBLIC "-//Netscape//DTD RSS 0.91//EN" "http://a.example/rss.dtd">'

    assert one(RSS.replace('<?xml version="1.0"?>', kind).format(item("a", title="&lt;!ENTITY x"))).feed_id == "a"


@pytest.mark.parametrize(
    ("encoding", "declared", "charset"),
    [("utf-8", "", ""), ("latin-1", "iso-8859-1", ""), ("latin-1", "", "iso-8859-1"), ("utf-16", "utf-16", ""),
     ("utf-8", "", "rot13"), ("utf-8", "zip", "no such\r\nthing")],
)  # fmt: skip
def test_texts_are_decoded(encoding: str, declared: str, charset: str):
    """By what the server says, or the document."""
    head = f'<?xml version="1.0" encoding="{declared}"?>' if declared else "<?xml version='1.0'?>"
    document = RSS.replace('<?xml version="1.0"?>', head).format(item("a", title="Lämpchen"))

    assert [entry.title for entry in read(document.encode(encoding), charset)] == ["Lämpchen"]
