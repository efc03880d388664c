"""An export of many attachments: time in times of a bare loop with the csv module, and memory of its process.

``BENCH_EXPORT_ROWS`` sets how many; a million shows that memory does not grow with them.
"""

from __future__ import annotations

import csv
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import Any, Final

from sqlalchemy import insert

from api.app import offer_exports
from benchmarks.bench_attachments import make_people, make_row
from benchmarks.figures import Figure, Target, interleaved, median_ratio
from host.config import Config
from host.records.attachments.listing import ATTACHMENT_LIST
from host.records.attachments.table import ATTACHMENTS
from host.records.data_outputs import OUTPUTS
from host.server import Host
from host.storage.listing import Query
from host.storage.rows import Rows
from tests.e2e.hosts import environment

ROWS: Final = int(os.environ.get("BENCH_EXPORT_ROWS", "50000"))
ROUNDS: Final = 3
MOST_TIME: Final = 3.0
"""Times of the bare loop."""
MOST_MEMORY: Final = 300.0
"""MiB."""
_AT_ONCE: Final = 5000
_PATIENCE: Final = 3600.0


def run() -> list[Figure]:
    """Fill a host, then export and run the bare loop in turn, each in a process of its own."""
    with TemporaryDirectory(prefix="plugyard-bench-") as folder:
        home = Path(folder) / "home"
        home.mkdir()
        _in_a_process("fill", home)
        memory: list[float] = []

        def exported() -> float:
            found = _in_a_process("export", home)
            assert found["rows"] == ROWS, found
            memory.append(found["memory"])
            return float(found["seconds"])

        seconds = interleaved({"ours": exported, "bare": lambda: float(_in_a_process("bare", home)["seconds"])}, ROUNDS)
    ratio = median_ratio(seconds["ours"], seconds["bare"])
    return [
        Figure(f"{ROWS:,} rows as CSV, bare loop", statistics.median(seconds["bare"]), "s"),
        Figure(f"{ROWS:,} rows as CSV, an export", statistics.median(seconds["ours"]), "s"),
        Figure("an export, to the bare loop", ratio, "times", Target(MOST_TIME)),
        Figure("memory of the process that exports", max(memory), "MiB", Target(MOST_MEMORY)),
    ]


def _in_a_process(what: str, home: Path) -> Any:
    command = [sys.executable, "-m", "benchmarks.bench_export", what, str(home)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, cwd=Path(__file__).parents[1])
    return json.loads(done.stdout.splitlines()[-1])


def _fill(host: Host) -> dict[str, Any]:
    created = host.ensure_administrator()
    assert created is not None
    people = [created.account.as_user(), *make_people(host)]
    source = random.Random(7)
    for start in range(1, ROWS + 1, _AT_ONCE):
        rows = [make_row(source, number, people) for number in range(start, min(start + _AT_ONCE, ROWS + 1))]
        with host.database.write() as session:
            session.connection().execute(insert(ATTACHMENTS), rows)
    return {}


def _export(host: Host) -> dict[str, Any]:
    offer_exports(host)
    exports, user = host.records.exports, host.directory.superusers()[0].as_user()
    key = exports.begin("attachments", exports.choose("attachments", "csv", None), {}, "export=true", by=user)
    began = time.perf_counter()
    assert host.tasks.drain(_PATIENCE)
    seconds = time.perf_counter() - began
    with host.database.read() as connection:
        output = connection.execute(OUTPUTS.select().where(OUTPUTS.c.id == key)).one()
    assert output.complete, output.errors
    with host.files.open(output.output) as file:
        rows = sum(1 for _ in file) - 1
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"seconds": seconds, "rows": rows, "memory": memory}


def _bare(host: Host) -> dict[str, Any]:
    query = Query(user=host.directory.superusers()[0].as_user())
    began = time.perf_counter()
    with TemporaryFile("w", newline="", dir=host.home) as file:
        writer = csv.writer(file)
        for batch in Rows(host.database).batches(ATTACHMENT_LIST, query):
            for row in batch:
                writer.writerow(row)
    return {"seconds": time.perf_counter() - began}


def _main(what: str, home: Path) -> None:
    host = Host(Config.load(dict(environment(home))))
    host.open()
    try:
        found = {"fill": _fill, "export": _export, "bare": _bare}[what](host)
    finally:
        host.close()
    print(json.dumps(found))


if __name__ == "__main__":
    _main(sys.argv[1], Path(sys.argv[2]))
