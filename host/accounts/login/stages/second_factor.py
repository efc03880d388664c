"""The stage at which a login waits for a second factor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from host.accounts.account import Account
from host.accounts.area import Area
from host.accounts.factors.factors import Factors
from host.accounts.factors.offered import asks_for_factor, offered_types
from host.accounts.sessions.state import Client, Pending
from host.accounts.sessions.visit import Work

FLOW = "mfa_authenticate"


class SecondFactor:
    """Waits where the account owns a second factor, unless a passkey or a trusted browser stands for it.

    Args:
        area: what account services share.
        factors: knows who has which second factor.

    """

    flow = FLOW
    conflicts = False

    def __init__(self, area: Area, factors: Factors) -> None:
        self._area = area
        self._factors = factors

    def enter(self, work: Work, login: Pending, account: Account) -> dict[str, Any] | None:
        """Remember the kinds that the account owns."""
        if login.facts.get("passwordless"):
            return None
        types = offered_types(self._factors, self._area.options, work.connection, account.id)
        if not asks_for_factor(types) or self._is_trusted(work, account):
            return None
        return {"types": types}

    def describe(self, login: Pending) -> Mapping[str, Any]:
        """Return the kinds that the account owns."""
        return {"types": login.state["types"]}

    def _is_trusted(self, work: Work, account: Account) -> bool:
        options = self._area.options
        # Where everybody has to use a second factor, a session without one would be of no use.
        if options.login_enforce_mfa or not options.mfa_trust_enabled or work.caller.client is not Client.BROWSER:
            return False
        return self._factors.trust.is_trusted(work.connection, work.caller.trust, account.id)
