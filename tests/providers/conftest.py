"""Providers that answer on this machine, and a clock that the test moves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest

from host.accounts.providers.client import Providers
from host.accounts.providers.oauth2 import Provider
from host.accounts.providers.seen import SeenTokens
from host.accounts.providers.settings import read_providers
from host.storage.engine import Database
from host.storage.tables import now
from tests.providers.oidc_server import CLIENT_ID, GITHUB_SECRET, SECRET, GithubServer, OidcServer

CALLBACK = "https://plugyard.example.org/accounts/my/login/callback/"


class Clock:
    """A moment that the test moves."""

    def __init__(self) -> None:
        self.moment = now()

    def __call__(self) -> datetime:
        return self.moment

    def pass_(self, seconds: float) -> None:
        self.moment += timedelta(seconds=seconds)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def oidc(clock: Clock) -> Iterator[OidcServer]:
    with OidcServer() as server:
        server.clock = lambda: clock().timestamp()
        yield server


@pytest.fixture
def github() -> Iterator[GithubServer]:
    with GithubServer() as server:
        yield server


@pytest.fixture
def providers_of(sqlite_database: Database, clock: Clock) -> Callable[[dict[str, Any]], Providers]:
    """Make providers of an option's value."""

    def make(option: dict[str, Any]) -> Providers:
        return Providers(read_providers(option), first_use=SeenTokens(sqlite_database, clock=clock), clock=clock)

    return make


@pytest.fixture
def my(oidc: OidcServer, providers_of: Callable[[dict[str, Any]], Providers]) -> Callable[..., Provider]:
    """Give the OpenID Connect provider, configured as the test says."""

    def make(**changes: Any) -> Provider:
        settings = {
            "type": "openid_connect",
            "name": "My",
            "client_id": CLIENT_ID,
            "secret": SECRET,
            "server_url": oidc.url,
        }
        provider = providers_of({"my": settings | changes}).get("my")
        assert provider is not None
        return provider

    return make


@pytest.fixture
def octo(github: GithubServer, providers_of: Callable[[dict[str, Any]], Providers]) -> Provider:
    """Give the provider that is like GitHub."""
    app = {"client_id": CLIENT_ID, "secret": GITHUB_SECRET, "key": ""}
    provider = providers_of({"github": {"APP": app, "GITHUB_URL": github.url}}).get("github")
    assert provider is not None
    return provider
