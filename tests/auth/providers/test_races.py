"""Several at the same moment, and providers of plugins."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import MetaData, Table, select

from tests.auth.clients import Browser
from tests.auth.providers.visits import CALLBACK, Person, arrive, sessions_of, settings, waiting
from tests.auth.server import AuthServer, Mailbox, running_server
from tests.providers.oidc_server import CLIENT_ID, SECRET, GithubServer, OidcServer

RACERS = 8


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def racing(
    request: pytest.FixtureRequest,
    smtp: tuple[str, Mailbox],
    tmp_path: Path,
    oidc: OidcServer,
    github: GithubServer,
) -> Iterator[AuthServer]:
    """A host on each kind of database."""
    if request.param == "sqlite":
        yield request.getfixturevalue("server")
        return
    options = {"database_url": request.getfixturevalue("host_postgres_url")}
    with running_server(tmp_path, smtp, socialaccount_providers=settings(oidc, github), **options) as server:
        oidc.clock = lambda: server.clock().timestamp()
        yield server


def at_once(action: Callable[[int], Any]) -> list[Any]:
    """Do something several times at the same moment."""
    ready = threading.Barrier(RACERS)

    def run(number: int) -> Any:
        ready.wait()
        return action(number)

    with ThreadPoolExecutor(RACERS) as pool:
        return list(pool.map(run, range(RACERS)))


def twins(server: AuthServer, browser: Browser) -> list[Browser]:
    """Return browsers that share the session of one."""
    browser.get("/auth/session")
    found = [server.browser() for _ in range(RACERS)]
    for twin in found:
        twin.http.cookies.update(browser.http.cookies)
    return found


def test_of_many_at_once_one_wins(racing: AuthServer, person: Callable[..., Person], oidc: OidcServer):
    """First logins make one account, a redirect and a sign-up are finished once, the last connection stays."""
    server, who = racing, person()
    apps = [(server.app(), who.token()) for _ in range(RACERS)]
    answers = at_once(lambda number: who.send_token(apps[number][0], token=apps[number][1]))
    assert [answer.status for answer in answers] == [200] * RACERS
    [account] = who.accounts(server)
    assert {answer.data["user"]["id"] for answer in answers} == {account.user_id}
    assert len(sessions_of(server, account.user_id)) == RACERS

    browser = server.browser()
    params = who.consent(who.begin(browser))
    same, exchanges = twins(server, browser), len(oidc.asked("/token"))
    locations = at_once(lambda number: arrive(same[number], params))
    assert locations.count(CALLBACK) == 1
    assert len(oidc.asked("/token")) == exchanges + 1

    newcomer, browser = person(), server.browser()
    waiting(server, browser, newcomer)
    same = twins(server, browser)
    values = {"username": newcomer.name, "email": f"mine-{newcomer.email}"}
    done = at_once(lambda number: same[number].post("/auth/provider/signup", values))
    assert [answer.status for answer in done].count(200) == 1
    assert len(newcomer.accounts(server)) == 1

    second, (app, _) = person(), apps[0]
    assert second.send_token(app, "connect").status == 200
    ended = [server.app() for _ in range(RACERS)]
    for one in ended:
        one.session_key = app.session_key
    uids = [who.uid, second.uid]
    gone = at_once(
        lambda number: ended[number].delete("/account/providers", {"provider": "my", "account": uids[number % 2]})
    )
    assert [answer.status for answer in gone].count(200) == 1
    assert len(who.accounts(server)) + len(second.accounts(server)) == 1


def test_a_plugin_offers_a_provider_and_hears_of_what_happens(
    smtp: tuple[str, Mailbox], tmp_path: Path, oidc: OidcServer, person: Callable[..., Person]
):
    """Its provider serves as a configured one, and the events name provider and person."""
    given = {"SERVER": oidc.url, "CLIENT_ID": CLIENT_ID, "CLIENT_SECRET": SECRET}
    options = {
        "plugins_enabled": "true",
        "sample_plugins": "true",
        "plugin_settings": json.dumps({"sample-sign-in": given}),
    }
    with running_server(tmp_path, smtp, **options) as server:
        oidc.clock = lambda: server.clock().timestamp()
        server.host.plugins.activate("sample-sign-in")
        server.host.plugins.activate("audit-log")
        who, second, app = person(), person(), server.app()

        assert who.send_token(app, provider="sample").status == 200
        assert second.send_token(app, "connect", provider="sample").status == 200
        app.delete("/account/providers", {"provider": "sample", "account": second.uid})
        who.send_token(app, provider="sample")

        assert server.host.events.drain(10)
        entries = Table("audit_log_entry", MetaData(), autoload_with=server.host.database.engine)
        heard = [(row.name, row.user_id, row.data) for row in server.rows(select(entries).order_by(entries.c.id))]
    told = [(name, data.get("provider"), data.get("uid")) for name, _, data in heard if name.startswith("user.")]
    assert told == [
        ("user.signed_up", None, None),
        ("user.email_verified", None, None),
        ("user.provider_connected", "sample", who.uid),
        ("user.logged_in", None, None),
        ("user.provider_connected", "sample", second.uid),
        ("user.provider_disconnected", "sample", second.uid),
        ("user.logged_out", None, None),
        ("user.logged_in", None, None),
    ]
    assert len({user for name, user, _ in heard if name.startswith("user.")} - {None}) == 1
