"""JSON Web Tokens of apps."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from pathlib import Path
from typing import Any

import pytest
from joserfc import jwt
from joserfc.jwk import OctKey, RSAKey
from sqlalchemy import select, update

from host.accounts.account import USERS
from host.accounts.sessions.table import SESSIONS
from host.accounts.sessions.web_tokens import new_rsa_key
from host.config import Config
from host.server import Host
from tests.auth.clients import Answer
from tests.auth.conftest import ServerWith
from tests.auth.server import PASSWORD, AuthServer

REFRESH = "/tokens/refresh"
ME = "/api/user/me/"


@pytest.fixture
def server(server_with: ServerWith) -> AuthServer:
    """A host whose apps get web tokens."""
    return server_with(headless_token_strategy="jwt", account_logout_on_password_change="false")


@pytest.fixture
def name(request: pytest.FixtureRequest, server: AuthServer) -> str:
    """The username of an account of the test's own."""
    name = "".join(letter for letter in request.node.name.lower() if letter.isalnum())[-60:]
    server.new_user(name)
    return name


def tokens_of(server: AuthServer, name: str) -> dict[str, Any]:
    answer = server.app().login(name, PASSWORD)
    assert answer.status == 200
    return answer.meta


def bearing(server: AuthServer, method: str, path: str, token: str, body: Any = None) -> Answer:
    return server.app().call(method, path, body, headers={"Authorization": f"Bearer {token}"})


def claims_of(token: str) -> dict[str, Any]:
    part = token.split(".")[1]
    claims: dict[str, Any] = json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    return claims


def refresh(server: AuthServer, token: str) -> Answer:
    return server.app().post(REFRESH, {"refresh_token": token})


def stored(server: AuthServer, name: str) -> list[Any]:
    user_id = server.user_row(name).id
    return server.rows(select(SESSIONS).where(SESSIONS.c.user_id == user_id))


def test_a_login_gives_an_app_three_tokens(server: AuthServer, name: str) -> None:
    """Each web token says whose it is, for what and how long, and nothing that would be a key."""
    meta = tokens_of(server, name)

    assert set(meta) == {"is_authenticated", "session_token", "access_token", "refresh_token"}
    for use, seconds in (("access", 300), ("refresh", 86_400)):
        claims = claims_of(meta[f"{use}_token"])
        assert set(claims) == {"iat", "exp", "jti", "sub", "token_use", "sid"}
        assert claims["exp"] - claims["iat"] == seconds
        assert (claims["sub"], claims["token_use"]) == (str(server.user_row(name).id), use)
        assert meta["session_token"] not in json.dumps(claims)
    [row] = stored(server, name)
    assert list(row.data["refresh_tokens"]) == [claims_of(meta["refresh_token"])["jti"]]
    assert meta["refresh_token"] not in str(row)


def test_they_are_given_once_and_not_to_browsers(server: AuthServer, name: str) -> None:
    """Other answers of the same session hold none."""
    app, browser = server.app(), server.browser()
    app.login(name, PASSWORD)

    assert set(app.get("/auth/session").meta) == {"is_authenticated"}
    assert set(app.post("/auth/reauthenticate", {"password": PASSWORD}).meta) == {"is_authenticated"}
    assert set(browser.login(name, PASSWORD).meta) == {"is_authenticated", "session_token"}
    assert [("refresh_tokens" in row.data) for row in stored(server, name)] == [True, False]


def test_an_access_token_stands_for_its_session(server: AuthServer, name: str) -> None:
    """On every endpoint, without any CSRF token; whatever cookie stands beside it counts for nothing."""
    token = tokens_of(server, name)["access_token"]

    assert bearing(server, "GET", "/auth/session", token).data["user"]["username"] == name
    assert bearing(server, "GET", ME, token).body["username"] == name
    assert bearing(server, "PATCH", ME, token, {"first_name": "Ada"}).status == 200
    assert server.user_row(name).first_name == "Ada"
    proved = bearing(server, "POST", "/auth/reauthenticate", token, {"password": PASSWORD})
    assert proved.methods == ["password", "password"]
    server.new_user(f"other{name}")
    browser = server.browser()
    browser.login(f"other{name}", PASSWORD)
    headers = {"Authorization": f"Bearer {token}"}
    assert browser.http.get("/api/auth/v1/auth/session", headers=headers).json()["data"]["user"]["username"] == name
    assert bearing(server, "DELETE", "/auth/session", token).status == 401
    assert stored(server, name) == []


def forged(kind: str, server: AuthServer, name: str) -> str:
    meta = tokens_of(server, name)
    good, claims = meta["access_token"], claims_of(meta["access_token"])
    head, body, signature = good.split(".")
    none = base64.urlsafe_b64encode(b'{"alg":"none","typ":"JWT"}').decode().rstrip("=")
    return {
        "garbage": "x",
        "long": "x" * 10_000,
        "a refresh token": str(meta["refresh_token"]),
        "another key": jwt.encode({"alg": "HS256"}, claims, OctKey.import_key("x" * 64)),
        "another algorithm": jwt.encode({"alg": "HS512"}, claims, OctKey.import_key("x" * 64), ["HS512"]),
        "no signature": f"{none}.{body}.",
        "another body": f"{head}.{body[:-2]}AA.{signature}",
    }[kind]


_FORGERIES = [
    "garbage",
    "long",
    "a refresh token",
    "another key",
    "another algorithm",
    "no signature",
    "another body",
]


@pytest.mark.parametrize("kind", _FORGERIES)
def test_a_bad_access_token_is_nobody(server: AuthServer, name: str, kind: str) -> None:
    """Never 410, and never somebody."""
    token = forged(kind, server, name)

    assert bearing(server, "GET", "/auth/session", token).status == 401
    assert bearing(server, "GET", ME, token).status == 401
    assert len(stored(server, name)) == 1


def test_an_access_token_is_over_after_five_minutes(server: AuthServer, name: str) -> None:
    """Its session goes on."""
    meta = tokens_of(server, name)
    server.clock.forward(301)

    assert bearing(server, "GET", "/auth/session", meta["access_token"]).status == 401
    assert bearing(server, "GET", ME, meta["access_token"]).status == 401
    assert len(stored(server, name)) == 1
    assert refresh(server, meta["refresh_token"]).status == 200


def test_a_refresh_token_serves_once(server: AuthServer, name: str) -> None:
    """It gives a new pair; used again, or in another session's place, it is no good."""
    first = tokens_of(server, name)

    renewed = refresh(server, first["refresh_token"])

    assert renewed.status == 200
    assert set(renewed.body) == {"status", "data"}
    assert set(renewed.data) == {"access_token", "refresh_token"}
    assert bearing(server, "GET", ME, renewed.data["access_token"]).body["username"] == name
    again = refresh(server, first["refresh_token"])
    assert (again.status, again.body) == (400, {"status": 400})
    [row] = stored(server, name)
    assert list(row.data["refresh_tokens"]) == [claims_of(renewed.data["refresh_token"])["jti"]]
    assert refresh(server, renewed.data["refresh_token"]).status == 200


@pytest.mark.parametrize("kind", [kind for kind in _FORGERIES if kind != "a refresh token"])
def test_a_bad_refresh_token_is_refused(server: AuthServer, name: str, kind: str) -> None:
    """With a bare 400; an access token is none."""
    refused = refresh(server, forged(kind, server, name))

    assert (refused.status, refused.body) == (400, {"status": 400})
    assert refresh(server, tokens_of(server, name)["access_token"]).status == 400
    assert all(len(row.data["refresh_tokens"]) == 1 for row in stored(server, name))


@pytest.mark.parametrize("body", [{}, {"refresh_token": ""}, {"refresh_token": None}])
def test_a_refresh_token_is_required(server: AuthServer, body: Any) -> None:
    """The answer names the member."""
    before = len(server.rows(select(SESSIONS.c.id)))

    refused = server.app().post(REFRESH, body)

    assert (refused.status, refused.errors) == (400, [("required", "refresh_token")])
    assert len(server.rows(select(SESSIONS.c.id))) == before


def test_browsers_do_not_refresh(server: AuthServer, name: str) -> None:
    """For them the endpoint is not there."""
    meta = tokens_of(server, name)

    assert server.browser().post(REFRESH, {"refresh_token": meta["refresh_token"]}).status == 404
    assert refresh(server, meta["refresh_token"]).status == 200


@pytest.mark.parametrize("end", ["signing out", "a day", "switched off", "a new password"])
def test_tokens_end_with_their_session(server: AuthServer, name: str, end: str) -> None:
    """No refresh token outlives it, and none its own time."""
    app = server.app()
    meta = app.login(name, PASSWORD).meta
    if end == "signing out":
        app.delete("/auth/session")
    elif end == "a day":
        server.clock.forward(86_401)
    elif end == "switched off":
        with server.host.database.write() as session:
            session.connection().execute(update(USERS).where(USERS.c.username == name).values(is_active=False))
        assert bearing(server, "GET", ME, meta["access_token"]).status == 401
    else:
        server.host.users.set_password(server.user_row(name).id, "another horse battery")

    assert refresh(server, meta["refresh_token"]).status == 400
    assert bearing(server, "GET", "/auth/session", meta["access_token"]).status == 401


def test_a_session_that_outlives_a_new_password_gets_new_tokens(server: AuthServer, name: str) -> None:
    """The former ones are void with its former key."""
    app = server.app()
    old = app.login(name, PASSWORD).meta
    values = {"current_password": PASSWORD, "new_password": "brass hinge 42 meadow"}

    changed = app.post("/account/password/change", values)

    assert changed.status == 200
    assert set(changed.meta) == {"is_authenticated", "session_token", "access_token", "refresh_token"}
    assert refresh(server, old["refresh_token"]).status == 400
    assert refresh(server, changed.meta["refresh_token"]).status == 200
    assert len(stored(server, name)) == 1


@pytest.fixture
def other_server(server_with: ServerWith) -> AuthServer:
    """A host with every option of web tokens the other way round."""
    return server_with(
        headless_token_strategy="jwt",
        headless_jwt_algorithm="RS256",
        headless_jwt_rotate_refresh_token="false",
        headless_jwt_access_token_expires_in="60",
        headless_jwt_refresh_token_expires_in="600",
        headless_jwt_stateful_validation_enabled="true",
    )


def test_without_rotation_a_refresh_token_serves_again(other_server: AuthServer) -> None:
    """PLUGYARD_HEADLESS_JWT_ROTATE_REFRESH_TOKEN=false, and the two lifetimes."""
    server = other_server
    server.new_user("steady")
    meta = tokens_of(server, "steady")

    renewed = [refresh(server, meta["refresh_token"]) for _ in range(2)]

    assert [set(one.data) for one in renewed] == [{"access_token"}] * 2
    claims = claims_of(renewed[0].data["access_token"])
    assert claims["exp"] - claims["iat"] == 60
    assert len(stored(server, "steady")[0].data["refresh_tokens"]) == 1
    server.clock.forward(601)
    assert refresh(server, meta["refresh_token"]).status == 400


@pytest.mark.parametrize(("fixture", "status"), [("server", 200), ("other_server", 401)])
def test_the_session_behind_a_token_is_checked_if_wanted(
    request: pytest.FixtureRequest, fixture: str, status: int
) -> None:
    """PLUGYARD_HEADLESS_JWT_STATEFUL_VALIDATION_ENABLED; the account interface needs the session in any case."""
    server: AuthServer = request.getfixturevalue(fixture)
    server.new_user("leaver")
    app = server.app()
    token = app.login("leaver", PASSWORD).meta["access_token"]
    assert bearing(server, "GET", ME, token).status == 200
    app.delete("/auth/session")

    assert bearing(server, "GET", ME, token).status == status
    assert bearing(server, "GET", "/auth/session", token).status == 401
    assert stored(server, "leaver") == []


def test_the_session_strategy_has_no_web_tokens(server_with: ServerWith) -> None:
    """It is the default: one token, nothing to refresh, and a bearer is nobody."""
    server = server_with()
    server.new_user("plain")

    assert set(tokens_of(server, "plain")) == {"is_authenticated", "session_token"}
    assert server.app().post(REFRESH, {"refresh_token": "x"}).status == 404
    assert bearing(server, "GET", "/auth/session", "x").status == 401
    assert "refresh_tokens" not in stored(server, "plain")[0].data


def test_an_rsa_key_is_made_once_and_kept(other_server: AuthServer) -> None:
    """PLUGYARD_HEADLESS_JWT_ALGORITHM=RS256: whoever has the public key can check the tokens."""
    server = other_server
    server.new_user("signer")
    token = tokens_of(server, "signer")["access_token"]
    file = server.host.home / "jwt.key"

    key = RSAKey.import_key(file.read_text())

    assert jwt.decode(token, key, ["RS256"]).claims["sub"] == str(server.user_row("signer").id)
    assert file.stat().st_mode & 0o777 == 0o600
    assert bearing(server, "GET", ME, token).status == 200
    # The public half as a shared secret, the classic confusion; libraries refuse to make such a token.
    head = base64.urlsafe_b64encode(b'{"alg":"HS256","typ":"JWT"}').decode().rstrip("=")
    signed = f"{head}.{token.split('.')[1]}"
    signature = hmac.new(key.as_pem(private=False), signed.encode(), hashlib.sha256).digest()
    confused = f"{signed}.{base64.urlsafe_b64encode(signature).decode().rstrip('=')}"
    assert bearing(server, "GET", ME, confused).status == 401


@pytest.mark.parametrize("kind", ["garbage", "public"])
def test_a_key_that_cannot_sign_is_told_at_the_start(tmp_path: Path, kind: str) -> None:
    """The message names the option."""
    pem = "garbage" if kind == "garbage" else RSAKey.import_key(new_rsa_key()).as_pem(private=False).decode()
    environment = {
        "PLUGYARD_HOME": str(tmp_path),
        "PLUGYARD_HEADLESS_TOKEN_STRATEGY": "jwt",
        "PLUGYARD_HEADLESS_JWT_ALGORITHM": "RS256",
        "PLUGYARD_HEADLESS_JWT_PRIVATE_KEY": pem,
    }
    host = Host(Config.load(environment))

    with pytest.raises(ValueError, match="PLUGYARD_HEADLESS_JWT_PRIVATE_KEY"):
        _ = host.sign_in
    assert not (tmp_path / "jwt.key").exists()
