"""When something is due next."""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime, timedelta

import pytest

from host.contract.cron import Cron
from host.tasks.timing import Timing

DUE = datetime(2027, 11, 30, 23, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("kind", "passed", "following"),
    [
        pytest.param("H", timedelta(0), datetime(2027, 12, 1, 0, 30, tzinfo=UTC), id="hourly"),
        pytest.param("D", timedelta(hours=30), datetime(2027, 12, 2, 23, 30, tzinfo=UTC), id="daily, one missed"),
        pytest.param("W", timedelta(0), datetime(2027, 12, 7, 23, 30, tzinfo=UTC), id="weekly"),
        pytest.param("BW", timedelta(0), datetime(2027, 12, 14, 23, 30, tzinfo=UTC), id="biweekly"),
        pytest.param("M", timedelta(0), datetime(2027, 12, 30, 23, 30, tzinfo=UTC), id="monthly"),
        pytest.param("BM", timedelta(0), datetime(2028, 1, 30, 23, 30, tzinfo=UTC), id="bimonthly"),
        pytest.param("Q", timedelta(0), datetime(2028, 2, 29, 23, 30, tzinfo=UTC), id="quarterly, a shorter month"),
        pytest.param("Y", timedelta(days=366), datetime(2029, 11, 30, 23, 30, tzinfo=UTC), id="yearly, one missed"),
        pytest.param("O", timedelta(0), None, id="once"),
    ],
)
def test_kinds_of_schedules(kind, passed, following):
    """Each kind keeps to its beat and leaves out what has passed."""
    assert Timing(kind=kind).following(DUE, DUE + passed) == following


@pytest.mark.parametrize(
    ("text", "after", "due"),
    [
        ("*/15 8-18 * * mon-fri", "2024-03-01 18:50", "2024-03-04 08:00"),
        ("0 0 29 2 *", "2024-02-29 00:00", "2028-02-29 00:00"),
        ("@daily", "2024-03-01 18:50", "2024-03-02 00:00"),
        ("5 4 1,15 * 3", "2024-03-01 18:50", "2024-03-06 04:05"),
        ("0 0 * * 7", "2024-03-01 18:50", "2024-03-03 00:00"),
        ("10/20 * * jan *", "2024-03-01 18:50", "2025-01-01 00:10"),
    ],
)
def test_cron_expressions(text, after, due):
    """An expression gives the next minute that fits."""
    assert Cron.parse(text).after(datetime.fromisoformat(after)) == datetime.fromisoformat(due)


@pytest.mark.parametrize(
    "text",
    ["", "* * * *", "60 * * * *", "*/0 * * * *", "5-1 * * * *", "x * * * *", "0 0 31 2 *", "² * * * *", "1" * 999],
)
def test_what_is_no_cron_expression_is_refused(text):
    """What could never be due is refused with the reason."""
    with pytest.raises(ValueError, match=r"is no|no month has"):
        Cron.parse(text)


def test_clocks_that_are_changed_neither_stop_nor_double_a_cron_schedule(monkeypatch):
    """An hour that is there twice counts once, and after one that is left out things go on."""
    monkeypatch.setitem(os.environ, "TZ", "Europe/Berlin")
    time.tzset()
    try:
        timing, moment, found = Timing(kind="C", cron="30 * * * *"), datetime(2030, 10, 26, 23, 45, tzinfo=UTC), []
        for _ in range(3):
            moment = timing.following(moment, moment) or moment
            found.append(moment.strftime("%H:%M"))
        spring = datetime(2030, 3, 31, 0, 45, tzinfo=UTC)
        next_in_spring = timing.following(spring, spring)
    finally:
        monkeypatch.undo()
        time.tzset()

    assert found == ["00:30", "02:30", "03:30"]
    assert next_in_spring == datetime(2030, 3, 31, 1, 30, tzinfo=UTC)
