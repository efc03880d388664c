"""Proving again by password who one is."""

from __future__ import annotations

import itertools

import pytest
from sqlalchemy import select

from host.accounts.sessions.table import SESSIONS
from tests.auth.server import PASSWORD

_NUMBERS = itertools.count()


@pytest.fixture
def user(server, client):
    user = server.new_user(f"proves-{next(_NUMBERS)}")
    client.login(user.username, PASSWORD)
    return user


def _methods(server, user):
    [row] = server.rows(select(SESSIONS).where(SESSIONS.c.user_id == user.id))
    return row.methods


def test_the_password_proves_who_is_there(server, client, user):
    """The session gets another step; its key stays."""
    key = client.session_key

    answer = client.post("/auth/reauthenticate", {"password": PASSWORD})

    assert answer.status == 200
    assert answer.body["meta"] == {"is_authenticated": True}
    first, second = answer.data["methods"]
    assert first["method"] == "password"
    assert second == {"method": "password", "at": second["at"], "reauthenticated": True}
    assert _methods(server, user) == [first, second]
    assert client.session_key == key


@pytest.mark.parametrize(
    ("body", "code"),
    [
        pytest.param({}, "required", id="missing"),
        pytest.param({"password": ""}, "required", id="empty"),
        pytest.param({"password": "wrong"}, "incorrect_password", id="wrong"),
        pytest.param({"password": f" {PASSWORD}"}, "incorrect_password", id="with a blank"),
        pytest.param({"password": ["x"]}, "incorrect_password", id="no text"),
    ],
)
def test_another_password_proves_nothing(server, client, user, body, code):
    """The refusal names the member, and the session has no further step."""
    answer = client.post("/auth/reauthenticate", body)

    assert answer.status == 400
    assert answer.errors == [(code, "password")]
    assert len(_methods(server, user)) == 1


def test_a_stranger_has_nothing_to_prove(server, client):
    """401 with the flows, before the input is looked at."""
    answer = client.post("/auth/reauthenticate", {})

    assert answer.status == 401
    assert answer.meta == {"is_authenticated": False}
    assert "login" in answer.flows
    assert server.rows(select(SESSIONS).where(SESSIONS.c.user_id.is_(None))) == []


def test_tries_are_limited(server_with):
    """After ten a minute the endpoint is closed for the account."""
    server = server_with(account_rate_limits='{"login_failed": null}')
    for client in (server.browser(), server.app()):
        user = server.new_user(f"limited-{client.kind}")
        client.login(user.username, PASSWORD)
        statuses = [client.post("/auth/reauthenticate", {"password": "wrong"}).status for _ in range(10)]

        refused = client.post("/auth/reauthenticate", {"password": PASSWORD})

        assert statuses == [400] * 10
        assert (refused.status, refused.body) == (429, {"status": 429})
        assert len(_methods(server, user)) == 1


def test_failures_count_as_those_of_the_login(server_with):
    """Too many close the account here as they do there; the error stands at the password."""
    server = server_with(account_rate_limits='{"login": null, "reauthenticate": null, "login_failed": "3/300s/key"}')
    app = server.app()
    user = server.new_user("counted", email="counted@example.org")
    app.login("counted", PASSWORD)
    for _ in range(3):
        app.post("/auth/reauthenticate", {"password": "wrong"})

    refused = app.post("/auth/reauthenticate", {"password": PASSWORD})
    elsewhere = server.app().post("/auth/login", {"email": "counted@example.org", "password": PASSWORD})

    assert refused.errors == [("too_many_login_attempts", "password")]
    assert elsewhere.errors == [("too_many_login_attempts", None)]
    assert len(_methods(server, user)) == 1
