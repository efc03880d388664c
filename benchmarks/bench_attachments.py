"""The list of 100,000 attachments: against an endpoint written by hand, and by every filter and order."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import os
import random
import statistics
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from datetime import UTC, date, datetime, timedelta
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final
from urllib.parse import quote

import httpx2
import orjson
from sqlalchemy import insert
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from api.app import create_app
from benchmarks.capture import captured
from benchmarks.figures import Figure, Target, interleaved, median_ratio
from benchmarks.load import Job, Load
from benchmarks.serving import PLUGYARD, Served, exchange
from benchmarks.side_by_side import CONNECTIONS, LEAST_SHARE, ROUNDS, SECONDS
from host.config import Config
from host.contract.values import User
from host.records.attachments.table import ATTACHMENT_TAGS, ATTACHMENTS
from host.records.attachments.tags import fold
from host.server import Host
from host.storage.engine import Database
from host.storage.tables import now
from tests.e2e.hosts import environment

ROWS: Final = 100_000
PEOPLE: Final = 20
MOST_FOR_QUERY: Final = 3.0
"""Time of a filtered or ordered page, in times of the first page's."""
MOST_FOR_OFFSET: Final = 10.0
_PATH: Final = "/api/attachment/"
_FIRST: Final = "limit=100"
_OFFSET: Final = "limit=100&offset=90000"
_VARIABLE: Final = "PLUGYARD_BENCH_ATTACHMENTS"
_TYPES: Final = ("build", "company", "part", "purchaseorder", "salesorder", "stockitem")
_TAGS: Final = tuple(f"Tag {number}" for number in range(40))
_AT_ONCE: Final = 5000
_SHORT: Final = 0.4
_QUERIES: Final = (
    "model_type=part",
    "model_type=part&model_id=77",
    "model_id=77",
    "upload_user=2",
    "is_link=true",
    "is_file=true",
    "is_image=true",
    "is_image=false",
    "has_thumbnail=true",
    "tags=tag 3",
    "tags=tag 3,tag 5",
    *(
        f"ordering={sign}{name}"
        for name in ("model_id", "model_type", "upload_date", "file_size")
        for sign in ("", "-")
    ),
)


def run() -> list[Figure]:
    """Fill a host, then load it and the bare application in turn."""
    with TemporaryDirectory(prefix="plugyard-bench-") as folder, ExitStack() as running:
        root = Path(folder)
        home = root / "home"
        home.mkdir()
        variables = environment(home)
        known = root / "known.json"
        token = _prepare(variables, known)
        bare = [sys.executable, "-m", "uvicorn", "--factory", "benchmarks.bench_attachments:application"]
        bare += ["--port", "{port}", "--http", "httptools", "--loop", "uvloop", "--ws", "none"]
        bare += ["--no-access-log", "--no-server-header"]
        path = {"PYTHONPATH": str(Path(__file__).parent.parent), _VARIABLE: str(known)}
        ports = {
            "ours": running.enter_context(Served([PLUGYARD, "serve", "--port", "{port}"], variables, "/health", home)),
            "bare": running.enter_context(Served(bare, variables | path, "/", root)),
        }
        load = running.enter_context(Load())
        first = _request(_FIRST, token)
        answers = {side: exchange(one.port, _once(first)).partition(b"\r\n\r\n")[2] for side, one in ports.items()}
        assert answers["ours"] == answers["bare"], answers
        figures = _compared(load, {side: one.port for side, one in ports.items()}, first)
        return figures + _by_query(load, ports["ours"].port, token)


def _compared(load: Load, ports: Mapping[str, int], request: str) -> list[Figure]:
    def ask(port: int, seconds: float = SECONDS) -> float:
        return load.run(Job(port=port, request=request, connections=CONNECTIONS, seconds=seconds)).per_second

    for port in ports.values():
        ask(port, _SHORT)
    found = interleaved({side: partial(ask, port) for side, port in ports.items()}, ROUNDS)
    share = median_ratio(found["ours"], found["bare"]) * 100
    return [
        Figure(f"GET {_PATH}?{_FIRST}, bare", statistics.median(found["bare"]), "req/s"),
        Figure(f"GET {_PATH}?{_FIRST}, ours", statistics.median(found["ours"]), "req/s"),
        Figure(f"GET {_PATH}?{_FIRST}, ours of bare", share, "%", Target(LEAST_SHARE, at_least=True)),
    ]


def _by_query(load: Load, port: int, token: str) -> list[Figure]:
    def ask(query: str) -> float:
        job = Job(port=port, request=_request(query, token), connections=1, seconds=_SHORT)
        return load.run(job).median_ms

    asked = {query: f"{query}&{_FIRST}" for query in _QUERIES} | {_FIRST: _FIRST, "offset=90000": _OFFSET}
    found = interleaved({name: partial(ask, query) for name, query in asked.items()}, 3)
    first = found.pop(_FIRST)
    limits = dict.fromkeys(found, MOST_FOR_QUERY) | {"offset=90000": MOST_FOR_OFFSET}
    return [
        Figure(f"first page of {ROWS:,}", statistics.median(first), "ms"),
        *(Figure(f"{name}, to the first page", median_ratio(found[name], first), "times", Target(limits[name]))
          for name in found),
    ]  # fmt: skip


def _request(query: str, token: str) -> str:
    head = f"GET {_PATH}?{quote(query, safe='=&,')} HTTP/1.1\r\nHost: bench\r\nAccept: application/json\r\n"
    return f"{head}User-Agent: bench\r\nAuthorization: Token {token}\r\n\r\n"


def _once(request: str) -> bytes:
    return request.encode().replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")


# -- what there is to list ----------------------------------------------------------------------------------------


def _prepare(variables: Mapping[str, str], known: Path) -> str:
    host = Host(Config.load(dict(variables)))
    host.open()
    try:
        created = host.ensure_administrator()
        assert created is not None
        people = [created.account.as_user(), *make_people(host)]
        _fill(host.database, people)
        token, _ = host.tokens.issue(created.account.id, "bench")
        sql = asyncio.run(_sql(host, token))
    finally:
        host.close()
    known.write_text(json.dumps({"database": str(host.database.url), "sql": sql}), "utf-8")
    return token


def make_people(host: Host) -> Iterator[User]:
    """Make the accounts that attach something."""
    for number in range(PEOPLE):
        values = {"username": f"person{number}", "email": f"person{number}@example.org"}
        yield host.users.create(values, password="lantern on the shelf").as_user()  # noqa: S106 - nobody signs in


def _fill(database: Database, people: list[User]) -> None:
    source = random.Random(7)
    rows = [make_row(source, number, people) for number in range(1, ROWS + 1)]
    tags = [{"attachment_id": row["id"], "folded": fold(tag)} for row in rows for tag in row["tags"]]
    with database.write() as session:
        connection = session.connection()
        for start in range(0, len(rows), _AT_ONCE):
            connection.execute(insert(ATTACHMENTS), rows[start : start + _AT_ONCE])
        for start in range(0, len(tags), _AT_ONCE):
            connection.execute(insert(ATTACHMENT_TAGS), tags[start : start + _AT_ONCE])
        connection.exec_driver_sql("ANALYZE")


def make_row(source: random.Random, number: int, people: list[User]) -> dict[str, Any]:
    """Return an attachment."""
    model_type, model_id = source.choice(_TYPES), source.randrange(5000)
    has_file, is_image = source.random() < 0.7, False
    name = path = thumbnail = None
    if has_file:
        is_image = source.random() < 0.3
        name = f"file {number}.png" if is_image else f"plan_{number}.pdf"
        path = f"attachments/{model_type}/{model_id}/{name}"
        thumbnail = f"attachments/{model_type}/{model_id}/{number}_thumbnail.png" if is_image else None
    return {
        "id": number,
        "model_type": model_type,
        "model_id": model_id,
        "path": path,
        "filename": name,
        "thumbnail": thumbnail,
        "is_file": has_file,
        "is_link": not has_file,
        "has_thumbnail": is_image,
        "is_image": is_image,
        "link": None if has_file else f"https://example.org/{number}",
        "comment": f"Comment on what was attached as number {number}",
        "file_size": source.randrange(10**7) if has_file else 0,
        "upload_date": date(2020, 1, 1) + timedelta(days=number // 50),
        "upload_user_id": source.choice(people).id,
        "tags": source.sample(_TAGS, source.randrange(3)),
        "metadata": {},
    }


async def _sql(host: Host, token: str) -> list[list[tuple[str, list[Any]]]]:
    transport = httpx2.ASGITransport(create_app(host))
    headers = {"Authorization": f"Token {token}"}
    async with httpx2.AsyncClient(transport=transport, base_url="http://bench", headers=headers) as client:
        (await client.get(f"{_PATH}?{_FIRST}")).raise_for_status()
        with captured(host) as transactions:
            (await client.get(f"{_PATH}?{_FIRST}")).raise_for_status()
    # Authentication, then the page and the count, then the authors: nothing else, however long the list is.
    assert [len(statements) for statements in transactions] == [1, 2, 1], transactions
    return transactions


# -- the bare application -----------------------------------------------------------------------------------------


def application() -> Starlette:
    """Make an application of the one endpoint, written by hand for nothing else."""
    known = json.loads(Path(os.environ[_VARIABLE]).read_text("utf-8"))
    return Starlette(routes=[Route(_PATH, partial(_list, Database(known["database"]), known["sql"]))])


def _list(database: Database, sql: Any, request: Request) -> Response:
    (((authentication, _),), ((page, parameters), (count, _)), ((authors, known),)) = sql
    digest = hashlib.sha256(request.headers["authorization"].partition(" ")[2].encode()).hexdigest()
    with database.read() as connection:
        user = connection.exec_driver_sql(authentication, (digest,)).first()
    if user is None or not hmac.compare_digest(user.digest, digest) or user.revoked or not user.is_active:
        return Response(status_code=401)
    if user.expiry < now().astimezone(UTC).date().isoformat():
        return Response(status_code=401)
    limit = int(request.query_params["limit"])
    with database.read() as connection:
        rows = connection.exec_driver_sql(page, tuple(parameters)).all()
        total = connection.exec_driver_sql(count).scalar_one()
    with database.read() as connection:
        # The authors of this page are always the same.
        people = {row["pk"]: dict(row) for row in connection.exec_driver_sql(authors, tuple(known)).mappings()}
    following = f"{request.url.replace(query='')}?limit={limit}&offset={limit}" if limit < total else None
    body = {"count": total, "next": following, "previous": None, "results": [_record(row, people) for row in rows]}
    return Response(orjson.dumps(body), media_type="application/json")


def _record(row: Any, people: Mapping[int, Any]) -> dict[str, Any]:
    return {
        "pk": row[0],
        "attachment": None if row[1] is None else f"/media/{quote(row[1])}",
        "thumbnail": None if row[2] is None else f"/media/{quote(row[2])}",
        "filename": row[3],
        "link": row[4],
        "comment": row[5],
        "is_image": bool(row[6]),
        "upload_date": datetime.strptime(row[7], "%Y-%m-%d").date().isoformat(),  # noqa: DTZ007 - a day has no zone
        "upload_user": row[8],
        "file_size": row[9],
        "model_type": row[10],
        "model_id": row[11],
        "tags": orjson.loads(row[12]),
        "user_detail": people.get(row[8]),
    }
