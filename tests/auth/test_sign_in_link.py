"""Signing in by a link that is mailed."""

from __future__ import annotations

import logging
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from sqlalchemy import select, update

from host.accounts.account import USERS
from host.accounts.emails.table import EMAILS
from host.accounts.sessions.table import SESSIONS
from host.mail.log import MAIL
from tests.auth.clients import App, Browser
from tests.auth.conftest import ServerWith
from tests.auth.server import PASSWORD, AuthServer

ASK = "/api/email/generate/"
LINK = "/api/email/login/"


@pytest.fixture
def address(request: pytest.FixtureRequest, server: AuthServer) -> str:
    """The address of an account of the test's own, whose name stands before the ``@``."""
    name = "".join(letter for letter in request.node.name.lower() if letter.isalnum())[-40:]
    server.new_user(name, email=f"{name}@example.org")
    return f"{name}@example.org"


def name_of(address: str) -> str:
    return address.partition("@")[0]


def mails(server: AuthServer, address: str) -> list[str]:
    return [row.template for row in server.rows(select(MAIL.c.template).where(MAIL.c.to == address))]


def sessions_of(server: AuthServer, address: str) -> list[Any]:
    user_id = server.user_row(name_of(address)).id
    return server.rows(select(SESSIONS.c.methods, SESSIONS.c.client).where(SESSIONS.c.user_id == user_id))


def link_for(server: AuthServer, address: str) -> str:
    assert server.app().post(ASK, {"email": address}).status == 200
    return server.mailbox.link(address)


def follow(browser: Browser, link: str) -> Any:
    parts = urlsplit(link)
    return browser.http.get(f"{parts.path}?{parts.query}", follow_redirects=False)


def test_the_link_signs_the_browser_in(server: AuthServer, address: str) -> None:
    """It is absolute, sets the session's cookie, proves the address and goes on to the web client."""
    link, browser = link_for(server, address), server.browser()

    followed = follow(browser, link)

    assert link.startswith(f"{server.url}{LINK}?sesame=")
    assert (followed.status_code, followed.headers["location"]) == (302, "/web/logged-in")
    assert followed.headers["cache-control"] == "no-store"
    session = browser.get("/auth/session")
    assert (session.status, session.data["user"]["email"], session.methods) == (200, address, ["code"])
    [row] = sessions_of(server, address)
    assert (row.client, row.methods[0]["email"]) == ("browser", address)
    assert [row.verified for row in server.rows(select(EMAILS.c.verified).where(EMAILS.c.email == address))] == [True]
    assert server.user_row(name_of(address)).last_login is not None
    token = browser.get("/api/user/token/")
    assert token.status == 200
    assert server.app().http.get("/auth/", headers={"Authorization": f"Token {token.body['token']}"}).status_code == 200


def test_the_link_serves_again_within_its_time(server: AuthServer, address: str) -> None:
    """Programs that open links in mails must not use it up."""
    link = link_for(server, address)
    browsers = [server.browser() for _ in range(2)]

    for browser in browsers:
        assert browser.http.head(f"{LINK}?{urlsplit(link).query}").status_code == 302
        assert browser.session_key is None
        follow(browser, link)
        assert browser.get("/auth/session").status == 200
    assert len(sessions_of(server, address)) == 2


def test_the_link_is_over_after_five_minutes(server: AuthServer, address: str) -> None:
    """It still leads to the web client, but signs nobody in."""
    link, browser = link_for(server, address), server.browser()
    server.clock.forward(302)

    assert follow(browser, link).status_code == 302
    assert browser.get("/auth/session").status == 401
    assert sessions_of(server, address) == []


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param("password", id="a new password"),
        pytest.param("inactive", id="an account that is switched off"),
        pytest.param("address", id="an address that went"),
    ],
)
def test_the_link_dies_with_what_it_was_made_for(server: AuthServer, address: str, changes: str) -> None:
    """Nobody is signed in by it then."""
    link, browser = link_for(server, address), server.browser()
    user_id = server.user_row(name_of(address)).id
    if changes == "password":
        server.host.users.set_password(user_id, "another horse battery")
    with server.host.database.write() as session:
        mine = USERS.c.id == user_id
        if changes == "inactive":
            session.connection().execute(update(USERS).where(mine).values(is_active=False))
        elif changes == "address":
            session.connection().execute(update(USERS).where(mine).values(email=""))
            session.connection().execute(EMAILS.delete().where(EMAILS.c.user_id == user_id))

    assert follow(browser, link).status_code == 302
    assert browser.session_key is None
    assert sessions_of(server, address) == []


@pytest.mark.parametrize("change", ["", "x", "cut", "another user"])
def test_a_changed_link_signs_nobody_in(server: AuthServer, address: str, change: str) -> None:
    """Secrets are signed, each for one account."""
    secret = parse_qs(urlsplit(link_for(server, address)).query)["sesame"][0]
    seals = server.host.entrance.seals
    forged = {
        "": "",
        "x": "x",
        "cut": secret[:-1],
        "another user": seals.sign("sign-in link", f"{server.user_row(name_of(address)).id}.{'0' * 32}"),
    }[change]
    browser = server.browser()

    followed = browser.http.get(LINK, params={"sesame": forged}, follow_redirects=False)

    assert followed.status_code == 302
    assert browser.session_key is None
    assert sessions_of(server, address) == []


def test_the_link_is_no_way_around_a_second_factor(server: AuthServer, address: str) -> None:
    """The login waits for it; the web client goes on from there."""
    factors, user_id = server.host.sign_in.factors, server.user_row(name_of(address)).id
    with server.host.database.write() as session:
        factors.add_totp(session.connection(), user_id, factors.totp.new_secret())
    link, browser = link_for(server, address), server.browser()

    follow(browser, link)

    assert browser.get("/auth/session").pending == ["mfa_authenticate"]
    assert browser.get("/api/user/token/").status == 401
    assert sessions_of(server, address) == []


def test_the_link_leaves_whoever_is_signed_in(server: AuthServer, address: str) -> None:
    """Nobody can be made to work in a foreign account by a link that they are sent."""
    link, browser = link_for(server, address), server.browser()
    server.new_user(f"x{name_of(address)}")
    browser.login(f"x{name_of(address)}", PASSWORD)
    key = browser.session_key

    follow(browser, link)

    assert browser.session_key == key
    assert browser.get("/auth/session").data["user"]["username"] == f"x{name_of(address)}"
    assert sessions_of(server, address) == []


def test_the_answer_never_tells_whether_there_is_an_account(
    server: AuthServer, client: Browser | App, address: str
) -> None:
    """It repeats what was sent; only an account that can sign in gets mail."""
    switched_off = f"off.{address}"
    server.new_user(f"off{name_of(address)}", email=switched_off, is_active=False)
    for text in (address, f"nobody.{address}", switched_off, "no address at all", f" {address.upper()} ", "x" * 1000):
        answer = client.post(ASK, {"email": text})
        assert (answer.status, answer.body) == (200, {"email": text, "status": "ok"})

    assert mails(server, address) == ["sign_in_link"] * 2
    assert mails(server, f"nobody.{address}") == mails(server, switched_off) == []
    assert sessions_of(server, address) == []


@pytest.mark.parametrize("body", [{}, {"email": ""}, {"email": None}, {"email": ["a@example.org"]}, {"email": True}])
def test_bad_input_is_refused(server: AuthServer, body: Any) -> None:
    """The answer names the member; no mail goes out."""
    client = server.app()
    before = len(server.rows(select(MAIL.c.global_id)))

    refused = client.post(ASK, body)

    assert refused.status == 400
    assert list(refused.body) == ["email"]
    assert len(server.rows(select(MAIL.c.global_id))) == before


def test_too_many_links_are_not_sent(server_with: ServerWith) -> None:
    """The answer stays the same."""
    server = server_with(account_rate_limits="{}")
    server.new_user("flooded", email="flooded@example.org")

    answers = [server.app().post(ASK, {"email": "flooded@example.org"}).status for _ in range(5)]

    assert answers == [200] * 5
    assert mails(server, "flooded@example.org") == ["sign_in_link"] * 3


def test_the_link_names_the_configured_site(server_with: ServerWith) -> None:
    """PLUGYARD_SITE_URL, also for the web client behind it, which may be elsewhere."""
    server = server_with(
        site_url="https://yard.example.org", headless_frontend_urls='{"account_signed_in": "https://web.example.org/"}'
    )
    server.new_user("sited", email="sited@example.org")
    link = link_for(server, "sited@example.org")

    followed = follow(server.browser(), link)

    assert link.startswith(f"https://yard.example.org{LINK}?sesame=")
    assert followed.headers["location"] == "https://web.example.org/"
    assert len(sessions_of(server, "sited@example.org")) == 1


def test_the_secret_stands_in_no_table_and_no_log(
    server: AuthServer, address: str, caplog: pytest.LogCaptureFixture
) -> None:
    """The mail log shows a mask."""
    with caplog.at_level(logging.DEBUG):
        link = link_for(server, address)
        follow(server.browser(), link)
    secret = parse_qs(urlsplit(link).query)["sesame"][0]

    assert secret not in str(server.rows(select(MAIL).where(MAIL.c.to == address)))
    ours = [record.getMessage() for record in caplog.records if record.name.startswith("plugyard")]
    assert not [message for message in ours if secret in message]
