"""Error reports."""

from __future__ import annotations

from datetime import timedelta
from threading import Thread
from typing import Any

import pytest
from sqlmodel import select

from host.errors import NotFoundError
from host.records.errors import ERROR_REPORTS, ErrorReport, ErrorReports
from host.storage.engine import Database
from host.storage.listing import Query
from host.storage.rows import Rows
from host.storage.tables import now


@pytest.fixture
def reports(database: Database):
    reports = ErrorReports(database)
    yield reports
    reports.stop()


def stored(database: Database) -> list[ErrorReport]:
    with database.write() as session:
        return list(session.execute(select(ErrorReport).order_by("first_seen")).scalars())


def test_equal_reports_are_counted(reports: ErrorReports, database: Database):
    """A repeated error is one record with a count, another error is a record of its own."""
    for _ in range(3):
        reports.record("plugin.lamp.perform_action", "the bulb is broken", "Traceback …")
    reports.record("plugin.lamp.perform_action", "the socket is broken", "Traceback …")
    reports.flush()
    reports.record("plugin.lamp.perform_action", "the bulb is broken", "Traceback …")
    reports.flush()

    assert [(row.info, row.count) for row in stored(database)] == [
        ("the bulb is broken", 4),
        ("the socket is broken", 1),
    ]
    assert all(row.first_seen <= row.when for row in stored(database))


def test_what_changes_from_time_to_time_makes_no_new_report(reports: ErrorReports, database: Database):
    """Ids, addresses and line numbers may differ; plugins and messages may not."""
    same: tuple[tuple[str, str, str], ...] = (
        ("/api/news/1/", "no row 7 at <X object at 0x7f01>", 'File "a.py", line 3'),
        ("/api/news/22/", "no row 81 at <X object at 0x7fAB>", 'File "a.py", line 44'),
    )
    others = (
        ("/api/news/x/", same[0][1], same[0][2]),
        ("plugin.lamp1.start", "no", ""),
        ("plugin.lamp2.start", "no", ""),
        ("plugin.lamp1.start", "task 0b7d8e4e-0000-4000-8000-aaaaaaaaaaaa", ""),
        ("plugin.lamp1.start", "task 1c7d8e4e-1111-4000-8000-bbbbbbbbbbbb", ""),
    )
    for report in (*same, *others):
        reports.record(*report)
    reports.flush()

    assert [(row.path, row.count) for row in stored(database)] == [
        ("/api/news/1/", 2),
        ("/api/news/x/", 1),
        ("plugin.lamp1.start", 1),
        ("plugin.lamp2.start", 1),
        ("plugin.lamp1.start", 2),
    ]


def test_every_text_is_bounded(reports: ErrorReports, database: Database):
    """However long path, message and traceback are, a report stays small, and secrets at the cuts stay out."""
    reports.record("/" + "x" * 500, "no " * 100_000, "line\n" * 1_000_000 + "password=hunter2")
    reports.flush()

    row = stored(database)[0]
    assert len(row.path) == 200
    assert len(row.info) <= 2000
    assert len(row.data) <= 16_000
    assert row.data.endswith("password=***")


def test_a_flood_fills_no_disk(database: Database):
    """Of very many different errors only the newest are kept."""
    reports = ErrorReports(database, most=5)
    for number in range(12):
        reports.record("/a", f"error {chr(97 + number)}")
        reports.flush()
    reports.stop()

    assert [row.info for row in stored(database)] == [f"error {name}" for name in "hijkl"]


def test_old_reports_are_forgotten(reports: ErrorReports, database: Database):
    """Only reports last seen before the given moment go."""
    reports.record("/a", "old")
    reports.flush()

    assert reports.forget(now() - timedelta(days=1)) == 0
    assert reports.forget(now() + timedelta(seconds=1)) == 1
    assert stored(database) == []


def test_a_deleted_report_comes_back_with_its_error(reports: ErrorReports, database: Database):
    """Then it is a new one, counted from one; deleting what is not there is an error."""
    told: list[tuple[Any, ...]] = []
    reports.on_new = lambda *report: told.append(report)
    reports.record("/a", "no")
    reports.record("/a", "no")
    reports.flush()
    first = stored(database)[0].id
    assert first is not None
    reports.delete(first)
    with pytest.raises(NotFoundError, match=f"error report with pk '{first}'"):
        reports.delete(first)
    reports.record("/a", "no")
    reports.flush()

    assert [row.count for row in stored(database)] == [1]
    assert told == [(first, "/a", "no"), (stored(database)[0].id, "/a", "no")]


def test_whoever_is_told_may_fail(reports: ErrorReports, database: Database):
    """The reports after it are written all the same."""

    def fail(_key: int, _path: str, _info: str) -> None:
        raise ValueError("nobody is in")

    reports.on_new = fail
    reports.record("/a", "one")
    reports.flush()
    reports.record("/a", "two")
    reports.flush()

    assert [row.info for row in stored(database)] == ["one", "two"]


def test_several_processes_count_together(database: Database):
    """Nothing is lost or doubled where they report the same errors at once."""
    writers = [ErrorReports(database) for _ in range(4)]

    def report(writer: ErrorReports, step: int) -> None:
        for number in range(20):
            writer.record("/a", "abcd"[(number * step) % 4])
        writer.stop()

    threads = [Thread(target=report, args=(writer, step)) for step, writer in enumerate(writers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sum(row.count for row in stored(database)) == 80
    assert len({row.info for row in stored(database)}) == len(stored(database)) == 4


def test_nul_characters_are_storable(reports: ErrorReports, database: Database):
    """A message with a NUL character, which PostgreSQL refuses, is kept in another spelling."""
    reports.record("/a", "bad \x00 character")
    reports.flush()

    assert stored(database)[0].info == "bad \\0 character"


def test_lone_surrogates_are_storable(reports: ErrorReports, database: Database):
    """A message with half of a surrogate pair is kept in another spelling, and those after it are kept too."""
    reports.record("/a", "bad \ud800 character")
    reports.record("/b", "another")
    reports.flush()

    assert [row.info for row in stored(database)] == ["bad \\ud800 character", "another"]


def test_the_newest_come_first(reports: ErrorReports, database: Database):
    """An error that happened again is newer than those that happened since."""
    for info in ("one", "two", "one"):
        reports.record("/a", info)
        reports.flush()

    rows, _ = Rows(database).page(ERROR_REPORTS, Query(limit=5))

    assert [row.info for row in rows] == ["one", "two"]
