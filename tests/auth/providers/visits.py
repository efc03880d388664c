"""People at a provider, and how they sign in through it."""

from __future__ import annotations

import itertools
import json
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx2
from sqlalchemy import func, select

from host.accounts.account import USERS
from host.accounts.emails.table import EMAILS
from host.accounts.providers.accounts import PROVIDER_ACCOUNTS
from host.accounts.sessions.table import SESSIONS
from tests.auth.clients import PREFIX, Answer, App, Browser
from tests.auth.server import AuthServer
from tests.providers.oidc_server import CLIENT_ID, GITHUB_SECRET, SECRET, GithubServer, OidcServer

CALLBACK = "/web/logged-in"
ERROR_PAGE = "/web/social-login-error"

STRICT = {
    "socialaccount_auto_signup": "false",
    "account_reauthentication_required": "true",
    "account_email_notifications": "false",
}
CLOSED = {
    "login_enable_sso_reg": "false",
    "account_login_by_code_required": "true",
    "site_url": "https://plugyard.example.org",
}

_numbers = itertools.count(1)


class Person:
    """Somebody whom the provider knows."""

    def __init__(self, oidc: OidcServer, name: str, **claims: Any) -> None:
        self.oidc = oidc
        self.number = next(_numbers)
        self.name = f"{name}{self.number}"
        self.uid = f"uid-{self.number}"
        self.email = f"{self.name}@example.org"
        oidc.users[self.name] = {
            "sub": self.uid,
            "email": self.email,
            "email_verified": True,
            "preferred_username": self.name,
            "given_name": "Grace",
            "family_name": "Hopper",
        } | claims

    def token(self, **changes: Any) -> dict[str, Any]:
        """Return a token that an app got from the provider."""
        return {"client_id": CLIENT_ID, "id_token": self.oidc.id_token(self.name, **changes)}

    def send_token(self, client: Browser | App, process: str = "login", **changes: Any) -> Answer:
        """Sign in, or connect, by a token."""
        body = {"provider": "my", "process": process, "token": self.token()} | changes
        return client.post("/auth/provider/token", body)

    def begin(self, browser: Browser, **changes: str) -> httpx2.Response:
        """Send the form that begins a redirect."""
        csrf = browser._headers("POST")["X-CSRFToken"]
        form = {"provider": "my", "process": "login", "callback_url": CALLBACK, "csrfmiddlewaretoken": csrf}
        return browser.http.post(f"{PREFIX}/auth/provider/redirect", data=form | changes)

    def consent(self, begun: httpx2.Response) -> dict[str, str]:
        """Sign in at the provider, and return the query with which it sends the browser back."""
        assert begun.status_code == 302, begun.text
        self.oidc.signed_in = self.name
        return self.oidc.visit(begun.headers["location"])

    def sign_in(self, browser: Browser, **changes: str) -> str:
        """Walk through the whole redirect, and return where the browser ends."""
        return arrive(browser, self.consent(self.begin(browser, **changes)))

    def accounts(self, server: AuthServer) -> list[Any]:
        """Return what is stored of this person's connections."""
        return server.rows(select(PROVIDER_ACCOUNTS).where(PROVIDER_ACCOUNTS.c.uid == self.uid))


def arrive(browser: Browser, params: dict[str, str], path: str = "/accounts/my/login/callback/") -> str:
    """Come back from the provider, and return where the browser ends."""
    response = browser.http.get(path, params=params)
    assert response.status_code == 302, response.text
    return str(response.headers["location"])


def error_of(location: str) -> tuple[str, str, str]:
    """Return the page, ``error`` and ``error_process`` of an address."""
    parts = urlsplit(location)
    query = dict(parse_qsl(parts.query))
    page = f"{parts.scheme}://{parts.netloc}{parts.path}" if parts.netloc else parts.path
    return page, query.get("error", ""), query.get("error_process", "")


def emails_of(server: AuthServer, user_id: int) -> list[tuple[str, bool, bool]]:
    """Return the addresses of an account."""
    rows = server.rows(select(EMAILS).where(EMAILS.c.user_id == user_id))
    return [(row.email, row.verified, row.primary) for row in rows]


def settings(oidc: OidcServer, github: GithubServer, **further: Any) -> str:
    """Return the option that names the providers: one takes tokens, one does not."""
    my = {"type": "openid_connect", "name": "My", "client_id": CLIENT_ID, "secret": SECRET, "server_url": oidc.url}
    octo = {"type": "github", "client_id": CLIENT_ID, "secret": GITHUB_SECRET, "server_url": github.url}
    return json.dumps({"my": my, "github": octo, **further})


def users(server: AuthServer) -> int:
    """Count the accounts."""
    return int(server.rows(select(func.count()).select_from(USERS))[0][0])


def sessions_of(server: AuthServer, user_id: int | None) -> list[Any]:
    """Return the sessions of an account."""
    return server.rows(select(SESSIONS).where(SESSIONS.c.user_id == user_id))


def connected_user(server: AuthServer, who: Person, name: str = "", **options: Any) -> Any:
    """Make an account that is connected to somebody at the provider."""
    account = server.new_user(name or f"user{who.number}", **options)
    row = {"user_id": account.id, "provider": "my", "uid": who.uid, "display": who.name, "extra": {}}
    with server.host.database.write() as session:
        session.connection().execute(PROVIDER_ACCOUNTS.insert().values(created=server.clock(), **row))
    return account


def waiting(server: AuthServer, client: Browser | App, who: Person) -> None:
    """Bring a client to a sign-up that waits, as somebody has the address already."""
    server.new_user(f"owner{who.number}-{client.kind}", email=who.email)
    answer = who.send_token(client)
    assert (answer.status, answer.pending) == (401, ["provider_signup"])
