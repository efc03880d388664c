"""The session: who is signed in, and signing out."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from sqlalchemy import select, update

from host.accounts.account import USERS
from host.accounts.sessions.table import SESSIONS
from tests.auth.server import PASSWORD

_OPEN = {
    "status": 401,
    "data": {"flows": [{"id": "login"}, {"id": "login_by_code"}, {"id": "signup"}, {"id": "mfa_login_webauthn"}]},
    "meta": {"is_authenticated": False},
}


def _sessions(server, username):
    return server.rows(select(SESSIONS).where(SESSIONS.c.user_id == server.user_row(username).id))


def test_a_stranger_learns_what_may_be_done(server, client):
    """Without a session the answer lists the flows, and nothing is stored."""
    before = len(server.rows(select(SESSIONS)))

    answer = client.get("/auth/session")

    assert answer.status == 401
    assert answer.body == _OPEN
    assert len(server.rows(select(SESSIONS))) == before
    assert answer.response.headers["cache-control"] == "max-age=0, no-cache, no-store, must-revalidate, private"


def test_the_session_shows_who_is_signed_in(server, client):
    """The user, the steps of the login, and nothing that belongs to others."""
    user = server.new_user(f"shown-{client.kind}", email=f"shown-{client.kind}@example.org")
    client.login(user.username, PASSWORD)

    answer = client.get("/auth/session")

    assert answer.status == 200
    assert set(answer.body) == {"status", "data", "meta"}
    assert answer.body["meta"] == {"is_authenticated": True}
    assert answer.data["user"] == {
        "id": user.id,
        "display": user.username,
        "has_usable_password": True,
        "username": user.username,
        "email": user.email,
    }
    [step] = answer.data["methods"]
    assert step == {"method": "password", "at": step["at"], "username": user.username}
    [row] = _sessions(server, user.username)
    assert row.client == client.kind


def test_a_user_without_an_address_is_shown_without_one(server, client):
    """Empty members are left out."""
    user = server.new_user(f"bare-{client.kind}")

    assert "email" not in client.login(user.username, PASSWORD).data["user"]
    assert server.user_row(user.username).email == ""


def test_signing_out_ends_the_session(server, client):
    """The answer is 401, the row is gone, and so is the key."""
    user = server.new_user(f"leaves-{client.kind}")
    client.login(user.username, PASSWORD)
    key = client.session_key

    answer = client.delete("/auth/session")

    assert answer.status == 401
    assert answer.body == _OPEN
    assert _sessions(server, user.username) == []
    if client.kind == "browser":
        assert client.session_key is None
    else:
        client.session_key = key
        assert client.get("/auth/session").status == 410


def test_signing_out_without_a_session_is_fine(server, client):
    """It is answered as for everybody who is not signed in."""
    answer = client.delete("/auth/session")

    assert answer.status == 401
    assert answer.body == _OPEN
    assert server.rows(select(SESSIONS).where(SESSIONS.c.user_id.is_(None))) == []


def test_signing_out_leaves_other_sessions_alone(server, client):
    """Only the session that asks is ended."""
    user = server.new_user(f"two-{client.kind}")
    other = server.client(client.kind)
    client.login(user.username, PASSWORD)
    other.login(user.username, PASSWORD)

    client.delete("/auth/session")

    assert other.get("/auth/session").status == 200
    assert len(_sessions(server, user.username)) == 1


def test_an_unknown_token_of_an_app_is_gone(server):
    """Every endpoint tells an app to drop its token, with what it may do instead."""
    app = server.app()
    for method, path in [
        ("GET", "/auth/session"),
        ("GET", "/config"),
        ("POST", "/auth/login"),
        ("POST", "/auth/signup"),
    ]:
        app.session_key = "0" * 32
        answer = app.call(method, path, {} if method == "POST" else None)

        assert answer.status == 410, path
        assert answer.meta == {"is_authenticated": None}
        assert answer.flows == ["login", "login_by_code", "signup", "mfa_login_webauthn"]


def test_an_unknown_cookie_is_nobody(server):
    """A browser with a session that is over is a stranger."""
    browser = server.browser()
    browser.http.cookies.set("sessionid", "0" * 32)

    answer = browser.get("/auth/session")

    assert answer.status == 401
    assert answer.body == _OPEN


def test_an_expired_session_is_over(server, client):
    """A session that was not used for its whole life is none any more."""
    user = server.new_user(f"late-{client.kind}")
    client.login(user.username, PASSWORD)
    assert _sessions(server, user.username)[0].expires > datetime.now().astimezone() + timedelta(days=13)

    server.clock.forward(14 * 86_400 + 1)

    assert client.get("/auth/session").status == (401 if client.kind == "browser" else 410)
    server.clock.begin()


@pytest.mark.parametrize("how", ["switched off", "removed"])
def test_whoever_is_no_user_any_more_is_signed_out(server, client, how):
    """Switching an account off, or removing it, ends what its sessions may do at once."""
    user = server.new_user(f"gone-{client.kind}-{how[0]}")
    client.login(user.username, PASSWORD)

    if how == "removed":
        server.host.users.delete(user.id)
    else:
        server.host.users.deactivate(user.id)

    assert client.get("/auth/session").status == (401 if client.kind == "browser" else 410)


def test_a_password_set_by_others_ends_the_session(server, client):
    """Whoever knew the old password is out, wherever they signed in."""
    user = server.new_user(f"reset-{client.kind}")
    client.login(user.username, PASSWORD)

    server.host.users.set_password(user.id, "another horse battery")

    assert client.get("/auth/session").status == (401 if client.kind == "browser" else 410)
    assert server.user_row(user.username).password_changed > user.password_changed


@pytest.mark.parametrize("method", ["PUT", "PATCH", "POST"])
def test_other_methods_are_refused(server, client, method):
    """405 names those that there are, and nothing is changed."""
    user = server.new_user(f"methods-{client.kind}-{method}")
    client.login(user.username, PASSWORD)

    answer = client.call(method, "/auth/session", {})

    assert answer.status == 405
    assert answer.response.headers["allow"] == "GET, DELETE, HEAD, OPTIONS"
    assert answer.body is None
    assert len(_sessions(server, user.username)) == 1


def test_a_path_with_a_slash_answers_too(server, client):
    """Both forms of a path mean the same."""
    assert client.get("/auth/session/").body == _OPEN


def test_the_session_key_is_stored_as_a_digest(server, client):
    """Whoever reads the table cannot take over a session."""
    user = server.new_user(f"digest-{client.kind}")
    client.login(user.username, PASSWORD)

    [row] = _sessions(server, user.username)

    assert len(client.session_key) == 32
    assert client.session_key not in str(row._asdict())


def test_a_renamed_user_is_shown_by_the_new_name(server, client):
    """What is shown is what is stored now."""
    user = server.new_user(f"old-{client.kind}")
    client.login(user.username, PASSWORD)
    with server.host.database.write() as session:
        session.connection().execute(update(USERS).where(USERS.c.id == user.id).values(username=f"new-{client.kind}"))

    assert client.get("/auth/session").data["user"]["display"] == f"new-{client.kind}"
