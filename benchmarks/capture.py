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
ME = "/api/user/me/"
GROUP_NAMES = ("Purchasing", "Workshop")

_LOGIN = "/api/auth/v1/auth/login"
_SESSION = "/api/auth/v1/auth/session"


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


async def _ask(host: Host, token: str) -> dict[str, Any]:
    headers = {"Authorization": f"Token {token}"}
    async with _client(host, headers) as program, _client(host) as browser:
        requests = {
            "page": program.build_request("GET", PAGE),
            "everything": program.build_request("GET", EVERYTHING),
            "action": program.build_request("POST", ACTION, json=ACTION_BODY),
            "me": program.build_request("GET", ME),
        }
        sql = {name: await _sql(host, program, request) for name, request in requests.items()}
        session = await _sign_in(host, browser)
        sql["me in a session"] = await _sql(host, browser, browser.build_request("GET", ME))
    return {"session": session, "sql": sql}


def _client(host: Host, headers: Mapping[str, str] | None = None) -> httpx2.AsyncClient:
    transport = httpx2.ASGITransport(create_app(host))
    return httpx2.AsyncClient(transport=transport, base_url="http://bench", headers=headers)


async def _sql(host: Host, client: httpx2.AsyncClient, request: httpx2.Request) -> Transactions:
    (await client.send(request)).raise_for_status()
    with captured(host) as transactions:
        (await client.send(request)).raise_for_status()
    return transactions


async def _sign_in(host: Host, browser: httpx2.AsyncClient) -> str:
    await browser.get(_SESSION)
    body = {"username": host.config.admin_user, "password": host.config.admin_password.get_secret_value()}
    answer = await browser.post(_LOGIN, json=body, headers={"X-CSRFToken": browser.cookies["csrftoken"]})
    answer.raise_for_status()
    return browser.cookies["sessionid"]


def main() -> None:
    """Print a token and the key of a session that were made, and the SQL of each endpoint."""
    host = Host(Config.load())
    host.open()
    try:
        created = host.ensure_administrator()
        assert created is not None
        host.plugins.activate(PLUGIN, active=True, by=None)
        groups = [host.groups.create(name).pk for name in GROUP_NAMES]
        host.users.change(created.account.id, {"group_ids": groups})
        token, _ = host.tokens.issue(created.account.id, "bench")
        document = {"token": token, "database": str(host.database.url), **asyncio.run(_ask(host, token))}
    finally:
        host.close()
    json.dump(document, sys.stdout)


if __name__ == "__main__":
    main()
