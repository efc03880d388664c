"""Many uses of one right to a password, or to a username, at the same moment."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import select

from host.accounts.account import USERS
from host.accounts.emails.table import EMAILS
from host.accounts.sessions.table import SESSIONS
from tests.auth.server import PASSWORD, AuthServer, running_server

_MANY = 32
_SOME = 8
_NEW = "staple of another battery"


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def url(request):
    """Give the options that choose a database."""
    return {"database_url": request.getfixturevalue("host_postgres_url")} if request.param == "postgres" else {}


def _all_at_once(work, times: int = _MANY):
    with ThreadPoolExecutor(times) as pool:
        return list(pool.map(work, range(times)))


def _fitting(server: AuthServer, username: str, numbers=range(_MANY)):
    stored = server.user_row(username).password_hash
    return [number for number in numbers if server.host.sign_in.area.passwords.check(stored, f"{_NEW} {number}")]


def test_one_of_many_wins(url, smtp, tmp_path):
    """A reset link serves once, a username is given once, and of many changes that one password allows, one is made."""
    with running_server(tmp_path, smtp, **url) as server:
        _race_a_link(server)
        _race_changes(server)
        _race_sign_ups(server)


def test_one_of_many_codes_wins(url, smtp, tmp_path):
    """A reset code serves once, however many use it in its session."""
    with running_server(tmp_path, smtp, account_password_reset_by_code_enabled="true", **url) as server:
        address = f"coded-{len(url)}@example.org"
        server.new_user("coded", email=address)
        asked = server.app()
        asked.post("/auth/password/request", {"email": address})
        code = server.mailbox.code(address)
        apps = [server.app() for _ in range(_MANY)]
        for app in apps:
            app.session_key = asked.session_key

        answers = _all_at_once(lambda n: apps[n].post("/auth/password/reset", {"key": code, "password": f"{_NEW} {n}"}))

        assert Counter(answer.status for answer in answers) == {401: 1, 409: _MANY - 1}
        [winner] = [number for number, answer in enumerate(answers) if answer.status == 401]
        assert _fitting(server, "coded") == [winner]


def _race_a_link(server: AuthServer) -> None:
    address = f"linked-{'lite' if server.host.database.is_sqlite else 'post'}@example.org"
    server.new_user("linked", email=address)
    server.app().post("/auth/password/request", {"email": address})
    key = server.mailbox.link(address).partition("key=")[2]
    apps = [server.app() for _ in range(_MANY)]

    answers = _all_at_once(lambda n: apps[n].post("/auth/password/reset", {"key": key, "password": f"{_NEW} {n}"}))

    assert Counter(answer.status for answer in answers) == {401: 1, 400: _MANY - 1}
    assert {error for answer in answers if answer.status == 400 for error in answer.errors} == {
        ("invalid_password_reset", "key")
    }
    [winner] = [number for number, answer in enumerate(answers) if answer.status == 401]
    assert _fitting(server, "linked") == [winner]


def _race_changes(server: AuthServer) -> None:
    user = server.new_user("racer")
    apps = [server.app() for _ in range(_SOME)]
    for app in apps:
        app.login("racer", PASSWORD)

    def change(number: int):
        body = {"current_password": PASSWORD, "new_password": f"{_NEW} {number}"}
        return apps[number].post("/account/password/change", body)

    answers = _all_at_once(change, _SOME)

    assert {answer.status for answer in answers} <= {400, 401, 410}
    assert len(_fitting(server, "racer")) == 1
    # A session that was at work just then may have left its row; it opens nothing any more.
    assert {app.get("/auth/session").status for app in apps} <= {401, 410}
    assert len(server.rows(select(SESSIONS.c.id).where(SESSIONS.c.user_id == user.id))) < _SOME


def _race_sign_ups(server: AuthServer) -> None:
    before = len(server.rows(select(USERS.c.id)))
    apps = [server.app() for _ in range(_SOME)]

    def sign_up(number: int):
        body = {"username": "Contested", "email": f"c{number}@example.org", "password": PASSWORD}
        return apps[number].post("/auth/signup", body)

    answers = _all_at_once(sign_up, _SOME)

    assert Counter(answer.status for answer in answers) == {200: 1, 400: _SOME - 1}
    errors = {tuple(answer.errors) for answer in answers if answer.status == 400}
    assert errors == {(("username_taken", "username"),)}
    assert len(server.rows(select(USERS.c.id))) == before + 1
    assert len(server.rows(select(EMAILS).where(EMAILS.c.email.like("c%@example.org")))) == 1
