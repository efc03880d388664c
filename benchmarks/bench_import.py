"""An import of many rows: time in times of a bare loop with the csv module and the same inserts, and memory.

``BENCH_IMPORT_ROWS`` sets how many.
"""

from __future__ import annotations

import csv
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from sqlalchemy import delete, func, insert, select, update

from benchmarks.figures import Figure, Target, interleaved, median_ratio
from host.config import Config
from host.importing.files import DataFile
from host.importing.tables import ROWS, SESSIONS, ImportStatus
from host.plugins.imports import BATCH
from host.server import Host
from sample_plugins.stockroom.tables import PartCategory
from tests.e2e.hosts import environment

ROWS_OF_FILE: Final = int(os.environ.get("BENCH_IMPORT_ROWS", "20000"))
ROUNDS: Final = 3
MOST_TIME: Final = 3.0
"""Times of the bare loop."""
MOST_MEMORY: Final = 300.0
"""MiB."""
_PATIENCE: Final = 3600.0
_CATEGORIES: Final = PartCategory.__table__  # type: ignore[attr-defined]  # SQLAlchemy adds it to tables


def run() -> list[Figure]:
    """Import and run the bare loop in turn, each in a process and with a host of its own."""
    memory: list[float] = []

    def imported() -> float:
        found = _in_a_process("import")
        assert found["records"] == ROWS_OF_FILE, found
        memory.append(found["memory"])
        return float(found["seconds"])

    def bare() -> float:
        found = _in_a_process("bare")
        assert found["records"] == ROWS_OF_FILE, found
        return float(found["seconds"])

    seconds = interleaved({"ours": imported, "bare": bare}, ROUNDS)
    ratio = median_ratio(seconds["ours"], seconds["bare"])
    return [
        Figure(f"{ROWS_OF_FILE:,} rows of a CSV file, bare loop", statistics.median(seconds["bare"]), "s"),
        Figure(f"{ROWS_OF_FILE:,} rows of a CSV file, an import", statistics.median(seconds["ours"]), "s"),
        Figure("an import, to the bare loop", ratio, "times", Target(MOST_TIME)),
        Figure("memory of the process that imports", max(memory), "MiB", Target(MOST_MEMORY)),
    ]


def _in_a_process(what: str) -> Any:
    with TemporaryDirectory(prefix="plugyard-bench-") as folder:
        command = [sys.executable, "-m", "benchmarks.bench_import", what, folder]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, cwd=Path(__file__).parents[1])
    return json.loads(done.stdout.splitlines()[-1])


def _write(path: Path) -> None:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["name", "description"])
        writer.writerows((f"Category {number}", f"What belongs to number {number}") for number in range(ROWS_OF_FILE))


def _import(host: Host, path: Path) -> dict[str, Any]:
    importing, user = host.records.importing, host.directory.superusers()[0].as_user()
    with path.open("rb") as file:
        values = {"model_type": "partcategory", "data_file": DataFile(path.name, file)}
        key = importing.sessions.create(values, by=user)
    began = time.perf_counter()
    importing.columns.accept(key, by=user)
    assert host.tasks.drain(_PATIENCE)
    importing.accepting.begin_all(key, by=user)
    assert host.tasks.drain(_PATIENCE)
    seconds = time.perf_counter() - began
    with host.database.read() as connection:
        session = connection.execute(SESSIONS.select().where(SESSIONS.c.id == key)).one()
    assert session.status == ImportStatus.COMPLETE, session
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"seconds": seconds, "records": _records(host), "memory": memory}


def _bare(host: Host, path: Path) -> dict[str, Any]:
    """Store the rows with what they become, then make records of them and mark them, then delete them."""
    user = host.directory.superusers()[0].as_user()
    with path.open("rb") as file:
        values = {"model_type": "partcategory", "data_file": DataFile(path.name, file)}
        key = host.records.importing.sessions.create(values, by=user)
    began = time.perf_counter()
    with path.open(newline="") as file:
        for rows in _parts(enumerate(csv.DictReader(file))):
            with host.database.write() as session:
                found = [
                    {"session_id": key, "row_index": index, "row_data": row, "data": row, "valid": True}
                    for index, row in rows
                ]
                session.connection().execute(insert(ROWS), [{**one, "complete": False} for one in found])
    while _accepted(host, key):
        pass
    with host.database.write() as session:
        session.connection().execute(delete(ROWS).where(ROWS.c.session_id == key))
    return {"seconds": time.perf_counter() - began, "records": _records(host)}


def _accepted(host: Host, key: int) -> int:
    with host.database.write() as session:
        connection = session.connection()
        is_due = (ROWS.c.session_id == key, ROWS.c.complete.is_(False), ROWS.c.valid.is_(True))
        rows = connection.execute(
            select(ROWS.c.id, ROWS.c.data).where(*is_due).order_by(ROWS.c.row_index).limit(BATCH)
        ).all()
        if rows:
            connection.execute(insert(_CATEGORIES), [row.data for row in rows])
            done = ROWS.c.id.in_([row.id for row in rows])
            connection.execute(update(ROWS).where(done).values(complete=True))
        return len(rows)


def _parts(items: Any) -> Iterator[list[Any]]:
    rest = iter(items)
    while part := list(islice(rest, BATCH)):
        yield part


def _records(host: Host) -> int:
    with host.database.read() as connection:
        return connection.execute(select(func.count()).select_from(_CATEGORIES)).scalar_one()


def _main(what: str, folder: Path) -> None:
    home = folder / "home"
    home.mkdir()
    path = folder / "categories.csv"
    _write(path)
    limits = json.dumps({"IMPORT_MAX_ROWS": max(ROWS_OF_FILE, 1000)})
    host = Host(Config.load(environment(home, sample_plugins="true", global_settings=limits)))
    host.open()
    try:
        host.ensure_administrator()
        host.plugins.activate("sample-stockroom", active=True)
        found = {"import": _import, "bare": _bare}[what](host, path)
    finally:
        host.close()
    print(json.dumps(found))


if __name__ == "__main__":
    _main(sys.argv[1], Path(sys.argv[2]))
