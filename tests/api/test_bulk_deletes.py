"""Bulk deletes of error reports, news and data outputs: the same rules, on every database."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from host.storage.engine import Database
from tests.api.kept_records import ERRORS, NEWS, OUTPUTS_PATH, KeptRecords

TABLES = {ERRORS: "error_report", NEWS: "news_entry", OUTPUTS_PATH: "data_output"}


@pytest.fixture
def kept(tables_url: str, open_database: Callable[[str], Database], tmp_path: Path) -> Iterator[KeptRecords]:
    """Four of each record; of the data outputs the first two are the user's."""
    kept = KeptRecords(open_database(tables_url), tmp_path / "files")
    for name in "abcd":
        kept.add_error(f"/{name}/", f"error {name}")
        kept.add_news(name, read=name in "ab")
        kept.add_output("user" if name in "ab" else "staff", f"{name}.csv", days=ord(name), plugin=name)
    yield kept
    kept.close()


def bulk(kept: KeptRecords, path: str, body: Any, caller: str = "staff", query: str = "") -> Any:
    return kept.client(caller).request("DELETE", f"{path}{query}", json=body)


def test_what_is_named_is_deleted(kept: KeptRecords):
    """Items as numbers or text, repeated or unknown ones among them; filters besides or alone; or all."""
    for path, (member, value) in {
        ERRORS: ("info", "error b"),
        NEWS: ("title", "B"),
        OUTPUTS_PATH: ("plugin", "b"),
    }.items():
        first, second, third, fourth = kept.keys(TABLES[path])
        for body, query, left in (
            ({"items": [str(first), first, first, 2**63 - 1]}, "?search=nothing", [second, third, fourth]),
            ({"items": [second, fourth], "filters": {member: value}}, "?all=true", [third, fourth]),
            ({"filters": {"pk": str(third)}}, "", [fourth]),
            (None, "?all=TRUE&pk=0&read=true&user=1", []),
            ({}, "?all=true", []),
        ):
            answer = bulk(kept, path, body, query=query)
            assert (answer.status_code, answer.content) == (204, b""), answer.text
            assert kept.keys(TABLES[path]) == left
    assert kept.reports == []


def test_what_names_nothing_is_refused(kept: KeptRecords):
    """With a plain text, and everything stays."""
    for path, table in TABLES.items():
        first, second, *_ = before = kept.keys(table)
        bodies: list[Any] = [
            None, {}, {"items": None}, {"items": []}, {"items": [2**63 - 1]}, {"items": [2**63]}, {"items": [10**30]},
            {"items": first}, {"items": str(first)}, {"items": {"0": first}}, {"items": [first, "x"]},
            {"items": [None]}, {"items": [[first]]}, {"items": [True]}, {"items": [1.5]}, {"items": [-1]},
            {"items": ["\x00"]}, {"filters": []}, {"filters": "x"}, {"filters": {}},
            {"filters": {"unknown": 1}, "items": [first]}, {"filters": {"pk": "x"}}, {"filters": {"pk": 2**63}},
            {"filters": {"pk__in": [first]}}, {"filters": {"pk": first}, "items": [second]},
            {"filters": {"id": first}}, {"filters": {"\x00": 1}}, {"items": [first] * 10_001},
        ]  # fmt: skip
        for body in bodies:
            answer = bulk(kept, path, body)
            assert answer.status_code == 400, (body, answer.text)
            assert isinstance(answer.json()["non_field_errors"], str), body
        for query in ("?all=", "?all=false", "?all=1", "?all=yes"):
            assert bulk(kept, path, None, query=query).status_code == 400
        for body in ([], [first], "x", 7):
            assert bulk(kept, path, body).status_code == 400, body
        assert kept.keys(table) == before
    assert kept.reports == []


_NO_MATCH: list[tuple[str, str, list[Any]]] = [
    (ERRORS, "when", ["x", 5, "2030-05-01 12:00", "0001-01-01T00:00:00", None, {}]),
    (ERRORS, "data", ["\x00", [], "no"]),
    (ERRORS, "count", [9, "x", 2**63]),
    (ERRORS, "path", ["/nowhere/", None]),
    (NEWS, "published", ["x", "9999-12-31T23:59:59-23:59", "2031-01-01"]),
    (NEWS, "read", ["maybe", None, []]),
    (NEWS, "link", ["https://b.example/", "javascript:x()", "x"]),
    (OUTPUTS_PATH, "created", ["x", 3, "2030-05-01T00:00", "9999-12-31"]),
    (OUTPUTS_PATH, "user", [999, "x", None, 2**63 - 1]),
    (OUTPUTS_PATH, "user_detail", [{}, 1]),
    (OUTPUTS_PATH, "user_detail.username", ["user"]),
    (OUTPUTS_PATH, "errors", [None, {}]),
    (OUTPUTS_PATH, "output_type", ["label", "nothing"]),
    (OUTPUTS_PATH, "progress", [-1, 2**63, 77]),
    (OUTPUTS_PATH, "complete", [False, "x"]),
    (OUTPUTS_PATH, "output", ["/media/data_output/x", "%ff", "%00"]),
]


def test_filters_that_match_nothing_delete_nothing(kept: KeptRecords):
    """Whatever their type, on every database."""
    for path, member, values in _NO_MATCH:
        for value in values:
            answer = bulk(kept, path, {"filters": {member: value}})
            found = (answer.status_code, list(answer.json()))
            assert found == (400, ["non_field_errors"]), (member, value, answer.text)

    assert [len(kept.keys(table)) for table in TABLES.values()] == [4, 4, 4]
    assert kept.reports == []


def test_filters_compare_members(kept: KeptRecords):
    """With the values as the records show them."""
    for path, filters, left in (
        (NEWS, {"read": "false", "title": "C"}, 3),
        (NEWS, {"link": "https://a.example/a"}, 2),
        (NEWS, {"read": True}, 1),
        (NEWS, {"published": "2030-05-01T12:00:00Z"}, 0),
        (ERRORS, {"path": "/a/", "count": 1}, 3),
        (OUTPUTS_PATH, {"created": "2030-01-24"}, 3),
        (OUTPUTS_PATH, {"output": "/media/data_output/b.csv"}, 2),
        (OUTPUTS_PATH, {"output_type": "export", "complete": True, "plugin": "c"}, 1),
        (OUTPUTS_PATH, {"user": 2}, 0),
    ):
        assert bulk(kept, path, {"filters": filters}).status_code == 204, filters
        assert len(kept.keys(TABLES[path])) == left


def test_filters_take_what_records_show(kept: KeptRecords):
    """Also moments, which are shown to the minute, and messages that look like HTML."""
    kept.add_error("/shown/", "no <class 'Lamp'> ", "Traceback\n  in <module>")
    client = kept.client("staff")
    shown = next(one for one in client.get(ERRORS).json() if one["path"] == "/shown/")

    for member in ("info", "data", "when", "first_seen", "count"):
        answer = bulk(kept, ERRORS, {"items": [shown["pk"] + 1], "filters": {member: shown[member]}})
        assert answer.json() == {"non_field_errors": "No records match the given items and filters."}
    assert bulk(kept, ERRORS, {"filters": shown}).status_code == 204
    assert len(kept.keys(TABLES[ERRORS])) == 4


def test_nobody_deletes_beyond_their_view(kept: KeptRecords):
    """Users their own data outputs only; of the other records nothing."""
    mine, second, theirs, _ = kept.keys("data_output")

    def codes(caller: str, body: Any, query: str = "") -> list[int]:
        return [bulk(kept, path, body, caller, query).status_code for path in (ERRORS, NEWS, OUTPUTS_PATH)]

    assert codes("anonymous", {"items": [mine]}, "?all=true") == [401, 401, 401]
    assert codes("user", {"items": [theirs]}) == [403, 403, 400]
    assert codes("user", {"filters": {"user": 2}}) == [403, 403, 400]
    assert codes("user", {"items": [theirs, mine]}) == [403, 403, 204]
    assert kept.keys("data_output")[:2] == [second, theirs]
    assert codes("user", None, "?all=true") == [403, 403, 204]
    assert kept.keys("data_output")[0] == theirs
    assert len(kept.keys("error_report")) == len(kept.keys("news_entry")) == 4
    assert [kept.files.exists(f"data_output/{name}.csv") for name in "abcd"] == [False, False, True, True]


def test_very_many_keys_are_no_trouble(kept: KeptRecords):
    """More than one statement takes."""
    for path, table in TABLES.items():
        keys = kept.keys(table)
        assert bulk(kept, path, {"items": [*range(100_000, 102_000), keys[3]]}).status_code == 204
        assert kept.keys(table) == keys[:3]
