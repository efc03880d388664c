"""Many requests of one session or account at once: each secret serves once, each failure counts, nobody hangs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from host.accounts.sessions.table import SESSIONS
from tests.auth.server import PASSWORD, AuthServer, Mailbox, running_server

CONFIRM = "/auth/code/confirm"
RACERS = 32


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def server(request: pytest.FixtureRequest, tmp_path: Path, smtp: tuple[str, Mailbox]) -> Iterator[AuthServer]:
    """A host on either database, with web tokens."""
    options = {"database_url": request.getfixturevalue("host_postgres_url")} if request.param == "postgres" else {}
    more = {"headless_token_strategy": "jwt", "account_login_by_code_max_attempts": "5"}
    with running_server(tmp_path, smtp, **more, **options) as server:
        yield server


def at_once(action: Callable[[int], int], number: int = RACERS) -> list[int]:
    with ThreadPoolExecutor(number) as pool:
        return list(pool.map(action, range(number)))


def stored(server: AuthServer, username: str) -> list[Any]:
    user_id = server.user_row(username).id
    return server.rows(select(SESSIONS).where(SESSIONS.c.user_id == user_id).order_by(SESSIONS.c.id))


def test_races_have_one_winner(server: AuthServer) -> None:
    """On one host, one after the other, for hosts take longer to start than races to run."""
    _codes(server)
    _refresh_tokens(server)
    _sessions_that_end_each_other(server)


def _codes(server: AuthServer) -> None:
    server.new_user("coded", email=f"coded.{server.host.database.is_sqlite}@example.org".lower())
    address = server.user_row("coded").email

    def ask() -> dict[str, str]:
        app = server.app()
        app.post("/auth/code/request", {"email": address})
        return {"X-Session-Token": str(app.session_key)}

    def tries(code: str, headers: dict[str, str]) -> list[int]:
        return at_once(lambda _: server.app().call("POST", CONFIRM, {"code": code}, headers=headers).status)

    wrong = tries("BBBB-BBBB", ask())
    headers = ask()
    right = tries(server.mailbox.code(address, number=2), headers)

    assert wrong.count(400) == 5
    assert set(wrong) <= {400, 409}
    assert right.count(200) == 1
    assert set(right) <= {200, 409, 410}
    assert len(stored(server, "coded")) == 1


def _refresh_tokens(server: AuthServer) -> None:
    server.new_user("fresh")
    token = server.app().login("fresh", PASSWORD).meta["refresh_token"]

    statuses = at_once(lambda _: server.app().post("/tokens/refresh", {"refresh_token": token}).status)

    assert sorted(statuses) == [200] + [400] * (RACERS - 1)
    assert len(stored(server, "fresh")[0].data["refresh_tokens"]) == 1


def _sessions_that_end_each_other(server: AuthServer) -> None:
    server.new_user("duel")
    apps = [server.app() for _ in range(6)]
    for app in apps:
        app.login("duel", PASSWORD)
    ids = [row.id for row in stored(server, "duel")]

    def end_others(number: int) -> int:
        return apps[number].delete("/auth/sessions", {"sessions": [one for one in ids if one != ids[number]]}).status

    statuses = at_once(end_others, len(apps))

    assert statuses.count(200) == 1
    assert set(statuses) <= {200, 401, 410}
    assert len(stored(server, "duel")) == 1
