"""Signing in by redirect."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from sqlalchemy import select

from host.accounts.sessions.table import SESSIONS
from tests.auth.conftest import ServerWith
from tests.auth.providers.visits import (
    CALLBACK,
    ERROR_PAGE,
    Person,
    arrive,
    connected_user,
    emails_of,
    error_of,
    sessions_of,
)
from tests.auth.server import AuthServer
from tests.providers.oidc_server import CLIENT_ID, GithubServer, OidcServer, reply


def test_the_configuration_lists_what_a_client_can_use(server: AuthServer, oidc: OidcServer):
    """By name; apps see those alone that take tokens."""
    mine = {
        "id": "my",
        "name": "My",
        "flows": ["provider_redirect", "provider_token"],
        "client_id": CLIENT_ID,
        "openid_configuration_url": f"{oidc.url}/.well-known/openid-configuration",
    }
    app = server.app()
    app.session_key = Person(oidc, "lister").send_token(app).meta["session_token"]
    browser, tokens = server.browser().get("/config"), app.get("/config")

    shown = browser.data["socialaccount"]["providers"]
    assert [one["id"] for one in shown] == ["down", "github", "my"]
    assert shown[1:] == [
        {"id": "github", "name": "GitHub", "flows": ["provider_redirect"], "client_id": CLIENT_ID},
        mine,
    ]
    assert [one["id"] for one in tokens.data["socialaccount"]["providers"]] == ["down", "my"]


def test_the_flows_name_the_providers(server: AuthServer):
    """Redirects are offered to browsers only, tokens to all."""
    flows = {flow["id"]: flow.get("providers") for flow in server.browser().get("/auth/session").data["flows"]}
    app = server.app()
    offered = {flow["id"]: flow.get("providers") for flow in app.call("DELETE", "/auth/session").data["flows"]}

    assert flows["provider_redirect"] == ["down", "github", "my"]
    assert flows["provider_token"] == offered["provider_token"] == ["down", "my"]
    assert "provider_redirect" not in offered


def test_without_providers_nothing_is_offered(server_with: ServerWith):
    """No flow, no provider, and no way in."""
    server = server_with()
    browser = server.browser()
    begun = browser.http.post(
        "/api/auth/v1/auth/provider/redirect",
        data={"provider": "my", "process": "login", "callback_url": CALLBACK},
        headers=browser._headers("POST"),
    )

    assert browser.get("/config").data["socialaccount"] == {"providers": []}
    assert not {"provider_redirect", "provider_token"} & set(browser.get("/auth/session").flows)
    assert error_of(begun.headers["location"])[1:] == ("unknown", "login")
    assert server.rows(select(SESSIONS)) == []


def test_a_first_login_makes_an_account(server: AuthServer, person: Callable[..., Person]):
    """What the provider says becomes the account's, and its verified address needs no mail."""
    who, browser = person(), server.browser()

    assert who.sign_in(browser) == CALLBACK

    answer = browser.get("/auth/session")
    user = server.user_row(who.name)
    assert (answer.status, answer.methods) == (200, [])
    assert answer.data["user"] == {
        "id": user.id,
        "display": who.name,
        "username": who.name,
        "email": who.email,
        "has_usable_password": False,
    }
    assert (user.first_name, user.last_name, user.password_hash) == ("Grace", "Hopper", None)
    assert emails_of(server, user.id) == [(who.email, True, True)]
    [account] = who.accounts(server)
    assert (account.user_id, account.provider, account.display) == (user.id, "my", who.name)
    assert account.last_login is not None
    assert server.mailbox.to(who.email) == []


def test_a_later_login_finds_the_account(server: AuthServer, person: Callable[..., Person], oidc: OidcServer):
    """By the provider's id of the person, whatever else has changed; the key of the session changes."""
    who, browser = person(), server.browser()
    user = connected_user(server, who)
    begun = who.begin(browser)
    before = browser.session_key
    oidc.users[who.name] |= {"preferred_username": "renamed", "email": "other@example.org"}

    assert arrive(browser, who.consent(begun)) == CALLBACK

    answer = browser.get("/auth/session")
    assert answer.data["user"]["id"] == user.id
    [method] = answer.data["methods"]
    assert method == {"method": "socialaccount", "at": method["at"], "provider": "my", "uid": who.uid}
    assert browser.session_key not in {None, before}
    [account] = who.accounts(server)
    assert (account.user_id, account.display) == (user.id, "renamed")
    assert emails_of(server, user.id) == []
    [session] = sessions_of(server, user.id)
    assert "provider_redirects" not in session.data


def test_plain_oauth_signs_in(server: AuthServer, github: GithubServer):
    """A provider without ID tokens serves as well."""
    github.profile["id"] = 900001
    github.emails = [{"email": "octo@example.org", "primary": True, "verified": True}]
    github.profile["login"] = "octo"
    browser = server.browser()
    csrf = browser._headers("POST")["X-CSRFToken"]
    form = {"provider": "github", "process": "login", "callback_url": CALLBACK, "csrfmiddlewaretoken": csrf}
    begun = browser.http.post("/api/auth/v1/auth/provider/redirect", data=form)

    assert arrive(browser, github.visit(begun.headers["location"]), "/accounts/github/login/callback/") == CALLBACK

    assert browser.get("/auth/session").data["user"]["username"] == "octo"
    assert emails_of(server, server.user_row("octo").id) == [("octo@example.org", True, True)]


def test_the_other_address_for_coming_back_serves_too(server: AuthServer, person: Callable[..., Person]):
    """Clients that were registered for the address with ``oidc`` in it keep working."""
    who, browser = person(), server.browser()
    params = who.consent(who.begin(browser))

    assert arrive(browser, params, "/accounts/oidc/my/login/callback/") == CALLBACK

    assert browser.get("/auth/session").status == 200


def test_secrets_of_a_redirect_are_sealed(server: AuthServer, person: Callable[..., Person]):
    """Who reads the table learns neither state nor verifier; ten redirects are kept at most."""
    who, browser = person(), server.browser()
    begun = [who.begin(browser) for _ in range(11)]

    [row] = [one for one in sessions_of(server, None) if "provider_redirects" in one.data]
    assert list(row.data["provider_redirects"]) == ["sealed"]
    first, last = (who.consent(one) for one in (begun[0], begun[-1]))
    assert first["state"] not in json.dumps(row.data)
    assert error_of(arrive(browser, first)) == (f"{server.url}{ERROR_PAGE}", "unknown", "login")
    assert arrive(browser, last) == CALLBACK


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"provider": "nobody"}, id="unknown provider"),
        pytest.param({"provider": ""}, id="no provider"),
        pytest.param({"process": "steal"}, id="unknown process"),
        pytest.param({"callback_url": "https://evil.example.com/"}, id="foreign page"),
        pytest.param({"callback_url": "//evil.example.com/"}, id="foreign page without scheme"),
        pytest.param({"callback_url": "/\\evil.example.com"}, id="foreign page by a backslash"),
        pytest.param({"callback_url": "javascript:alert(1)"}, id="script"),
        pytest.param({"callback_url": ""}, id="no page"),
    ],
)
def test_a_wrong_redirect_leads_to_the_error_page(
    server: AuthServer, person: Callable[..., Person], changes: dict[str, str]
):
    """Never to the provider, never to a foreign page, and nothing is kept."""
    browser = server.browser()

    begun = person().begin(browser, **changes)

    assert begun.status_code == 302
    assert error_of(begun.headers["location"]) == (f"{server.url}{ERROR_PAGE}", "unknown", "login")
    assert browser.session_key is None


def test_a_page_may_be_on_our_own_or_a_trusted_host(serve: Callable[..., AuthServer], person: Callable[..., Person]):
    """Absolute addresses are taken as they are, and the error page can be elsewhere."""
    pages = json.dumps({"socialaccount_login_error": "https://app.example.com/oops?from=host"})
    server = serve(trusted_origins="https://app.example.com", headless_frontend_urls=pages)
    who = person()
    connected_user(server, who)

    assert who.sign_in(server.browser(), callback_url=f"{server.url}/own?a=b") == f"{server.url}/own?a=b"
    assert who.sign_in(server.browser(), callback_url="https://app.example.com/in") == "https://app.example.com/in"
    refused = who.begin(server.browser(), callback_url="https://other.example.com/")
    assert refused.headers["location"] == ("https://app.example.com/oops?from=host&error=unknown&error_process=login")
    assert len(sessions_of(server, who.accounts(server)[0].user_id)) == 2


def test_a_redirect_needs_the_token_against_forgery(server: AuthServer, person: Callable[..., Person]):
    """A foreign page can begin nothing in a browser; the token may come as a header, too."""
    browser = server.browser()
    assert person().begin(browser, csrfmiddlewaretoken="wrong").status_code == 403
    assert browser.session_key is None

    form = {"provider": "my", "process": "login", "callback_url": CALLBACK}
    headers = browser._headers("POST")
    assert browser.http.post("/api/auth/v1/auth/provider/redirect", data=form).status_code == 403
    begun = browser.http.post("/api/auth/v1/auth/provider/redirect", data=form, headers=headers)
    assert begun.status_code == 302
    assert browser.session_key is not None


def test_a_redirect_is_finished_once(server: AuthServer, person: Callable[..., Person], oidc: OidcServer):
    """The same answer of a provider again signs nobody in."""
    who, browser = person(), server.browser()
    connected_user(server, who)
    params = who.consent(who.begin(browser))
    assert arrive(browser, params) == CALLBACK
    browser.delete("/auth/session")
    exchanges = len(oidc.asked("/token"))

    assert error_of(arrive(browser, params)) == (f"{server.url}{ERROR_PAGE}", "unknown", "login")

    assert browser.get("/auth/session").status == 401
    assert len(oidc.asked("/token")) == exchanges


def test_a_redirect_is_finished_by_the_session_that_began(server: AuthServer, person: Callable[..., Person]):
    """Nobody can make a victim's browser take their own login, nor finish that of somebody else."""
    who, browser, victim = person(), server.browser(), server.browser()
    params = who.consent(who.begin(browser))
    who.begin(victim)

    for other in (victim, server.browser()):
        assert error_of(arrive(other, params)) == (f"{server.url}{ERROR_PAGE}", "unknown", "login")
        assert other.get("/auth/session").status == 401
    assert who.accounts(server) == []
    assert arrive(browser, params) == CALLBACK


def test_a_redirect_ends_after_ten_minutes(server: AuthServer, person: Callable[..., Person]):
    """The provider's answer comes too late then."""
    who, browser = person(), server.browser()
    params = who.consent(who.begin(browser))
    server.clock.forward(601)

    assert error_of(arrive(browser, params)) == (f"{server.url}{ERROR_PAGE}", "unknown", "login")
    assert who.accounts(server) == []


def test_an_answer_counts_for_its_own_provider_only(server: AuthServer, person: Callable[..., Person]):
    """One provider cannot answer for another one."""
    who, browser = person(), server.browser()
    params = who.consent(who.begin(browser))

    location = arrive(browser, params, "/accounts/github/login/callback/")

    assert error_of(location) == (CALLBACK, "unknown", "login")
    assert who.accounts(server) == []


@pytest.mark.parametrize(
    ("told", "error"),
    [("access_denied", "cancelled"), ("login_required", "denied"), ("server_error", "unknown")],
)
def test_the_page_learns_what_the_provider_said(
    server: AuthServer, person: Callable[..., Person], oidc: OidcServer, told: str, error: str
):
    """A provider that signs nobody in tells why; the page's own query stays."""
    who, browser = person(), server.browser()
    params = who.consent(who.begin(browser, callback_url="/web/in?next=x"))

    location = arrive(browser, {"state": params["state"], "error": told, "iss": oidc.url})

    assert location == f"/web/in?next=x&error={error}&error_process=login"
    assert browser.get("/auth/session").status == 401
    assert who.accounts(server) == []


def test_a_provider_that_is_down_signs_nobody_in(server: AuthServer, person: Callable[..., Person], oidc: OidcServer):
    """Neither at the beginning nor at the end; the page is told, with the process."""
    who, browser = person(), server.browser()
    assert error_of(who.begin(browser, provider="down").headers["location"]) == (CALLBACK, "unknown", "login")
    assert browser.session_key is None

    params = who.consent(who.begin(browser))
    oidc.instead["/token"] = lambda _call: reply({"error": "server_error"}, 500)
    assert error_of(arrive(browser, params)) == (CALLBACK, "unknown", "login")
    assert browser.get("/auth/session").status == 401
    assert who.accounts(server) == []


def test_coming_back_is_a_plain_visit(server: AuthServer, person: Callable[..., Person]):
    """Other methods use no login up, and who comes without any gets to the error page."""
    who, browser = person(), server.browser()
    params = who.consent(who.begin(browser))

    for method in ("HEAD", "POST"):
        refused = browser.http.request(method, "/accounts/my/login/callback/", params=params)
        assert (refused.status_code, refused.headers["allow"]) == (405, "GET")
    assert error_of(arrive(server.browser(), {})) == (f"{server.url}{ERROR_PAGE}", "unknown", "login")
    assert error_of(arrive(server.browser(), {"state": "\u20ac"})) == (f"{server.url}{ERROR_PAGE}", "unknown", "login")
    assert arrive(browser, params) == CALLBACK
