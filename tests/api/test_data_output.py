"""Data outputs over the interface."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from host.records.data_outputs import OutputType
from host.storage.engine import Database
from tests.api.kept_records import OUTPUTS_PATH, KeptRecords


@pytest.fixture
def kept(tables_url: str, open_database: Callable[[str], Database], tmp_path: Path) -> Iterator[KeptRecords]:
    """One output of the user, one of the staff, one of nobody."""
    kept = KeptRecords(open_database(tables_url), tmp_path / "files")
    kept.add_output("user", "a b.csv", plugin="z", days=1)
    kept.add_output("staff", "b.csv", plugin="y", days=3)
    kept.add_output(None, "c.csv", plugin="x", days=2)
    yield kept
    kept.close()


def test_an_output_shows_how_far_it_is(kept: KeptRecords):
    """Its file is an address of this server, once it is there; a failure says why."""
    user, outputs = kept.client("user"), kept.records.data_outputs
    key = outputs.begin(kept.users["user"], OutputType.EXPORT, total=2**62)
    outputs.progress(key, 2**61)

    begun = user.get(f"{OUTPUTS_PATH}{key}/").json()
    outputs.fail(key, "There is no lamp.")
    failed = user.get(f"{OUTPUTS_PATH}{key}/").json()
    done = user.get(f"{OUTPUTS_PATH}?ordering=pk").json()[0]

    assert (begun["progress"], begun["total"], begun["complete"], begun["output"]) == (2**61, 2**62, False, None)
    assert (begun["errors"], failed["errors"]) == (None, {"error": "There is no lamp."})
    assert done == {
        "pk": kept.keys("data_output")[0],
        "created": "2030-04-30",
        "user": 1,
        "total": 0,
        "progress": 0,
        "complete": True,
        "output_type": "export",
        "template_name": "states",
        "plugin": "z",
        "output": "/media/data_output/a%20b.csv",
        "errors": None,
        "user_detail": {
            "pk": 1, "username": "user", "first_name": "", "last_name": "", "email": "user@example.org",
        },
    }  # fmt: skip


def test_users_see_their_own_and_the_staff_all(kept: KeptRecords):
    """Lists, pages, filters and orders show no more; what is out of view is not found."""
    mine, theirs, nobodys = kept.keys("data_output")
    user, staff = kept.client("user"), kept.client("staff")

    def plugins(query: str, caller: str = "staff") -> str:
        found = kept.client(caller).get(f"{OUTPUTS_PATH}?{query}").json()
        return "".join(one["plugin"] for one in (found["results"] if isinstance(found, dict) else found))

    assert [plugins(query, "user") for query in ("", "user=1", "user=2", "limit=5", "ordering=-user")] == [
        "z", "z", "", "z", "z",
    ]  # fmt: skip
    assert user.get(f"{OUTPUTS_PATH}?limit=1").json()["count"] == 1
    for key in (theirs, nobodys):
        assert user.get(f"{OUTPUTS_PATH}{key}/").status_code == user.delete(f"{OUTPUTS_PATH}{key}/").status_code == 404
    assert [plugins(query) for query in ("", "search=zzz", "user=2", "limit=1&offset=1")] == ["xyz", "xyz", "y", "y"]
    assert [plugins(f"ordering={name}") for name in ("pk", "plugin", "created", "-created", "output_type")] == [
        "zyx", "xyz", "yxz", "zxy", "zyx",
    ]  # fmt: skip
    for wrong in ("user=99", "user=x", f"user={2**63}"):
        assert staff.get(f"{OUTPUTS_PATH}?{wrong}").status_code == 400
    assert kept.client("superuser").get(f"{OUTPUTS_PATH}{nobodys}/").json()["user_detail"] is None
    assert kept.keys("data_output") == [mine, theirs, nobodys]


def test_an_output_goes_with_its_file(kept: KeptRecords):
    """It can be deleted, and nothing else."""
    user, key = kept.client("user"), kept.keys("data_output")[0]

    for method in ("POST", "PATCH", "PUT"):
        for path in (OUTPUTS_PATH, f"{OUTPUTS_PATH}{key}/"):
            assert user.request(method, path, json={"complete": True}).status_code == 405
    assert set(user.options(f"{OUTPUTS_PATH}{key}/").json()["actions"]) == {"GET", "DELETE"}
    assert kept.files.exists("data_output/a b.csv")
    assert user.delete(f"{OUTPUTS_PATH}{key}/").status_code == 204

    assert key not in kept.keys("data_output")
    assert not kept.files.exists("data_output/a b.csv")
    assert kept.files.exists("data_output/b.csv")
    assert kept.reports == []
