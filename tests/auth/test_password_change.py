"""Changing one's own password."""

from __future__ import annotations

import itertools

import pytest
from sqlalchemy import select

from host.accounts.sessions.table import SESSIONS
from host.mail.log import MAIL
from tests.auth.server import PASSWORD

_NEW = "staple of another battery"
_PATH = "/account/password/change"
_CHANGE = {"current_password": PASSWORD, "new_password": _NEW}
_NUMBERS = itertools.count()
# Options that do not touch each other share a host.
_OTHERWISE = {
    "account_email_notifications": "false",
    "account_logout_on_password_change": "false",
    "account_reauthentication_required": "true",
}


def _user(server, client, *, password=PASSWORD):
    number = next(_NUMBERS)
    user = server.new_user(f"changer{number}", password=password, email=f"changer{number}@example.org")
    if password is None:
        server.host.users.set_password(user.id, PASSWORD)
        client.login(user.username, PASSWORD)
        _forget_password(server, user)
    else:
        client.login(user.username, PASSWORD)
    return user


def _forget_password(server, user):
    # As after a sign-up through a provider: signed in, and no password.
    with server.host.database.write() as session:
        accounts = SESSIONS.metadata.tables["account_user"]
        session.connection().execute(
            accounts.update().where(accounts.c.id == user.id).values(password_hash=None, password_changed=None)
        )
        session.connection().execute(
            SESSIONS.update().where(SESSIONS.c.user_id == user.id).values(password_changed=None)
        )


def _sessions(server, user):
    return server.rows(select(SESSIONS).where(SESSIONS.c.user_id == user.id))


def _fits(server, user, password):
    return server.app().login(user.username, password).status == 200


def test_a_new_password_ends_all_sessions(server, client):
    """The answer is 401, nobody is signed in, the new password fits and the old one does not."""
    user = _user(server, client)
    other = server.client(client.kind)
    other.login(user.username, PASSWORD)
    key = client.session_key

    answer = client.post(_PATH, _CHANGE)

    assert answer.status == 401
    assert answer.meta == {"is_authenticated": False}
    assert answer.flows == ["login", "login_by_code", "signup", "mfa_login_webauthn"]
    assert _sessions(server, user) == []
    assert server.user_row(user.username).password_changed > user.password_changed
    assert other.get("/auth/session").status == (401 if client.kind == "browser" else 410)
    if client.kind == "app":
        client.session_key = key
        assert client.get("/auth/session").status == 410
    assert _fits(server, user, _NEW)
    assert not _fits(server, user, PASSWORD)


def test_the_session_may_go_on(server_with):
    """Without that option the session stays, under another key, and the others end."""
    server = server_with(**_OTHERWISE)
    for client in (server.browser(), server.app()):
        user = _user(server, client)
        other = server.client(client.kind)
        other.login(user.username, PASSWORD)
        before = client.session_key

        answer = client.post(_PATH, _CHANGE)

        assert answer.status == 200
        assert answer.methods == ["password"]
        assert client.session_key != before
        assert client.get("/auth/session").status == 200
        assert other.get("/auth/session").status == (401 if client.kind == "browser" else 410)
        assert len(_sessions(server, user)) == 1
        assert _fits(server, user, _NEW)


def test_an_account_without_a_password_gets_one(server, client):
    """No current password is needed, and the mail says that one was set."""
    user = _user(server, client, password=None)
    assert client.get("/auth/session").data["user"]["has_usable_password"] is False

    answer = client.post(_PATH, {"new_password": _NEW})

    assert answer.status == 401
    assert "A password was set" in server.mailbox.text(user.email)
    assert _fits(server, user, _NEW)


def test_the_owner_is_told_by_mail(server, client):
    """When, from where and with what; the password stands nowhere in it."""
    user = _user(server, client)

    client.post(_PATH, _CHANGE, headers={"User-Agent": "Telescope/7"})

    text = server.mailbox.text(user.email)
    assert "was changed" in text
    assert "127.0.0.1" in text
    assert "Telescope/7" in text
    assert _NEW not in text


def test_no_mail_where_notifications_are_off(server_with):
    """The password is changed all the same."""
    server = server_with(**_OTHERWISE)
    app = server.app()
    user = _user(server, app)

    assert app.post(_PATH, _CHANGE).status == 200
    assert server.rows(select(MAIL).where(MAIL.c.to == user.email)) == []
    assert _fits(server, user, _NEW)


@pytest.mark.parametrize(
    ("body", "errors"),
    [
        pytest.param({}, [("required", "current_password"), ("required", "new_password")], id="nothing"),
        pytest.param({"new_password": _NEW}, [("required", "current_password")], id="no current"),
        pytest.param({"current_password": PASSWORD}, [("required", "new_password")], id="no new"),
        pytest.param(
            {"current_password": "wrong", "new_password": "short"},
            [("enter_current_password", "current_password"), ("password_too_short", "new_password")],
            id="both wrong",
        ),
        pytest.param({**_CHANGE, "new_password": "letmein1"}, [("password_too_common", "new_password")], id="common"),
        pytest.param(
            {**_CHANGE, "new_password": "73915528046"}, [("password_entirely_numeric", "new_password")], id="digits"
        ),
        pytest.param(
            {**_CHANGE, "new_password": "xchanger"}, [("password_too_similar", "new_password")], id="own name"
        ),
        pytest.param(
            {**_CHANGE, "new_password": "a\0bcdefgh"}, [("null_characters_not_allowed", "new_password")], id="null char"
        ),
    ],
)
def test_wrong_input_changes_nothing(server, client, body, errors):
    """Every wrong member is named in one answer; the old password and the session stay."""
    user = _user(server, client)

    answer = client.post(_PATH, body)

    assert answer.status == 400
    assert answer.errors == errors
    assert server.user_row(user.username).password_changed == user.password_changed
    assert client.get("/auth/session").status == 200


def test_the_same_password_again_is_fine(server, client):
    """It ends all sessions as any other does."""
    user = _user(server, client)

    assert client.post(_PATH, {**_CHANGE, "new_password": PASSWORD}).status == 401
    assert _sessions(server, user) == []
    assert _fits(server, user, PASSWORD)


def test_blanks_around_a_password_do_not_count(server, client):
    """What was set with blanks fits without them."""
    user = _user(server, client)

    assert client.post(_PATH, {**_CHANGE, "new_password": f"  {_NEW} "}).status == 401
    assert _fits(server, user, _NEW)


def test_a_stranger_changes_nothing(server, client):
    """401 comes before the input is looked at."""
    answer = client.post(_PATH, {})

    assert answer.status == 401
    assert answer.meta == {"is_authenticated": False}
    assert server.rows(select(SESSIONS).where(SESSIONS.c.user_id.is_(None))) == []


def test_an_old_proof_is_enough(server_with):
    """The current password is proof itself, also where every change of an account asks for one."""
    server = server_with(**_OTHERWISE)
    app = server.app()
    user = _user(server, app)
    server.clock.forward(301)

    assert app.post(_PATH, _CHANGE).status == 200
    assert _fits(server, user, _NEW)


def test_changes_are_limited(server_with):
    """The sixth within a minute is refused, even a right one."""
    server = server_with(account_rate_limits="")
    app = server.app()
    user = _user(server, app)
    statuses = [app.post(_PATH, {**_CHANGE, "current_password": "wrong"}).status for _ in range(5)]

    refused = app.post(_PATH, _CHANGE)

    assert statuses == [400] * 5
    assert (refused.status, refused.body) == (429, {"status": 429})
    assert server.user_row(user.username).password_changed == user.password_changed
    server.clock.forward(61)
    assert app.post(_PATH, _CHANGE).status == 401
