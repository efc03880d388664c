"""The stage at which a login waits for the answer whether its browser is to be trusted from now on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from host.accounts.account import Account
from host.accounts.area import Area
from host.accounts.login.stages import second_factor
from host.accounts.sessions.state import Client, Pending
from host.accounts.sessions.visit import Work

FLOW = "mfa_trust"


class TrustBrowser:
    """Waits after a second factor was proved in a browser, where trust is on."""

    flow = FLOW
    conflicts = False

    def __init__(self, area: Area) -> None:
        self._area = area

    def enter(self, work: Work, login: Pending, account: Account) -> dict[str, Any] | None:
        """Wait if the login comes from the second factor: what was never asked for needs no trust."""
        del account
        options = self._area.options
        if options.login_enforce_mfa or not options.mfa_trust_enabled or work.caller.client is not Client.BROWSER:
            return None
        return {} if login.stage == second_factor.FLOW else None

    def describe(self, login: Pending) -> Mapping[str, Any]:
        """Return nothing more than that it waits."""
        del login
        return {}
