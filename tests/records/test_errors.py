"""Error reports."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlmodel import select

from host.records.errors import ErrorReport, ErrorReports, scrub
from host.storage.engine import Database
from host.storage.tables import now


@pytest.fixture
def reports(database: Database):
    reports = ErrorReports(database)
    yield reports
    reports.stop()


def stored(database: Database) -> list[ErrorReport]:
    with database.write() as session:
        return list(session.execute(select(ErrorReport).order_by("id")).scalars())


def test_equal_reports_are_counted(reports: ErrorReports, database: Database):
    """A repeated error is one record with a count, another error is a record of its own."""
    for _ in range(3):
        reports.record("plugin.lamp.perform_action", "the bulb is broken", "Traceback …")
    reports.record("plugin.lamp.perform_action", "the socket is broken", "Traceback …")
    reports.flush()

    assert [(row.info, row.count) for row in stored(database)] == [
        ("the bulb is broken", 3),
        ("the socket is broken", 1),
    ]


def test_a_long_path_is_cut(reports: ErrorReports, database: Database):
    """A path has at most 200 characters in storage."""
    reports.record("/" + "x" * 500, "no", "")
    reports.flush()

    assert len(stored(database)[0].path) == 200


def test_old_reports_are_forgotten(reports: ErrorReports, database: Database):
    """Only reports last seen before the given moment go."""
    reports.record("/a", "old")
    reports.flush()

    assert reports.forget(now() - timedelta(days=1)) == 0
    assert reports.forget(now() + timedelta(seconds=1)) == 1
    assert stored(database) == []


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        pytest.param("Authorization: Basic YWRtaW46aHVudGVyMg==", "YWRtaW46aHVudGVyMg==", id="header"),
        pytest.param("password='hunter2' user='joe'", "hunter2", id="assignment"),
        pytest.param('{"api_key": "k-123456"}', "k-123456", id="json"),
        pytest.param("postgresql://joe:hunter2@db/x failed", "hunter2", id="credentials in a URL"),
        pytest.param("token ply-" + "0" * 40 + "-20270101 is bad", "ply-0000", id="token"),
    ],
)
def test_secrets_are_scrubbed(text: str, secret: str):
    """What looks like a secret does not reach a report."""
    assert secret in text
    assert secret not in scrub(text)


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
