"""Error reports over the interface."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from host.storage.engine import Database
from tests.api.kept_records import ERRORS, KeptRecords


@pytest.fixture
def kept(tables_url: str, open_database: Callable[[str], Database], tmp_path: Path) -> Iterator[KeptRecords]:
    """Two reports; the first one happened twice, at last after the other."""
    kept = KeptRecords(open_database(tables_url), tmp_path / "files")
    for path, info in (("/api/x/", "no lamp"), ("plugin.lamp.start", "burnt out"), ("/api/x/", "no lamp")):
        kept.add_error(path, info, f"Traceback of {info}")
    yield kept
    kept.close()


def test_reports_are_listed_and_shown(kept: KeptRecords):
    """The newest first; order, search and pages as everywhere."""
    staff = kept.client("staff")

    def infos(query: str) -> list[str]:
        found = staff.get(f"{ERRORS}?{query}").json()
        return [report["info"] for report in (found["results"] if isinstance(found, dict) else found)]

    reports = staff.get(ERRORS).json()
    assert infos("") == ["no lamp", "burnt out"]
    assert list(reports[0]) == ["pk", "when", "info", "data", "path", "count", "first_seen"]
    assert (reports[0]["path"], reports[0]["data"], reports[0]["count"]) == ("/api/x/", "Traceback of no lamp", 2)
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d", reports[0][name]) for name in ("when", "first_seen"))
    assert staff.get(f"{ERRORS}{reports[1]['pk']}/").json() == reports[1]
    assert infos("ordering=when") == infos("ordering=info") == ["burnt out", "no lamp"]
    assert infos("ordering=-info") == infos("ordering=path,count") == ["no lamp", "burnt out"]
    assert infos("search=TRACEBACK lamp") == infos("limit=1") == ["no lamp"]
    assert infos("search=plugin.lamp.start") == []
    assert staff.get(f"{ERRORS}?limit=1").json()["count"] == 2
    assert kept.reports == []


def test_a_report_can_be_deleted_but_not_changed(kept: KeptRecords):
    """405 for every change; a deleted report is gone."""
    staff = kept.client("staff")
    first, second = kept.keys("error_report")

    for method in ("PATCH", "PUT", "POST"):
        answer = staff.request(method, f"{ERRORS}{first}/", json={"info": "x"})
        assert (answer.status_code, answer.headers["Allow"]) == (405, "GET, HEAD, DELETE, OPTIONS")
    assert staff.post(ERRORS, json={}).status_code == 405
    assert staff.delete(f"{ERRORS}{first}/").status_code == 204
    assert staff.delete(f"{ERRORS}{first}/").status_code == 404
    for unknown in ("x", "0", str(2**63 - 1), str(2**63), "-1"):
        assert staff.get(f"{ERRORS}{unknown}/").status_code == staff.delete(f"{ERRORS}{unknown}/").status_code == 404

    assert kept.keys("error_report") == [second]
    assert kept.reports == []


def test_reports_are_for_the_staff(kept: KeptRecords):
    """Neither a list nor a record, and no description, for others."""
    key = kept.keys("error_report")[0]

    for path in (ERRORS, f"{ERRORS}{key}/"):
        assert [kept.client(caller).get(path).status_code for caller in ("anonymous", "user")] == [401, 403]
    assert kept.client("user").delete(f"{ERRORS}{key}/").status_code == 403
    assert set(kept.client("staff").options(f"{ERRORS}{key}/").json()["actions"]) == {"GET", "DELETE"}
    assert len(kept.keys("error_report")) == 2
