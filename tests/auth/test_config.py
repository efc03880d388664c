"""What clients need to know before anybody signs in."""

from __future__ import annotations

from sqlalchemy import select

from host.accounts.sessions.table import SESSIONS


def test_the_configuration_of_a_new_host(server, client):
    """The whole body with the default options; no session comes of it."""
    answer = client.get("/config")

    assert answer.status == 200
    assert set(answer.body) == {"status", "data"}
    assert answer.data == {
        "account": {
            "login_methods": ["username", "email"],
            "is_open_for_signup": True,
            "email_verification_by_code_enabled": False,
            "login_by_code_enabled": True,
            "password_reset_by_code_enabled": False,
            "authentication_method": "username_email",
        },
        "socialaccount": {"providers": []},
        "mfa": {"supported_types": ["recovery_codes", "totp", "webauthn"], "passkey_login_enabled": True},
        "usersessions": {"track_activity": True},
    }
    assert "no-cache" in answer.response.headers["cache-control"]
    assert server.rows(select(SESSIONS)) == []
    if client.kind == "browser":
        assert len(client.http.cookies["csrftoken"]) == 32


def test_options_change_the_configuration(server_with):
    """Each option shows in its member."""
    server = server_with(
        account_login_methods="phone",
        login_enable_reg="false",
        account_email_verification_by_code_enabled="true",
        account_login_by_code_enabled="false",
        account_password_reset_by_code_enabled="true",
        mfa_supported_types="totp",
        usersessions_track_activity="false",
    )

    data = server.app().get("/config").data

    assert data["account"] == {
        "login_methods": ["phone"],
        "is_open_for_signup": False,
        "email_verification_by_code_enabled": True,
        "login_by_code_enabled": False,
        "password_reset_by_code_enabled": True,
    }
    assert data["mfa"] == {"supported_types": ["totp"], "passkey_login_enabled": False}
    assert data["usersessions"] == {"track_activity": False}
    flows = server.app().get("/auth/session").data["flows"]
    assert flows == [{"id": "login"}, {"id": "password_reset_by_code", "is_pending": False}]


def test_older_clients_are_told_how_to_sign_in(server_with):
    """The older member names usernames and addresses only, and a section of what is not there is absent."""
    app = server_with(account_login_methods="email,phone", mfa_supported_types=",").app()

    data = app.get("/config").data

    assert data["account"]["login_methods"] == ["email", "phone"]
    assert data["account"]["authentication_method"] == "email"
    assert "mfa" not in data
    assert "mfa_login_webauthn" not in app.get("/auth/session").flows
