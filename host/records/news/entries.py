"""Reading a feed: from the bytes of an RSS or Atom document to entries that can be kept."""

from __future__ import annotations

import calendar
import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from io import BytesIO
from typing import Any, Final
from urllib.parse import urljoin, urlsplit, urlunsplit

import feedparser

from host.records.news.entry import TEXT_LENGTH, Entry, FeedError
from host.records.news.texts import cut, plain

MOST_ENTRIES: Final = 100
"""So many entries of one reading are taken, the newest ones."""
FIRST_MOMENT: Final = datetime(1970, 1, 1, tzinfo=UTC)
"""Nothing was published earlier."""

_URL_LENGTH: Final = 8000
_IN_LINKS: Final = re.compile(r"[^\s<>\"\x00-\x20\x7f-\x9f\ud800-\udfff]+")
_ELEMENT: Final = re.compile(rb"<\w")
_LONGEST_BEGINNING: Final = 10_000
_CHARSET: Final = re.compile(r"[\w.:-]{1,40}", re.ASCII)
_SCHEMES: Final = frozenset({"http", "https"})


def read_entries(content: bytes, url: str, moment: datetime, charset: str = "") -> list[Entry]:
    """Return the newest entries of a document, the oldest of them first.

    Every text of an entry says something, so that clients can send an entry back as they got it. An entry that names
    no address of the web, and belongs to no site that does, is left out.

    Args:
        content: the document.
        url: where it came from; addresses in it may be relative to that.
        charset: as the server named it; else the document's own word counts.
        moment: now; nothing counts as published later, and what has no date counts as published now.

    Raises:
        FeedError: it is no feed.

    """
    _check_beginning(content)
    kind = f"application/xml; charset={charset}" if _CHARSET.fullmatch(charset) else "application/xml"
    try:
        # Given the bytes themselves, the parser would take them for the name of a file.
        found = feedparser.parse(
            BytesIO(content),
            response_headers={"content-type": kind},
            sanitize_html=False,
            resolve_relative_uris=False,
        )
    except Exception as error:  # noqa: BLE001 - the parser is written for hope, and fails in any way on hostile documents
        raise FeedError(f"The document cannot be read ({type(error).__name__}).") from None
    if not found.get("version") and not found.entries:
        raise FeedError("The document is no RSS or Atom feed. Check the address.")
    if found.get("bozo") and not found.entries:
        raise FeedError("The document is broken: it begins as a feed, and no entry can be read.")
    site = _Site.of(found.feed, url)
    entries = {entry.feed_id: entry for entry in _entries(reversed(found.entries), site, moment)}
    return sorted(entries.values(), key=lambda entry: entry.published)[-MOST_ENTRIES:]


def _check_beginning(content: bytes) -> None:
    # Before the first element stand declarations, of which the parser takes long ones badly and entities not well.
    element = _ELEMENT.search(content)
    beginning = content[: element.start() if element else len(content)]
    if len(beginning) > _LONGEST_BEGINNING or b"<!ENTITY" in beginning:
        raise FeedError("The document begins with declarations that feeds do not need, so it is not read.")


@dataclass(frozen=True, slots=True)
class _Site:
    """What the entries of a feed have in common."""

    url: str
    link: str
    name: str

    @classmethod
    def of(cls, feed: Mapping[str, Any], url: str) -> _Site:
        link = _web_address(_text(feed, "link"), url)
        host = urlsplit(link or url).hostname or "?"
        name = _plain(feed, "author") or _plain(feed, "title") or host
        return cls(url, link, cut(name, TEXT_LENGTH))


def _entries(raw: Iterator[Mapping[str, Any]], site: _Site, moment: datetime) -> Iterator[Entry]:
    for one in raw:
        link = _web_address(_text(one, "link"), site.url) or site.link
        named = _text(one, "id") or _text(one, "link") or _text(one, "title")
        if not link or not named:
            continue
        title = _plain(one, "title") or _plain(one, "summary") or link
        yield Entry(
            feed_id=_feed_id(named),
            title=cut(title, TEXT_LENGTH),
            link=link,
            published=_published(one, moment),
            author=cut(_plain(one, "author"), TEXT_LENGTH) or site.name,
            summary=cut(_plain(one, "summary") or title, TEXT_LENGTH),
        )


def _text(values: Mapping[str, Any], name: str) -> str:
    value = values.get(name)
    return value if isinstance(value, str) else ""


def _plain(values: Mapping[str, Any], name: str) -> str:
    return plain(_text(values, name))


def _feed_id(named: str) -> str:
    named = named.strip()
    if len(named) <= TEXT_LENGTH and named and plain(named) == named:
        return named
    # Cut or cleaned, two entries could become one.
    return f"sha256:{hashlib.sha256(named.encode('utf-8', 'backslashreplace')).hexdigest()}"


def _web_address(text: str, base: str) -> str:
    """Return an address that browsers may follow, or nothing."""
    text = text.strip()[:_URL_LENGTH]
    try:
        own = urlsplit(text)
        # Of the feed's own address the query stays out: it may hold a key.
        parts = urlsplit(urljoin(urlsplit(base)._replace(query="", fragment="").geturl(), text))
        _ = parts.port
    except ValueError:
        return ""
    says_nothing = not own.netloc if own.scheme else not (own.netloc or own.path)
    if says_nothing or parts.scheme.lower() not in _SCHEMES or not parts.hostname:
        return ""
    # A name and a password before the host are no part of a link.
    parts = parts._replace(netloc=parts.netloc.rpartition("@")[2])
    for shorter in (parts, parts._replace(fragment=""), parts._replace(fragment="", query="")):
        link = urlunsplit(shorter)
        if len(link) <= TEXT_LENGTH and _IN_LINKS.fullmatch(link):
            return link
    return ""


def _published(values: Mapping[str, Any], moment: datetime) -> datetime:
    for name in ("published_parsed", "updated_parsed", "created_parsed"):
        try:
            # Asked with `get`, the parser would give one date for another.
            parsed = values[name] if name in values else None  # noqa: SIM401
            published = datetime.fromtimestamp(calendar.timegm(parsed), UTC) if parsed else None
        except (ValueError, OverflowError, OSError, TypeError):
            continue
        if published is not None and published >= FIRST_MOMENT:
            return min(published, moment)
    return moment
