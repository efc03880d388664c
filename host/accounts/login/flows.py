"""What a caller may do to sign in or to prove again who they are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from host.accounts.area import Area
from host.accounts.factors.factors import Factors
from host.accounts.factors.offered import offered_types
from host.accounts.login.logins import Logins
from host.accounts.login.recency import is_recent
from host.accounts.refusals import ProofNeededError
from host.accounts.sessions.state import Client
from host.accounts.sessions.visit import Visit

Flow = dict[str, Any]

RESET_BY_CODE = "password_reset_by_code"
PROVIDER_SIGNUP = "provider_signup"
"""Names under which a session keeps a reset, or a sign-up through a provider, that is under way."""


class Flows:
    """Lists flows.

    Args:
        area: what account services share.
        logins: knows the stages.
        factors: knows who has which second factor.
        providers: lists the ids of the providers that a kind of client may use, by flow.
        describe_signup: describes the provider of a sign-up that is under way; not at all once it is too late.

    """

    def __init__(
        self,
        area: Area,
        logins: Logins,
        factors: Factors,
        *,
        providers: Callable[[str], Sequence[str]],
        describe_signup: Callable[[dict[str, Any]], dict[str, Any]],
    ) -> None:
        self._area = area
        self._logins = logins
        self._factors = factors
        self._providers = providers
        self._describe_signup = describe_signup

    def to_sign_in(self, visit: Visit) -> list[Flow]:
        """List what somebody who is not signed in may do, and what waits."""
        flows = [*self._open(), *self._by_provider(visit)]
        if self._area.options.mfa_passkey_login_enabled and "webauthn" in self._area.options.mfa_supported_types:
            flows.append({"id": "mfa_login_webauthn"})
        login = visit.pending
        if login is not None:
            waiting = self._logins.describe(login)
            same = next((flow for flow in flows if flow["id"] == waiting["id"]), None)
            if same is None:
                flows.append(waiting)
            else:
                same |= waiting
        return [*flows, *self._reset(visit)]

    def to_prove(self, visit: Visit) -> list[Flow]:
        """List how the account that is signed in may prove again who it is."""
        account = visit.signed_in
        flows: list[Flow] = []
        if account.has_usable_password:
            flows.append({"id": "reauthenticate"})
        types = self.factor_types(visit)
        if types:
            flows.append({"id": "mfa_reauthenticate", "types": types})
        return [*flows, *self._reset(visit)]

    def factor_types(self, visit: Visit) -> list[str]:
        """List the kinds of second factors of the account that is signed in, of those that are switched on."""
        with self._area.database.read() as connection:
            return offered_types(self._factors, self._area.options, connection, visit.signed_in.id)

    def demand_proof(self, visit: Visit) -> None:
        """Let only those pass who proved a short while ago who they are, or have nothing to prove it with.

        Raises:
            ProofNeededError: the last proof is too old.
            SignInNeededError: nobody is signed in.

        """
        account = visit.signed_in
        seconds = self._area.options.account_reauthentication_timeout
        if visit.state is not None and is_recent(visit.state.methods, self._area.clock(), seconds):
            return
        if account.has_usable_password or self.factor_types(visit):
            raise ProofNeededError

    def demand_proof_if_required(self, visit: Visit) -> None:
        """Do so where every change of an account asks for it.

        Raises:
            ProofNeededError: the last proof is too old.

        """
        if self._area.options.account_reauthentication_required:
            self.demand_proof(visit)

    def _open(self) -> list[Flow]:
        options = self._area.options
        flows: list[Flow] = [{"id": "login"}]
        if options.account_login_by_code_enabled:
            flows.append({"id": "login_by_code"})
        if options.login_enable_reg:
            flows.append({"id": "signup"})
        return flows

    def _by_provider(self, visit: Visit) -> list[Flow]:
        flows: list[Flow] = []
        if visit.caller.client is Client.BROWSER and (ids := self._providers("provider_redirect")):
            flows.append({"id": "provider_redirect", "providers": list(ids)})
        if ids := self._providers("provider_token"):
            flows.append({"id": "provider_token", "providers": list(ids)})
        signup = visit.state.data.get(PROVIDER_SIGNUP) if visit.state else None
        if signup and (provider := self._describe_signup(signup)):
            flows.append({"id": "provider_signup", "provider": provider, "is_pending": True})
        return flows

    def _reset(self, visit: Visit) -> list[Flow]:
        if not self._area.options.account_password_reset_by_code_enabled:
            return []
        state = visit.state.data.get(RESET_BY_CODE) if visit.state else None
        is_live = state is not None and self._area.clock().timestamp() <= state["expires_at"]
        return [{"id": RESET_BY_CODE, "is_pending": is_live}]
