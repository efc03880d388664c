"""Prepare a host for the load, and note what SQL its endpoints run. Runs as a process of its own.

The bare endpoints run the same statements with the same parameters, so none of them is guessed.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import httpx2
from sqlalchemy import event

from api.app import create_app
from host.config import Config
from host.server import Host

Transactions = list[list[tuple[str, list[Any]]]]
"""The statements of each transaction in order, each with its parameters."""

PAGE = "/api/plugins/?limit=25"
EVERYTHING = "/api/plugins/"
ACTION = "/api/action/"
ACTION_BODY: Mapping[str, Any] = {"action": "sample.echo", "data": "hello"}
PLUGIN = "sample-action"


@contextmanager
def captured(host: Host) -> Iterator[Transactions]:
    """Note every statement that the host runs meanwhile."""
    found: Transactions = []

    def begin(_connection: Any) -> None:
        found.append([])

    def note(_connection: Any, _cursor: Any, statement: str, parameters: Any, _context: Any, _many: Any) -> None:
        found[-1].append((statement, list(parameters)))

    listeners: Mapping[str, Callable[..., None]] = {"begin": begin, "before_cursor_execute": note}
    for name, listener in listeners.items():
        event.listen(host.database.engine, name, listener)
    try:
        yield found
    finally:
        for name, listener in listeners.items():
            event.remove(host.database.engine, name, listener)


async def _ask(host: Host, token: str) -> dict[str, Transactions]:
    transport = httpx2.ASGITransport(create_app(host))
    headers = {"Authorization": f"Token {token}"}
    async with httpx2.AsyncClient(transport=transport, base_url="http://bench", headers=headers) as client:
        requests = {
            "page": client.build_request("GET", PAGE),
            "everything": client.build_request("GET", EVERYTHING),
            "action": client.build_request("POST", ACTION, json=ACTION_BODY),
        }
        found = {}
        for name, request in requests.items():
            (await client.send(request)).raise_for_status()
            with captured(host) as transactions:
                (await client.send(request)).raise_for_status()
            found[name] = transactions
    return found


def main() -> None:
    """Print the token that was made, and the SQL of each endpoint."""
    host = Host(Config.load())
    host.open()
    try:
        created = host.ensure_administrator()
        assert created is not None
        host.plugins.activate(PLUGIN, active=True, by=None)
        token, _ = host.tokens.issue(created.account.id, "bench")
        document = {"token": token, "database": str(host.database.url), "sql": asyncio.run(_ask(host, token))}
    finally:
        host.close()
    json.dump(document, sys.stdout)


if __name__ == "__main__":
    main()
