"""Logins of people whom a provider vouches for."""

from __future__ import annotations

from typing import Any

from host.accounts.account import get_account
from host.accounts.area import Area
from host.accounts.login.flows import PROVIDER_SIGNUP
from host.accounts.login.logins import Logins
from host.accounts.login.recency import entry
from host.accounts.persons import Problems
from host.accounts.problems import Problem, refuse
from host.accounts.providers import accounts
from host.accounts.providers.client import Providers
from host.accounts.providers.connections import ProviderConnections
from host.accounts.providers.identity import Identity
from host.accounts.providers.signup import ProviderSignup, note_address
from host.accounts.sessions.visit import Visit, Work

PROCESSES = ("login", "connect")


class ProviderLogin:
    """Signs in whom a provider vouches for.

    Args:
        area: what account services share.
        providers: all providers.
        logins: take logins through their stages.
        signup: begins sign-ups of those who have no account.
        connections: connects accounts that are signed in.

    """

    def __init__(
        self,
        area: Area,
        providers: Providers,
        logins: Logins,
        signup: ProviderSignup,
        connections: ProviderConnections,
    ) -> None:
        self._area = area
        self._providers = providers
        self._logins = logins
        self._signup = signup
        self._connections = connections

    def by_token(self, visit: Visit, provider_id: str, process: str, token: object) -> None:
        """Sign in, or connect, by a token that an app got from a provider.

        Args:
            visit: the request's view of its session.
            provider_id: which provider.
            process: one of :data:`PROCESSES`.
            token: an object of ``client_id``, and ``id_token`` or ``access_token``.

        Raises:
            RefusedValuesError: the input is wrong, the token is not to be trusted, or its owner is connected to
                another account.
            SignInNeededError: nobody is signed in who could be connected.
            ProofNeededError: a fresh proof is needed first; the token is not used up then.
            ClosedError: there is no account yet, and none may be made.

        """
        problems: Problems = {}
        if not provider_id:
            problems["provider"] = [Problem("required", "Give the id of a provider.")]
        if not process:
            problems["process"] = [Problem("required", "Say login or connect.")]
        elif process not in PROCESSES:
            problems["process"] = [Problem("invalid_choice", f"'{process}' is no process. Say login or connect.")]
        if token in (None, "", [], {}):
            problems["token"] = [Problem("required", "Give the token that the provider made.")]
        refuse(problems)
        if process == "connect":
            user_id = self._connections.demand(visit)
            self._connections.connect(visit, self._providers.from_token(provider_id, token), user_id=user_id)
        else:
            self.sign_in(visit, self._providers.from_token(provider_id, token))

    def sign_in(self, visit: Visit, identity: Identity) -> None:
        """Begin the login of somebody, or their sign-up; whoever was signed in until now no longer is.

        Raises:
            ClosedError: they have no account, and none may be made; then nobody is signed out.

        """
        if self._begin(visit, identity):
            return
        self._signup.demand_open()
        with visit.work() as work:
            _sign_out(work)
        if not self._signup.begin(visit, identity):
            self._begin(visit, identity)

    def _begin(self, visit: Visit, identity: Identity) -> bool:
        with visit.work() as work:
            known = accounts.find(work.connection, identity.provider, identity.uid)
            if known is None:
                return False
            _sign_out(work)
            work.keep(PROVIDER_SIGNUP, None)
            accounts.touch(work.connection, known.id, identity, work.now)
            note_address(self._area, work, known.user_id, identity)
            account = get_account(work.connection, known.user_id)
            method = entry("socialaccount", work.now, provider=identity.provider, uid=identity.uid)
            self._logins.begin(work, account, method, by_provider=True)
        return True


def _sign_out(work: Work) -> None:
    if work.account is None:
        return
    work.emit("user.logged_out")
    state: Any = work.state
    # The session stays, as the place in which the login goes on; its key changes as soon as somebody is signed in.
    state.user_id, state.password_changed, state.methods, state.data = None, None, [], {}
    work.visit.account = None
