"""News over the interface."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from host.records.news.table import ENTRIES
from host.storage.engine import Database
from tests.api.kept_records import NEWS, START, KeptRecords


@pytest.fixture
def kept(tables_url: str, open_database: Callable[[str], Database], tmp_path: Path) -> Iterator[KeptRecords]:
    """Three entries, each later than the one before."""
    kept = KeptRecords(open_database(tables_url), tmp_path / "files")
    for day, (name, author, read) in enumerate([("a", "Zoe", False), ("b", "Ada", True), ("c", "Ada", False)]):
        kept.add_news(name, author=author, read=read, published=START + timedelta(days=day))
    yield kept
    kept.close()


def stored(kept: KeptRecords) -> list[dict[str, Any]]:
    with kept.database.read() as connection:
        return [dict(row) for row in connection.execute(select(ENTRIES).order_by(ENTRIES.c.id)).mappings()]


def test_news_are_listed_and_shown(kept: KeptRecords):
    """The newest first; filtered, ordered and paged."""
    staff = kept.client("staff")

    def titles(query: str) -> str:
        found = staff.get(f"{NEWS}?{query}").json()
        return "".join(one["title"] for one in (found["results"] if isinstance(found, dict) else found))

    first = staff.get(f"{NEWS}?limit=1").json()["results"][0]
    assert list(first) == ["pk", "feed_id", "title", "link", "published", "author", "summary", "read"]
    assert (first["title"], first["read"], first["summary"]) == ("C", False, "About c")
    assert staff.get(f"{NEWS}{first['pk']}/").json() == first
    assert titles("") == titles("search=zoe") == titles("ordering=title") == titles("read=maybe") == "CBA"
    assert (titles("ordering=author"), titles("ordering=read,-published"), titles("ordering=-author")) == (
        "BCA", "CAB", "ACB",
    )  # fmt: skip
    assert (titles("read=true"), titles("read=false&ordering=published"), titles("limit=1&offset=2")) == (
        "B",
        "AC",
        "A",
    )


def test_an_entry_is_marked_and_changed(kept: KeptRecords):
    """PATCH takes any member; PUT all but the mark. What a client got it can send back."""
    staff, key = kept.client("staff"), kept.keys("news_entry")[0]
    before = stored(kept)

    marked = staff.patch(f"{NEWS}{key}/", json={"read": True})
    assert (marked.status_code, marked.json()["read"]) == (200, True)
    assert staff.patch(f"{NEWS}{key}/", json={}).json() == marked.json()
    assert staff.patch(f"{NEWS}{key}/", data={"read": "off"}).json()["read"] is False
    assert [row | {"read": False} for row in stored(kept)[:1]] == before[:1]

    sent = marked.json() | {"title": "  New\nlamps & <3 ", "pk": 99}
    del sent["read"]
    changed = staff.put(f"{NEWS}{key}/", json=sent)
    assert (changed.status_code, changed.json()["title"], changed.json()["pk"]) == (200, "Newlamps & <3", key)
    assert changed.json()["read"] is False
    assert stored(kept)[1:] == before[1:]


_WRONG: list[tuple[dict[str, Any], str]] = [
    ({"title": "<b>x</b>"}, "title"),
    ({"author": "<script>"}, "author"),
    ({"summary": "<img src=x"}, "summary"),
    ({"feed_id": "<p>"}, "feed_id"),
    ({"title": "x" * 251}, "title"),
    ({"summary": "x" * 251}, "summary"),
    ({"title": ""}, "title"),
    ({"title": None}, "title"),
    ({"author": ["x"]}, "author"),
    ({"title": "a\x00b"}, "title"),
    ({"link": "x"}, "link"),
    ({"link": "javascript:alert(1)"}, "link"),
    ({"link": "ftp://a.example/"}, "link"),
    ({"link": "https://a.example/" + "x" * 250}, "link"),
    ({"published": "yesterday"}, "published"),
    ({"published": None}, "published"),
    ({"published": "0001-01-01T00:00:00+00:00"}, "published"),
    ({"published": "9999-12-31T23:59:59-23:59"}, "published"),
    ({"read": "maybe"}, "read"),
    ({"read": None}, "read"),
    ({"feed_id": "b"}, "feed_id"),
]


def test_wrong_members_of_news_are_refused(kept: KeptRecords):
    """The member is named, and nothing changes."""
    key, before, staff = kept.keys("news_entry")[0], stored(kept), kept.client("staff")

    for sent, member in _WRONG:
        answer = staff.patch(f"{NEWS}{key}/", json={"summary": "new"} | sent)
        assert (answer.status_code, list(answer.json())) == (400, [member]), sent

    assert stored(kept) == before
    assert kept.reports == []


def test_a_whole_entry_needs_all_members(kept: KeptRecords):
    """Except the mark; and no entry can be made."""
    staff, key = kept.client("staff"), kept.keys("news_entry")[0]

    answer = staff.put(f"{NEWS}{key}/", json={"read": True})

    assert (answer.status_code, set(answer.json())) == (
        400,
        {"feed_id", "title", "link", "published", "author", "summary"},
    )
    assert staff.post(NEWS, json={}).status_code == 405
    for unknown in (999, 2**63 - 1, 2**63):
        assert staff.patch(f"{NEWS}{unknown}/", json={"read": True}).status_code == 404
    assert staff.delete(f"{NEWS}{key}/").status_code == 204
    assert staff.delete(f"{NEWS}{key}/").status_code == staff.get(f"{NEWS}{key}/").status_code == 404
    assert len(stored(kept)) == 2
