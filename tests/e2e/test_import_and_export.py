"""A file's way in and out again as a web client walks it, with the service and a worker on PostgreSQL."""

from __future__ import annotations

import csv
import io
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.e2e.hosts import RunningHost, environment

pytestmark = pytest.mark.e2e

SESSIONS = "/api/importer/session/"
ROWS = "/api/importer/row/"
TABLE = "Title;description\n=1+1;first\n\nNut;second\nBolt;\n;nameless\n"
Answers = Callable[[dict[str, Any]], object]


@contextmanager
def _worker(host: RunningHost, **settings: str) -> Iterator[None]:
    command = [str(Path(sys.executable).with_name("plugyard")), "worker"]
    with (
        (host.home.parent / "worker.log").open("a") as log,
        subprocess.Popen(
            command,
            env=environment(host.home, **settings),
            cwd=host.home,
            stdout=log,
            stderr=log,
            stdin=subprocess.DEVNULL,
        ) as process,
    ):
        try:
            yield
        finally:
            process.kill()


def _polled(client: httpx2.Client, path: str, is_done: Answers, seconds: float = 40.0) -> dict[str, Any]:
    end = time.monotonic() + seconds
    while not is_done(found := client.get(path).json()):
        assert time.monotonic() < end, f"waited too long for {path}: {found}"
        time.sleep(0.1)
    return dict(found)


def _mapped(client: httpx2.Client) -> str:
    """Upload the file, map its columns and accept them; return the path of the session."""
    begun = client.post(SESSIONS, files={"data_file": ("parts.csv", TABLE)}, data={"model_type": "part"})
    assert (begun.status_code, begun.json()["status"]) == (201, 10)
    session = f"{SESSIONS}{begun.json()['pk']}/"
    maps = {one["field"]: one for one in begun.json()["column_mappings"]}
    assert (maps["name"]["column"], maps["description"]["column"]) == ("", "description")

    refused = client.post(f"{session}accept_fields/")
    assert (refused.status_code, refused.json()["fields"]) == (400, ["name"])
    mapping = f"/api/importer/column-mapping/{maps['name']['pk']}/"
    assert client.patch(mapping, json={"column": "Title"}).json()["column"] == "Title"
    assert client.patch(session, json={"field_defaults": {"description": "none"}}).status_code == 200
    assert client.post(f"{session}accept_fields/").json()["status"] == 20
    return session


def _accepted(client: httpx2.Client, session: str) -> None:
    """Put the rows right and accept them: one, then the rest, of which one is deleted."""
    rows = client.get(ROWS, params={"session": session.split("/")[-2]}).json()
    assert [(row["row_index"], row["valid"]) for row in rows] == [(0, True), (2, True), (3, True), (4, False)]
    keys = [row["pk"] for row in rows]

    assert (
        client.post(f"{session}accept_rows/", json={"rows": keys}).json()["rows"][0].startswith("These are not valid")
    )
    edited = client.patch(f"{ROWS}{keys[3]}/", json={"data": {"name": "Pin", "description": "nameless"}}).json()
    assert (edited["valid"], edited["errors"]) == (True, None)
    one = client.post(f"{session}accept_rows/", json={"rows": [keys[3]]})
    assert (one.status_code, one.json()) == (201, {"rows": [keys[3]]})
    assert client.request("DELETE", ROWS, json={"items": [keys[1]]}).status_code == 204
    assert client.post(f"{session}accept_rows/", json={"rows": [keys[2], keys[0]]}).status_code == 201


def _exported(client: httpx2.Client, path: str) -> list[list[str]]:
    begun = client.get(path, params={"export": "true", "export_format": "csv", "ordering": "row_index"})
    output = f"/api/data-output/{begun.json()['pk']}/"
    made = _polled(client, output, lambda one: one["complete"] or one["errors"])
    assert (made["errors"], made["progress"]) == (None, made["total"])
    return list(csv.reader(io.StringIO(client.get(made["output"]).text)))


def test_a_client_imports_and_exports_through_a_worker(tmp_path: Path, host_postgres_url: str):
    """Nothing is done before there is a worker; then rows become records, and a list becomes a file."""
    settings: dict[str, Any] = {"sample_plugins": "true", "database_url": host_postgres_url}
    with RunningHost(tmp_path / "home", "--no-tasks", **settings) as host, host.client() as client:
        activated = client.patch("/api/plugins/sample-stockroom/activate/", json={"active": True})
        assert activated.json() == {"active": True}
        session = _mapped(client)
        assert client.get(session).json()["status"] == 20

        with _worker(host, **settings):
            assert _polled(client, session, lambda one: one["status"] != 20)["status"] == 30
            header, first, *_ = _exported(client, ROWS)
            assert first[header.index("row_data")] == '{"Title":"=1+1","description":"first"}'
            _accepted(client, session)
            done = client.get(session).json()
            assert (done["status"], done["row_count_history"], done["completed_row_count_history"]) == (40, 3, 3)

            parts = client.get("/plugin/sample-stockroom/parts/").json()["results"]
            assert [(one["name"], one["description"]) for one in parts] == [
                ("Pin", "nameless"),
                ("Bolt", "none"),
                ("=1+1", "first"),
            ]
            header, row = _exported(client, SESSIONS)
            assert row[header.index("status")] == "40"
        assert "Traceback" not in host.log()
