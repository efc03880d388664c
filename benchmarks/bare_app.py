"""The endpoints of the comparison: what remains when one writes them by hand, for this one purpose.

They run the SQL that the host runs, through the same engine and in as many transactions, in plain functions in
Starlette's thread pool, and answer the same JSON. All else is left out: no middleware, no checks of what comes in, no
filters, no error handling, no plugins.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
from sqlalchemy import Connection, Row
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from host.accounts.profiles import DEFAULTS
from host.storage.engine import Database

VARIABLE = "PLUGYARD_BENCH_BARE"
"""Names the file that ``benchmarks.capture`` printed."""


class Bare:
    """The endpoints.

    Args:
        database: as the host opens it.
        sql: what the host runs for each endpoint: authentication first, then the list's own transaction.

    """

    def __init__(self, database: Database, sql: dict[str, Any]) -> None:
        self._database = database
        ((self._authentication, _),) = sql["action"][0]
        (_, ((self._page, self._page_parameters), (self._count, _))) = sql["page"]
        (_, ((self._everything, self._everything_parameters),)) = sql["everything"]
        (_, ((self._account, _),)) = sql["me"]
        (((self._session, (self._no_factor, *_)),), _) = sql["me in a session"]
        self._actions: dict[str, Callable[[Any, Row[Any]], Any]] = {"sample.echo": _echo}

    def plugins(self, request: Request) -> Response:
        """Answer the list of plugins, or a page of it."""
        if self._user(request) is None:
            return Response(status_code=401)
        limit = int(request.query_params.get("limit", 0))
        with self._database.read() as connection:
            if not limit:
                rows = _all(connection, self._everything, self._everything_parameters)
                return _json([_plugin(row) for row in rows])
            rows = _all(connection, self._page, self._page_parameters)
            count = connection.exec_driver_sql(self._count).scalar_one()
        following = f"{request.url.replace(query='')}?limit={limit}&offset={limit}" if limit < count else None
        return _json({"count": count, "next": following, "previous": None, "results": [_plugin(row) for row in rows]})

    async def action(self, request: Request) -> Response:
        """Perform an action."""
        return await run_in_threadpool(self._act, request, await request.body())

    def _act(self, request: Request, body: bytes) -> Response:
        user = self._user(request)
        if user is None:
            return Response(status_code=401)
        sent = orjson.loads(body)
        name = sent["action"]
        return _json({"action": name, "result": True, "info": self._actions[name](sent.get("data"), user)})

    def me(self, request: Request) -> Response:
        """Answer the own account, of a token's owner or of whoever is signed in by the session."""
        user = self._user(request) if "authorization" in request.headers else self._visitor(request)
        if user is None:
            return Response(status_code=401)
        with self._database.read() as connection:
            return _json(_own_account(_all(connection, self._account, (user.user_id,))))

    def _visitor(self, request: Request) -> Row[Any] | None:
        digest = hashlib.sha256(request.cookies["sessionid"].encode()).hexdigest()
        moment = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S.%f")
        with self._database.read() as connection:
            row = connection.exec_driver_sql(self._session, (self._no_factor, digest, moment)).first()
        return row if row is not None and row.lives else None

    def _user(self, request: Request) -> Row[Any] | None:
        digest = hashlib.sha256(request.headers["authorization"].partition(" ")[2].encode()).hexdigest()
        with self._database.read() as connection:
            row = connection.exec_driver_sql(self._authentication, (digest,)).first()
        if row is None or not hmac.compare_digest(row.digest, digest):
            return None
        if row.revoked or not row.is_active or row.expiry < datetime.now(UTC).date().isoformat():
            return None
        return row


def _all(connection: Connection, statement: str, parameters: Sequence[Any]) -> Sequence[Row[Any]]:
    return connection.exec_driver_sql(statement, tuple(parameters)).all()


def _plugin(row: Any) -> dict[str, Any]:
    return {
        "pk": row[0],
        "key": row[1],
        "name": row[2],
        "package_name": row[3],
        "active": bool(row[4]),
        "meta": orjson.loads(row[5]),
        "mixins": orjson.loads(row[6]),
        "is_builtin": bool(row[7]),
        "is_sample": bool(row[8]),
        "is_installed": bool(row[9]),
        "is_package": bool(row[10]),
        "is_mandatory": bool(row[11]),
    }


def _own_account(rows: Sequence[Any]) -> dict[str, Any]:
    first = rows[0]
    chosen = orjson.loads(first.profile)
    profile = {name: chosen.get(name, default) for name, default in DEFAULTS.items()}
    return {
        "pk": first.id,
        "username": first.username,
        "first_name": first.first_name,
        "last_name": first.last_name,
        "email": first.email,
        "groups": [{"pk": row.group_id, "name": row.group_name} for row in rows if row.group_id is not None],
        "is_staff": bool(first.is_staff),
        "is_superuser": bool(first.is_superuser),
        "is_active": bool(first.is_active),
        "profile": {**profile, "primary_group": first.primary_group_id},
    }


def _echo(data: Any, user: Row[Any]) -> Any:
    return {"you": user.username, "said": data}


def _json(content: Any) -> Response:
    return Response(orjson.dumps(content), media_type="application/json")


def application() -> Starlette:
    """Make the application, of the file that the environment names."""
    known = json.loads(Path(os.environ[VARIABLE]).read_text("utf-8"))
    bare = Bare(Database(known["database"]), known["sql"])
    return Starlette(
        routes=[
            Route("/api/plugins/", bare.plugins),
            Route("/api/action/", bare.action, methods=["POST"]),
            Route("/api/user/me/", bare.me),
        ]
    )
