"""Hosts on real sockets for the account interface."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from tests.auth.clients import App, Browser
from tests.auth.server import AuthServer, Mailbox, running_mail_server, running_server

ServerWith = Callable[..., AuthServer]


@pytest.fixture(scope="module")
def smtp() -> Iterator[tuple[str, Mailbox]]:
    """A mail server for the tests of a module, each of which uses addresses of its own."""
    with running_mail_server() as running:
        yield running


@pytest.fixture(scope="module")
def server_with(smtp: tuple[str, Mailbox], tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerWith]:
    """Run hosts with options; those with equal options are shared by the tests of a module."""
    with ExitStack() as running:
        known: dict[Any, AuthServer] = {}

        def serve(**options: str) -> AuthServer:
            key = tuple(sorted(options.items()))
            if key not in known:
                home = tmp_path_factory.mktemp("auth")
                known[key] = running.enter_context(running_server(home, smtp, **options))
            known[key].clock.begin()
            return known[key]

        yield serve


@pytest.fixture
def server(server_with: ServerWith) -> AuthServer:
    """A host with the default options, but without rate limits."""
    return server_with()


@pytest.fixture(params=["browser", "app"])
def client(request: pytest.FixtureRequest, server: AuthServer) -> Browser | App:
    """A client of the default host, of each kind in turn."""
    return server.client(request.param)
