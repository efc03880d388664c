"""The whole way with a client that others wrote, over HTTP."""

from __future__ import annotations

import socket
import threading
import time

import pytest
import requests
import uvicorn
from authlib.common.security import generate_token
from authlib.integrations.base_client import OAuthError
from authlib.integrations.requests_client import OAuth2Session

from host.accounts.oauth.tables import TOKENS
from tests.oauth.conftest import CSRF, form_of


@pytest.fixture
def address(world):
    """Serve the application on a free port."""
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(world.app, log_level="error", lifespan="off", ws="none"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    server.should_exit = True
    thread.join(10)
    listener.close()


@pytest.mark.parametrize("public", [False, True], ids=["confidential", "public"])
def test_authlib_s_own_client_goes_the_whole_way(world, address, public):
    """It finds the server, is allowed by a person in a browser, calls, renews and ends its tokens."""
    client_id, secret = world.client(public=public, redirect_uris=["http://127.0.0.1/callback"])
    callback = "http://127.0.0.1:50123/callback" if public else "http://127.0.0.1/callback"
    metadata = requests.get(f"{address}/.well-known/oauth-authorization-server", timeout=10).json()
    assert metadata["issuer"] == address
    session = OAuth2Session(
        client_id,
        secret or None,
        token_endpoint_auth_method="none" if public else "client_secret_basic",
        revocation_endpoint_auth_method="none" if public else "client_secret_basic",
        scope="read write",
        redirect_uri=callback,
        code_challenge_method="S256",
        token_endpoint=metadata["token_endpoint"],
    )
    verifier = generate_token(48)
    url, state = session.create_authorization_url(metadata["authorization_endpoint"], code_verifier=verifier)

    with requests.Session() as browser:
        browser.headers["Cookie"] = f"sessionid=ada-session; csrftoken={CSRF}"
        page = browser.get(url, timeout=10)
        assert page.status_code == 200
        form = {**form_of(page.text), "decision": "allow"}
        allowed = browser.post(
            metadata["authorization_endpoint"],
            data=form,
            headers={"Origin": address},
            allow_redirects=False,
            timeout=10,
        )
    sent_to = allowed.headers["location"]
    assert sent_to.startswith(callback)

    token = session.fetch_token(
        metadata["token_endpoint"], authorization_response=sent_to, state=state, code_verifier=verifier
    )
    assert token["scope"] == "read write"
    assert session.get(f"{address}/api/who/").json()["user"] == "ada"
    assert session.delete(f"{address}/api/plugins/lamp/").status_code == 403

    renewed = session.refresh_token(metadata["token_endpoint"], refresh_token=token["refresh_token"])
    assert renewed["access_token"] != token["access_token"]
    assert session.get(f"{address}/api/who/").json()["user"] == "ada"

    ended = session.revoke_token(
        metadata["revocation_endpoint"], renewed["refresh_token"], token_type_hint="refresh_token"
    )
    assert ended.status_code == 200
    assert session.get(f"{address}/api/who/").status_code == 401
    with pytest.raises(OAuthError, match="invalid_grant"):
        session.refresh_token(metadata["token_endpoint"], refresh_token=renewed["refresh_token"])
    assert len(world.rows(TOKENS)) == 2
    assert world.stored == (0, 0, 0)
    session.close()
