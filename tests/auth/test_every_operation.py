"""What holds for every operation of the account interface."""

from __future__ import annotations

import pytest

from api.auth.endpoint import PREFIX
from api.auth.routes import ENDPOINTS
from tests.auth.conftest import ServerWith
from tests.auth.server import PASSWORD, AuthServer

OPERATIONS = [
    pytest.param(method, endpoint.path.removeprefix(PREFIX), operation, id=f"{method} {endpoint.path}")
    for endpoint in ENDPOINTS
    for method, operation in endpoint.operations.items()
]
UNSAFE = [one for one in OPERATIONS if one.values[0] != "GET"]
EVERYTHING_ON = {
    "mfa_passkey_signup_enabled": "true",
    "headless_token_strategy": "jwt",
    "account_email_verification_by_code_enabled": "true",
    "account_email_verification_supports_resend": "true",
    "account_phone_verification_supports_resend": "true",
    "socialaccount_providers": '{"corp": {"type": "openid_connect", "name": "Corp", "client_id": "x", "secret": "y", '
    '"server_url": "https://corp.invalid"}}',
}


@pytest.fixture
def full_server(server_with: ServerWith) -> AuthServer:
    """A host with every feature."""
    return server_with(**EVERYTHING_ON)


@pytest.mark.parametrize(("method", "path", "operation"), OPERATIONS)
def test_what_is_for_accounts_needs_one(method, path, operation, full_server):
    """Nobody gets 401 with what may be done about it, a session that is gone 410, and neither is an error."""
    app = full_server.app()

    answer = app.call(method, path)
    app.session_key = "gone"
    gone = app.call(method, path)

    assert answer.status < 500
    if operation.access == "user":
        # A correction of an address or number that is being verified is for those who sign up: 409 for others.
        assert answer.status in ({401, 409} if (method, path) in CORRECTIONS else {401})
        assert answer.status == 409 or "login" in answer.flows
    assert (gone.status, gone.meta["is_authenticated"]) == (410, None)


CORRECTIONS = {("POST", "/account/email"), ("POST", "/account/phone")}


STAGES = [
    ("POST", "/auth/2fa/authenticate"),
    ("POST", "/auth/2fa/trust"),
    ("GET", "/auth/webauthn/authenticate"),
    ("POST", "/auth/webauthn/authenticate"),
]


@pytest.mark.parametrize(("method", "path"), STAGES)
def test_a_second_factor_that_is_not_asked_for_is_answered_as_to_a_stranger(method, path, full_server):
    """Whoever is signed in gets the same 401: no user, what may be done to sign in, and no word on being signed in."""
    browser = full_server.browser()
    stranger = browser.call(method, path)
    name = f"stage-{STAGES.index((method, path))}"
    full_server.new_user(name)
    browser.login(name, PASSWORD)

    answer = browser.call(method, path)

    assert (answer.status, answer.meta) == (401, {"is_authenticated": None})
    assert answer.body == stranger.body
    assert "login" in answer.flows
    assert browser.get("/auth/session").status == 200


@pytest.mark.parametrize(("method", "path", "operation"), UNSAFE)
def test_browsers_need_the_csrf_token(method, path, operation, full_server):
    """Without the header, with another one, and from a foreign page nothing is done."""
    browser = full_server.browser()
    browser.get("/config")
    token = browser.http.cookies["csrftoken"]

    for headers in (
        {"X-CSRFToken": ""},
        {"X-CSRFToken": "x" * 32},
        {"X-CSRFToken": token, "Origin": "https://evil.example"},
    ):
        answer = browser.call(method, path, {}, headers=headers)
        assert (answer.status, list(answer.body)) == (403, ["detail"])


@pytest.mark.parametrize("endpoint", ENDPOINTS, ids=lambda endpoint: endpoint.path)
def test_other_methods_are_not_allowed(endpoint, full_server):
    """405 names the methods there are; a slash at the end changes nothing."""
    app = full_server.app()
    missing = next(method for method in ("GET", "PATCH", "PUT", "DELETE", "TRACE") if method not in endpoint.operations)

    for path in (endpoint.path, f"{endpoint.path}/"):
        answer = app.call(missing, path)
        allowed = set(answer.response.headers["allow"].split(", "))
        assert (answer.status, answer.body) == (405, None)
        assert set(endpoint.operations) <= allowed


@pytest.mark.parametrize("body", [b"{", b"[]", b'"x"', b"7", b"\xff", b"[" * 100_000], ids=range(6))
@pytest.mark.parametrize("path", ["/auth/login", "/auth/signup", "/auth/code/request", "/auth/email/verify"])
def test_a_body_that_is_no_object_is_refused(path, body, full_server):
    """400, whatever the media type says."""
    app = full_server.app()

    answer = app.call("POST", path, content=body, headers={"Content-Type": "text/plain"})

    assert (answer.status, answer.body) == (400, {"status": 400})


def test_a_huge_body_is_refused(full_server):
    """413, and the connection goes on."""
    app = full_server.app()

    answer = app.post("/auth/login", {"username": "x" * 300_000, "password": "x"})

    assert (answer.status, app.get("/auth/session").status) == (413, 401)
