"""Trusting a browser, so that it is asked for no second factor."""

from __future__ import annotations

import pytest
from sqlalchemy import select

from host.accounts.sessions.table import PENDING
from tests.auth.owned_factors import add_key, new_owner
from tests.auth.server import PASSWORD

AUTHENTICATE, TRUST = "/auth/2fa/authenticate", "/auth/2fa/trust"
COOKIE = "mfa_trusted"
FORTNIGHT = 14 * 86_400


@pytest.fixture
def browser(server):
    return server.browser()


def _reach(owner, browser, code=""):
    """Go through a login up to the question for trust."""
    owner.sign_in(browser)
    answer = browser.post(AUTHENTICATE, {"code": code or owner.code()})
    assert (answer.status, answer.pending) == (401, ["mfa_trust"])
    return answer


def _trust(owner, browser):
    """Have a browser trusted, and sign out."""
    _reach(owner, browser)
    assert browser.post(TRUST, {"trust": True}).status == 200
    browser.delete("/auth/session")


def test_a_browser_is_asked_for_trust(server, browser):
    """The second factor is done, and nobody is signed in yet."""
    owner = new_owner(server, totp=True)

    answer = _reach(owner, browser)

    assert {"id": "mfa_trust", "is_pending": True} in answer.data["flows"]
    assert browser.get("/account/authenticators").status == 401
    assert owner.waits() == ["mfa_trust"]
    assert owner.steps() == []


def test_a_trusted_browser_is_not_asked_again(server, browser):
    """The cookie is for the server alone, lasts two weeks, and the password is enough with it."""
    owner = new_owner(server, totp=True)
    _reach(owner, browser)

    answer = browser.post(TRUST, {"trust": True})

    assert answer.status == 200
    assert answer.methods == ["password", "mfa"]
    [cookie] = [line for line in answer.response.headers.get_list("set-cookie") if line.startswith(COOKIE)]
    flags = {part.strip().lower() for part in cookie.split(";")[1:]}
    assert {"httponly", "path=/", "samesite=lax", f"max-age={FORTNIGHT}"} <= flags
    assert owner.name not in cookie
    browser.delete("/auth/session")
    assert owner.sign_in(browser).methods == ["password"]
    assert owner.steps() == [["password"]]


@pytest.mark.parametrize(
    "body",
    [
        pytest.param({}, id="absent"),
        pytest.param({"trust": False}, id="false"),
        pytest.param({"trust": "false"}, id="text"),
    ],
)
def test_a_browser_that_is_not_trusted_is_asked_again(server, browser, body):
    """It gets no cookie."""
    owner = new_owner(server, totp=True)
    _reach(owner, browser)

    assert browser.post(TRUST, body).status == 200
    assert COOKIE not in browser.http.cookies
    assert owner.steps() == [["password", "mfa"]]
    browser.delete("/auth/session")
    assert owner.sign_in(browser).pending == ["mfa_authenticate"]


def test_something_else_than_yes_or_no_is_refused(server, browser):
    """The login goes on waiting."""
    owner = new_owner(server, totp=True)
    _reach(owner, browser)

    wrong: list[object] = ["perhaps", [], [True], {}, 2]
    for trust in wrong:
        answer = browser.post(TRUST, {"trust": trust})
        assert (answer.status, answer.errors) == (400, [("invalid", "trust")]), trust
    assert owner.waits() == ["mfa_trust"]
    assert COOKIE not in browser.http.cookies


def test_trust_can_be_given_when_it_is_asked_for_only(server, browser):
    """401 without a login, before its second factor, and afterwards; the input is not looked at."""
    owner = new_owner(server, totp=True)
    answers = [browser.post(TRUST, {"trust": True})]
    owner.sign_in(browser)
    answers.append(browser.post(TRUST, {"trust": "perhaps"}))
    browser.post(AUTHENTICATE, {"code": owner.code()})
    browser.post(TRUST, {})
    answers.append(browser.post(TRUST, {"trust": True}))

    assert [answer.status for answer in answers] == [401] * 3
    assert [answer.meta for answer in answers] == [{"is_authenticated": None}] * 3
    assert COOKIE not in browser.http.cookies
    assert owner.steps() == [["password", "mfa"]]


def test_trust_is_of_one_browser_and_one_account(server, browser):
    """Neither another browser nor another account gains by it; several accounts share a browser."""
    owner, other = new_owner(server, totp=True), new_owner(server, totp=True)
    _trust(owner, browser)

    assert owner.sign_in(server.browser()).pending == ["mfa_authenticate"]
    assert other.sign_in(browser).pending == ["mfa_authenticate"]
    browser.post(AUTHENTICATE, {"code": other.code()})
    browser.post(TRUST, {"trust": True})
    for one in (owner, other):
        browser.delete("/auth/session")
        assert one.sign_in(browser).status == 200
    assert other.steps() == [["password"]]


def test_trust_ends_after_two_weeks(server, browser):
    """Also for a browser that keeps its cookie longer."""
    owner = new_owner(server, totp=True)
    _trust(owner, browser)
    server.clock.forward(FORTNIGHT - 60)
    assert owner.sign_in(browser).status == 200
    browser.delete("/auth/session")
    server.clock.forward(120)

    assert owner.sign_in(browser).pending == ["mfa_authenticate"]
    assert owner.steps() == []


@pytest.mark.parametrize("change", ["password", "recovery codes", "key"])
def test_a_change_of_what_signs_in_ends_the_trust(server, browser, change):
    """Whoever changes a password or a factor suspects somebody."""
    owner = new_owner(server, totp=True, codes=True)
    _trust(owner, browser)
    if change == "password":
        server.host.users.set_password(owner.id, PASSWORD, override_rules=True)
    else:
        with server.host.database.write() as session:
            if change == "key":
                add_key(server, session.connection(), owner)
            else:
                server.host.sign_in.factors.renew_recovery_codes(session.connection(), owner.id)

    assert owner.sign_in(browser).pending == ["mfa_authenticate"]


def test_a_recovery_code_that_is_used_keeps_the_trust(server, browser):
    """Nothing of what the account owns has changed."""
    owner = new_owner(server, totp=True, codes=True)
    _trust(owner, browser)
    other = server.app()
    owner.sign_in(other)
    assert other.post(AUTHENTICATE, {"code": owner.codes[0]}).status == 200

    assert owner.sign_in(browser).status == 200


def test_a_forged_cookie_is_worth_nothing(server, browser):
    """Nor is one that was changed in one place."""
    owner = new_owner(server, totp=True)
    _trust(owner, browser)
    value = browser.http.cookies[COOKIE]
    middle = len(value) // 2
    changed = value[:middle] + ("A" if value[middle] != "A" else "B") + value[middle + 1 :]
    for forged in (changed, "x", value[::-1], ""):
        stranger = server.browser()
        stranger.http.cookies.set(COOKIE, forged)
        assert owner.sign_in(stranger).pending == ["mfa_authenticate"]
    assert owner.steps() == []


def test_an_app_is_not_asked_and_cannot_be_trusted(server, browser):
    """The second factor completes its login, the path is not there, and a stolen cookie does not help it."""
    owner, app = new_owner(server, totp=True), server.app()
    _trust(owner, browser)
    cookie = browser.http.cookies[COOKIE]

    body = {"username": owner.name, "password": PASSWORD}
    waits = app.post("/auth/login", body, headers={"X-Session-Token": "", "Cookie": f"{COOKIE}={cookie}"})
    missing = app.post(TRUST, {"trust": True})
    done = app.post(AUTHENTICATE, {"code": owner.next_code()})

    assert (waits.status, waits.pending) == (401, ["mfa_authenticate"])
    assert missing.status == 404
    assert (done.status, done.methods) == (200, ["password", "mfa"])
    assert owner.steps() == [["password", "mfa"]]


def test_where_trust_is_off_nobody_is_asked(server_with):
    """The second factor completes the login, the path is not there, and older cookies count no more."""
    server = server_with(mfa_trust_enabled="false")
    owner, browser = new_owner(server, totp=True), server.browser()
    factors = server.host.sign_in.factors
    with server.host.database.read() as connection:
        browser.http.cookies.set(COOKIE, factors.trust.add(connection, None, owner.id))

    assert owner.sign_in(browser).pending == ["mfa_authenticate"]
    assert browser.post(TRUST, {"trust": True}).status == 404
    assert browser.post(AUTHENTICATE, {"code": owner.code()}).status == 200
    assert owner.steps() == [["password", "mfa"]]


def test_the_login_time_covers_the_question_for_trust(server, browser):
    """A quarter of an hour after its beginning the login is over."""
    owner = new_owner(server, totp=True)
    _reach(owner, browser)
    server.clock.forward(901)

    answer = browser.post(TRUST, {"trust": True})

    assert (answer.status, answer.pending) == (401, [])
    assert COOKIE not in browser.http.cookies
    assert owner.steps() == []


def test_a_new_password_ends_a_login_before_trust(server, browser):
    """No trust is given either."""
    owner = new_owner(server, totp=True)
    _reach(owner, browser)
    server.host.users.set_password(owner.id, "another horse battery")

    answer = browser.post(TRUST, {"trust": True})

    assert (answer.status, answer.pending) == (401, [])
    assert COOKIE not in browser.http.cookies
    assert server.rows(select(PENDING).where(PENDING.c.user_id == owner.id)) == []
