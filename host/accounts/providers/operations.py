"""What people do with providers, put together: sign in, sign up and connect."""

from __future__ import annotations

from typing import Any

from host.accounts.area import Area
from host.accounts.frontend_urls import FrontendUrls
from host.accounts.login.flows import Flows
from host.accounts.login.logins import Logins
from host.accounts.login.signup import Signup
from host.accounts.providers.client import Providers
from host.accounts.providers.connections import ProviderConnections
from host.accounts.providers.login import ProviderLogin
from host.accounts.providers.redirect import ProviderRedirect
from host.accounts.providers.signup import ProviderSignup
from host.accounts.sessions.state import Client

_FLOWS = {Client.BROWSER: "provider_redirect", Client.APP: "provider_token"}


class ProviderOperations:
    """The operations, by subject: ``connections``, ``signup``, ``login`` and ``redirect``.

    Args:
        area: what account services share.
        providers: all providers.
        logins: take logins through their stages.
        flows: ask for a fresh proof.
        signup: makes accounts.
        urls: the pages of the web client, and where the host is.

    """

    def __init__(
        self, area: Area, providers: Providers, *, logins: Logins, flows: Flows, signup: Signup, urls: FrontendUrls
    ) -> None:
        self._providers = providers
        self.connections = ProviderConnections(area, providers, flows)
        self.signup = ProviderSignup(area, signup)
        self.login = ProviderLogin(area, providers, logins, self.signup, self.connections)
        self.redirect = ProviderRedirect(area, providers, urls, self.login, self.connections)

    def show(self, client: Client) -> list[dict[str, Any]]:
        """List the providers that a kind of client can use, by name, in the form of the interface."""
        return [dict(one.as_json()) for one in self._providers.with_flow(_FLOWS[client])]
