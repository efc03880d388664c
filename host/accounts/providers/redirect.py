"""Logins by redirect: the browser goes to the provider, comes back, and is sent on to the page that began it."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from typing import Any

from host.accounts.area import Area
from host.accounts.frontend_urls import PROVIDER_ERROR, FrontendUrls
from host.accounts.limits import TooManyError
from host.accounts.login.flows import PROVIDER_SIGNUP
from host.accounts.problems import RefusedValuesError
from host.accounts.providers import pending
from host.accounts.providers.client import Providers
from host.accounts.providers.connections import ProviderConnections
from host.accounts.providers.failures import Failure, ProviderError
from host.accounts.providers.frontend import allowed_callback, with_error
from host.accounts.providers.identity import Identity
from host.accounts.providers.login import PROCESSES, ProviderLogin
from host.accounts.refusals import ClosedError, ProofNeededError, SignInNeededError
from host.accounts.sessions.visit import Visit, Work

_LOG = logging.getLogger("plugyard.accounts")

_KEPT = "provider_redirects"
"""Under this name a session keeps the logins that are under way, sealed: they hold secrets."""


class ProviderRedirect:
    """Sends browsers to providers, and takes them back.

    Args:
        area: what account services share.
        providers: all providers.
        urls: the pages of the web client, and where the host is.
        login: signs in who comes back.
        connections: connects who comes back.

    """

    def __init__(
        self,
        area: Area,
        providers: Providers,
        urls: FrontendUrls,
        login: ProviderLogin,
        connections: ProviderConnections,
    ) -> None:
        self._area = area
        self._providers = providers
        self._urls = urls
        self._login = login
        self._connections = connections

    def begin(self, visit: Visit, provider_id: str, process: str, callback_url: str) -> str:
        """Return where to send the browser: to the provider, or to a page that says what is wrong.

        Args:
            visit: the request's view of its session.
            provider_id: which provider.
            process: ``login`` or ``connect``.
            callback_url: the page to which the browser returns at last.

        """
        provider = self._providers.get(provider_id)
        callback = self._allowed(visit, callback_url)
        if provider is None or callback is None or process not in PROCESSES:
            return self._error_page(visit)
        try:
            user_id = self._connections.demand(visit) if process == "connect" else None
            redirect_uri = f"{self._urls.site(visit.caller.origin)}/accounts/{provider.id}/login/callback/"
            url, private = provider.begin(redirect_uri)
        except (ProviderError, SignInNeededError, ProofNeededError) as error:
            return with_error(callback, _failure(error), process)
        private |= {"redirect_uri": redirect_uri, "callback": callback, "process": process, "user_id": user_id}
        with visit.work() as work:
            self._keep(work, pending.remember(self._kept(work), private))
        return url

    def finish(self, visit: Visit, provider_id: str, params: Mapping[str, str]) -> str:
        """Return where to send a browser that comes back from a provider, and sign in who was proved to sit there.

        Args:
            visit: the request's view of its session.
            provider_id: which provider, as the address says.
            params: the query of the address.

        """
        private = self._take(visit, params.get("state", ""))
        if private is None:
            return self._error_page(visit)
        callback, process = str(private["callback"]), str(private["process"])
        try:
            self._arrive(visit, provider_id, private, params)
        except (
            *(ProviderError, SignInNeededError, ProofNeededError),
            *(ClosedError, RefusedValuesError, TooManyError),
        ) as error:
            return with_error(callback, _failure(error), process)
        return callback

    def _arrive(self, visit: Visit, provider_id: str, private: Mapping[str, Any], params: Mapping[str, str]) -> None:
        provider = self._providers.get(provider_id)
        if provider is None:
            raise ProviderError(f"There is no provider '{private['provider']}' any more.")
        identity: Identity = provider.finish(private, str(private["redirect_uri"]), params)
        if private["process"] == "connect":
            self._connections.connect(visit, identity, user_id=private["user_id"])
            return
        self._login.sign_in(visit, identity)
        goes_on = visit.pending is not None or (visit.state is not None and PROVIDER_SIGNUP in visit.state.data)
        if visit.account is None and not goes_on:
            raise ProviderError("The account is switched off.", Failure.PERMISSION_DENIED)

    def _allowed(self, visit: Visit, url: str) -> str | None:
        origin = visit.caller.origin
        site, trusted = self._urls.site(origin), self._area.options.trusted_origins
        # Never among the trusted ones: what a request says of its host could be a pattern.
        return allowed_callback(url, origin=site, trusted=trusted) or allowed_callback(url, origin=origin)

    def _error_page(self, visit: Visit) -> str:
        page = self._urls.url(PROVIDER_ERROR, visit.caller.origin)
        return with_error(page, Failure.UNKNOWN, "login")

    def _take(self, visit: Visit, state: str) -> dict[str, Any] | None:
        if visit.state is None:
            return None
        # Committed before the provider is asked: whatever comes of it, this login cannot be finished twice.
        with visit.work() as work:
            kept = self._kept(work)
            private, rest = pending.take(kept, state, work.now)
            if rest != kept:
                self._keep(work, rest)
        return private

    def _kept(self, work: Work) -> list[dict[str, Any]]:
        kept = work.data(_KEPT)
        if kept is None:
            return []
        try:
            found: list[dict[str, Any]] = json.loads(self._area.seals.open(_KEPT, kept["sealed"]))
        except ValueError:
            # The host has another key by now.
            return []
        return found

    def _keep(self, work: Work, logins: list[dict[str, Any]]) -> None:
        sealed = {"sealed": self._area.seals.seal(_KEPT, json.dumps(logins))} if logins else None
        work.keep(_KEPT, sealed)


def _failure(error: Exception) -> Failure:
    match error:
        case ProviderError(failure=failure):
            if failure is Failure.UNKNOWN:
                _LOG.warning("A login through a provider came to nothing. %s", error)
            return Failure(failure)
        case SignInNeededError():
            return Failure.PERMISSION_DENIED
        case ProofNeededError():
            return Failure.REAUTHENTICATION_REQUIRED
        case ClosedError():
            return Failure.SIGNUP_CLOSED
        case RefusedValuesError() if any(
            problem.code == "connected_other" for found in error.problems.values() for problem in found
        ):
            return Failure.CONNECTED_OTHER
    return Failure.UNKNOWN
