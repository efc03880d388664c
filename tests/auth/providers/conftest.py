"""Providers on real sockets, people whom they know, and hosts that use them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tests.auth.conftest import ServerWith
from tests.auth.providers.visits import Person, settings
from tests.auth.server import AuthServer
from tests.providers.oidc_server import GithubServer, OidcServer


@pytest.fixture(scope="module")
def oidc() -> Iterator[OidcServer]:
    """A provider that speaks OpenID Connect."""
    with OidcServer() as running:
        yield running


@pytest.fixture(scope="module")
def github() -> Iterator[GithubServer]:
    """A provider like GitHub."""
    with GithubServer() as running:
        yield running


@pytest.fixture
def serve(server_with: ServerWith, oidc: OidcServer, github: GithubServer) -> Iterator[Callable[..., AuthServer]]:
    """Run a host with options that knows both providers, and one that is down."""
    down = {"type": "openid_connect", "name": "Away", "client_id": "c", "server_url": "http://127.0.0.1:9"}

    def run(**options: str) -> AuthServer:
        server = server_with(socialaccount_providers=settings(oidc, github, down=down), **options)
        oidc.clock = lambda: server.clock().timestamp()
        return server

    yield run
    oidc.instead.clear()


@pytest.fixture
def server(serve: Callable[..., AuthServer]) -> AuthServer:
    """A host with the default options."""
    return serve()


@pytest.fixture
def person(oidc: OidcServer) -> Callable[..., Person]:
    """Make people at the provider."""
    return lambda name="grace", **claims: Person(oidc, name, **claims)
