"""Connecting accounts to providers, and disconnecting them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from sqlalchemy import update

from host.accounts.account import USERS
from host.accounts.emails.table import EMAILS
from tests.auth.clients import App, Browser
from tests.auth.providers.visits import CALLBACK, STRICT, Person, arrive, connected_user, emails_of, error_of
from tests.auth.server import PASSWORD, AuthServer
from tests.providers.oidc_server import Call, OidcServer, Reply


def test_an_account_is_connected(server: AuthServer, client: Browser | App, person: Callable[..., Person]):
    """The list shows it, a mail tells of it once, and it signs in from then on."""
    who = person()
    address = f"connector{who.number}@example.org"
    user = server.new_user(f"connector{who.number}", email=address)
    client.login(user.username, PASSWORD)
    assert client.get("/account/providers").body == {"status": 200, "data": []}

    answer = who.send_token(client, "connect")
    again = who.send_token(client, "connect")

    assert (answer.status, answer.data["user"]["id"], answer.methods) == (200, user.id, ["password"])
    assert again.status == 200
    listed = client.get("/account/providers")
    assert listed.status == 200
    [shown] = listed.data
    assert (shown["uid"], shown["display"], shown["provider"]["id"]) == (who.uid, who.name, "my")
    assert set(shown) == {"uid", "display", "provider"}
    assert "My" in server.mailbox.text(address)
    assert [row.user_id for row in who.accounts(server)] == [user.id]
    assert emails_of(server, user.id) == [(address, False, True)]
    assert who.send_token(server.app()).data["user"]["id"] == user.id
    assert len(server.mailbox.to(address)) == 1


def test_an_account_is_connected_by_redirect(server: AuthServer, person: Callable[..., Person]):
    """The session stays as it is."""
    who, browser = person(), server.browser()
    user = server.new_user(f"connector{who.number}")
    browser.login(user.username, PASSWORD)
    key = browser.session_key

    assert who.sign_in(browser, process="connect") == CALLBACK

    assert browser.session_key == key
    assert browser.get("/auth/session").methods == ["password"]
    assert [row.user_id for row in who.accounts(server)] == [user.id]


def test_nobody_connects_what_belongs_to_another(
    server: AuthServer, client: Browser | App, person: Callable[..., Person]
):
    """The connection stays where it is."""
    who = person()
    owner = connected_user(server, who)
    user = server.new_user(f"thief{who.number}")
    client.login(user.username, PASSWORD)

    answer = who.send_token(client, "connect")

    assert (answer.status, answer.errors) == (400, [("connected_other", None)])
    if isinstance(client, Browser):
        assert error_of(who.sign_in(client, process="connect")) == (CALLBACK, "connected_other", "connect")
    assert [row.user_id for row in who.accounts(server)] == [owner.id]


def test_only_who_is_signed_in_connects(server: AuthServer, client: Browser | App, person: Callable[..., Person]):
    """The token is not used up by the refusal."""
    who = person()
    token = who.token()

    assert who.send_token(client, "connect", token=token).status == 401
    if isinstance(client, Browser):
        begun = who.begin(client, process="connect")
        assert error_of(begun.headers["location"]) == (CALLBACK, "permission_denied", "connect")
    assert who.accounts(server) == []
    assert who.send_token(client, token=token).status == 200


def test_a_connection_is_for_who_began_it(server: AuthServer, person: Callable[..., Person], oidc: OidcServer):
    """A session that ends while the provider is asked gets no connection any more."""
    who, browser, same = person(), server.browser(), server.browser()
    user = server.new_user(f"began{who.number}")
    browser.login(user.username, PASSWORD)
    params = who.consent(who.begin(browser, process="connect"))
    same.http.cookies.update(browser.http.cookies)

    def sign_out_meanwhile(call: Call) -> Reply:
        assert same.delete("/auth/session").status == 401
        return oidc._token(call)

    oidc.instead["/token"] = sign_out_meanwhile

    assert error_of(arrive(browser, params)) == (CALLBACK, "permission_denied", "connect")
    assert who.accounts(server) == []


def test_a_fresh_proof_can_be_demanded(serve: Callable[..., AuthServer], person: Callable[..., Person]):
    """Before a connection is made or ended; the token waits, and no mail is sent where none is wanted."""
    server = serve(**STRICT)
    who, browser = person(), server.browser()
    user = server.new_user(f"prover{who.number}", email=f"prover{who.number}@example.org")
    browser.login(user.username, PASSWORD)
    begun = who.begin(browser, process="connect")
    server.clock.forward(301)
    token = who.token()

    refused = who.send_token(browser, "connect", token=token)
    late = arrive(browser, who.consent(begun))
    early = who.begin(browser, process="connect").headers["location"]

    assert (refused.status, refused.meta["is_authenticated"]) == (401, True)
    assert refused.flows == ["reauthenticate"]
    assert error_of(late) == error_of(early) == (CALLBACK, "reauthentication_required", "connect")
    assert who.accounts(server) == []
    browser.post("/auth/reauthenticate", {"password": PASSWORD})
    assert who.send_token(browser, "connect", token=token).status == 200
    server.clock.forward(301)
    gone = {"provider": "my", "account": who.uid}
    assert browser.delete("/account/providers", gone).meta["is_authenticated"] is True
    assert len(who.accounts(server)) == 1
    browser.post("/auth/reauthenticate", {"password": PASSWORD})
    assert browser.delete("/account/providers", gone).body == {"status": 200, "data": []}
    assert who.accounts(server) == []
    assert server.mailbox.to(user.email) == []


def test_an_account_is_disconnected(server: AuthServer, client: Browser | App, person: Callable[..., Person]):
    """The rest is answered, a mail tells of it, and it signs nobody in any more."""
    who, stays = person(), person()
    address = f"leaver{who.number}@example.org"
    user = server.new_user(f"leaver{who.number}", email=address)
    client.login(user.username, PASSWORD)
    who.send_token(client, "connect")
    stays.send_token(client, "connect")

    answer = client.delete("/account/providers", {"provider": "my", "account": who.uid})

    assert (answer.status, [one["uid"] for one in answer.data]) == (200, [stays.uid])
    assert (who.accounts(server), len(stays.accounts(server))) == ([], 1)
    assert "no longer connected" in server.mailbox.text(address, number=3)
    assert who.send_token(server.app()).data["user"]["id"] != user.id


@pytest.mark.parametrize(
    ("body", "errors"),
    [
        pytest.param({}, [("required", "provider"), ("required", "account")], id="nothing"),
        pytest.param({"provider": "my", "account": "other"}, [("account_not_found", None)], id="unknown"),
        pytest.param({"provider": "github", "account": "own"}, [("account_not_found", None)], id="other provider"),
        pytest.param({"provider": "my", "account": "foreign"}, [("account_not_found", None)], id="foreign"),
        pytest.param({"provider": "my", "account": "own"}, [("no_password", "account")], id="the last one"),
    ],
)
def test_what_cannot_be_disconnected(
    server: AuthServer,
    client: Browser | App,
    person: Callable[..., Person],
    body: dict[str, str],
    errors: list[tuple[str, str | None]],
):
    """Unknown and foreign ones look alike, and the last way to sign in stays."""
    who, foreign = person(), person()
    connected_user(server, foreign)
    who.send_token(client)
    uids = {"own": who.uid, "foreign": foreign.uid}
    named = {name: uids.get(value, value) for name, value in body.items()}

    answer = client.delete("/account/providers", named)

    assert (answer.status, answer.errors) == (400, errors)
    assert len(who.accounts(server)) == len(foreign.accounts(server)) == 1


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_connections_are_for_who_is_signed_in(server: AuthServer, client: Browser | App, method: str):
    """Others are asked to sign in."""
    answer = client.call(method, "/account/providers", {"provider": "my", "account": "1"} if method != "GET" else None)

    assert (answer.status, answer.meta["is_authenticated"]) == (401, False)
    assert client.session_key is None


def test_the_last_connection_stays_until_an_address_is_verified(
    serve: Callable[..., AuthServer], person: Callable[..., Person]
):
    """Where addresses must be verified, a password alone is no way to sign in."""
    server = serve(login_enable_reg="false", account_email_verification="mandatory")
    who, app = person(), server.app()
    answer = who.send_token(app)
    user_id = answer.data["user"]["id"]
    with server.host.database.write() as session:
        connection = session.connection()
        connection.execute(update(USERS).where(USERS.c.id == user_id).values(password_hash="x"))
        connection.execute(update(EMAILS).where(EMAILS.c.user_id == user_id).values(verified=False))
    gone = {"provider": "my", "account": who.uid}

    refused = app.delete("/account/providers", gone)
    with server.host.database.write() as session:
        session.connection().execute(update(EMAILS).where(EMAILS.c.user_id == user_id).values(verified=True))

    assert (refused.status, refused.errors) == (400, [("no_verified_email", "account")])
    assert app.delete("/account/providers", gone).body == {"status": 200, "data": []}
    assert who.accounts(server) == []
