"""The first login of somebody whom a provider vouches for."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from sqlalchemy import select

from host.accounts.account import USERS
from tests.auth.clients import App, Browser
from tests.auth.providers.visits import (
    CALLBACK,
    CLOSED,
    STRICT,
    Person,
    connected_user,
    emails_of,
    error_of,
    sessions_of,
    users,
    waiting,
)
from tests.auth.server import PASSWORD, AuthServer
from tests.providers.oidc_server import OidcServer


def test_a_sign_up_waits_where_the_address_is_taken(
    server: AuthServer, client: Browser | App, person: Callable[..., Person], oidc: OidcServer
):
    """Its owner is not the same person for sure: nobody is signed in, and another address can be given."""
    who = person()
    waiting(server, client, who)

    flow = next(flow for flow in client.get("/auth/session").data["flows"] if flow["id"] == "provider_signup")
    assert (flow["is_pending"], flow["provider"]["id"], flow["provider"]["name"]) == (True, "my", "My")
    shown = client.get("/auth/provider/signup")
    assert shown.status == 200
    assert shown.body == {
        "status": 200,
        "data": {
            "user": {
                "display": who.name,
                "username": who.name,
                "email": who.email,
                "has_usable_password": False,
            },
            "account": {"uid": who.uid, "provider": flow["provider"], "display": who.name},
            "email": [{"email": who.email, "verified": True, "primary": True}],
        },
    }
    refused = client.post("/auth/provider/signup", {"username": who.name})
    assert (refused.status, refused.errors) == (400, [("email_taken", "email")])
    refused = client.post("/auth/provider/signup", {"email": "nonsense"})
    assert (refused.status, refused.errors) == (400, [("required", "username"), ("invalid", "email")])
    assert who.accounts(server) == []

    address = f"mine{who.number}@example.org"
    done = client.post("/auth/provider/signup", {"username": who.name, "email": address})

    assert (done.status, done.methods) == (200, [])
    user = server.user_row(who.name)
    assert done.data["user"]["id"] == user.id
    assert (user.first_name, user.password_hash) == ("Grace", None)
    # The provider has proved the other one.
    assert emails_of(server, user.id) == [(address, False, True)]
    assert [row.user_id for row in who.accounts(server)] == [user.id]
    for method in ("GET", "POST"):
        assert client.call(method, "/auth/provider/signup").status == 409


def test_a_sign_up_by_redirect_waits_in_the_browser(server: AuthServer, person: Callable[..., Person]):
    """The page gets no error; it learns from the session what waits."""
    who, browser = person(), server.browser()
    server.new_user(f"owner{who.number}", email=who.email)

    assert who.sign_in(browser) == CALLBACK

    assert browser.get("/auth/session").pending == ["provider_signup"]
    assert who.accounts(server) == []
    assert server.browser().get("/auth/provider/signup").status == 409


def test_a_sign_up_that_waits_ends_by_itself(server: AuthServer, client: Browser | App, person: Callable[..., Person]):
    """After the time that a login may take, and with another login."""
    who, other = person(), person()
    connected_user(server, other)
    waiting(server, client, who)
    server.clock.forward(901)

    assert client.get("/auth/session").pending == []
    assert client.get("/auth/provider/signup").status == 409
    assert client.post("/auth/provider/signup", {"username": who.name}).status == 409
    assert who.send_token(client).pending == ["provider_signup"]
    assert other.send_token(client).status == 200
    assert client.get("/auth/provider/signup").status == 409
    assert who.accounts(server) == []


@pytest.mark.parametrize("asked", [False, True], ids=["at once", "after questions"])
def test_a_taken_address_is_not_betrayed(
    serve: Callable[..., AuthServer], person: Callable[..., Person], oidc: OidcServer, asked: bool
):
    """Where addresses must be verified, a new account waits for the proof, and so it seems for a taken address."""
    server = serve(account_email_verification="mandatory", account_signup_fields="username*,email*,password*")
    newcomer, stranger = (person(email_verified=False) for _ in range(2))
    owner = server.new_user(f"owner{stranger.number}", email=stranger.email)
    if asked:
        for one in (newcomer, stranger):
            oidc.users[one.name]["email"] = None
    answers = []
    for one in (newcomer, stranger):
        app = server.app()
        answer = one.send_token(app)
        if asked:
            assert answer.pending == ["provider_signup"]
            answer = app.post("/auth/provider/signup", {"username": one.name, "email": one.email})
        answers.append(answer)
        assert app.get("/auth/session").pending == ["verify_email"]
        assert app.get("/auth/provider/signup").status == 409

    first, second = answers
    assert first.status == second.status == 401
    assert first.pending == second.pending == ["verify_email"]
    assert first.data == second.data
    assert [row.user_id for row in newcomer.accounts(server)] == [server.user_row(newcomer.name).id]
    assert stranger.accounts(server) == []
    assert len(server.rows(select(USERS).where(USERS.c.email == stranger.email))) == 1
    assert "/web/verify-email/" in server.mailbox.text(newcomer.email)
    assert "/web/reset-password" in server.mailbox.text(owner.email)


def test_the_provider_may_say_too_little(serve: Callable[..., AuthServer], person: Callable[..., Person]):
    """Where sign-ups must have an address, somebody without one is asked for it."""
    server = serve(account_signup_fields="username*,email*,password*")
    who, app = person(email=None), server.app()
    assert who.send_token(app).pending == ["provider_signup"]
    assert app.get("/auth/provider/signup").data["email"] == []

    refused = app.post("/auth/provider/signup", {"username": who.name})
    done = app.post("/auth/provider/signup", {"username": who.name, "email": who.email})

    assert refused.errors == [("required", "email")]
    assert done.status == 200
    assert emails_of(server, done.data["user"]["id"]) == [(who.email, False, True)]


def test_floods_are_refused(serve: Callable[..., AuthServer], person: Callable[..., Person]):
    """Tokens count as logins, and what is asked at the first login as a sign-up."""
    server = serve(account_rate_limits='{"login": "2/m/ip", "signup": "1/m/ip"}')
    who, app = person(), server.app()
    waiting(server, app, who)
    values = {"username": who.name, "email": f"mine-{who.email}"}

    assert app.post("/auth/provider/signup").status == 400
    assert app.post("/auth/provider/signup", values).body == {"status": 429}
    assert who.send_token(app).status == 401
    assert who.send_token(app).body == {"status": 429}
    assert who.accounts(server) == []


def test_people_can_be_asked_at_every_first_login(serve: Callable[..., AuthServer], person: Callable[..., Person]):
    """Without automatic sign-up; a missing address is the provider's, which is proved."""
    server = serve(**STRICT)
    who, app = person(), server.app()
    assert who.send_token(app).pending == ["provider_signup"]
    assert who.accounts(server) == []

    done = app.post("/auth/provider/signup", {"username": f"chosen{who.number}"})

    assert (done.status, done.data["user"]["username"]) == (200, f"chosen{who.number}")
    assert emails_of(server, done.data["user"]["id"]) == [(who.email, True, True)]


@pytest.mark.parametrize("kind", ["browser", "app"])
def test_sign_up_through_providers_can_be_closed(
    serve: Callable[..., AuthServer], person: Callable[..., Person], kind: str
):
    """Nobody new comes in, and who was signed in before stays so."""
    server = serve(**CLOSED)
    who, client = person(), server.client(kind)
    before = server.new_user(f"before{who.number}", email=f"before{who.number}@example.org")

    assert who.send_token(client).body == {"status": 403}
    assert client.get("/auth/session").pending == []
    client.login(before.username, PASSWORD)
    client.post("/auth/code/confirm", {"code": server.mailbox.code(before.email)})
    count = users(server)
    assert who.send_token(client).body == {"status": 403}
    if isinstance(client, Browser):
        assert error_of(who.sign_in(client)) == (CALLBACK, "signup_closed", "login")
    assert client.get("/auth/session").data["user"]["id"] == before.id
    assert (who.accounts(server), users(server)) == ([], count)


def test_ordinary_sign_up_has_a_switch_of_its_own(serve: Callable[..., AuthServer], person: Callable[..., Person]):
    """Closing it leaves that through providers open."""
    server = serve(login_enable_reg="false", account_email_verification="mandatory")
    who, app = person(), server.app()

    assert who.send_token(app).status == 200
    assert len(who.accounts(server)) == 1


def test_a_login_through_a_provider_passes_all_stages(
    serve: Callable[..., AuthServer], person: Callable[..., Person], oidc: OidcServer
):
    """The page gets no error, and the session says what waits."""
    server = serve(**CLOSED)
    who, browser = person(), server.browser()
    user = connected_user(server, who, email=who.email)

    assert who.sign_in(browser) == CALLBACK
    # Whatever name the host was asked by, it is the configured one to which providers send people.
    assert oidc.asked("/authorize")[-1].query["redirect_uri"] == (
        "https://plugyard.example.org/accounts/my/login/callback/"
    )
    assert browser.get("/auth/session").pending == ["login_by_code"]
    done = browser.post("/auth/code/confirm", {"code": server.mailbox.code(who.email)})

    assert (done.status, done.methods) == (200, ["socialaccount", "code"])
    assert len(sessions_of(server, user.id)) == 1
