"""The stage at which a sign-up without a password waits for the passkey of its account."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from host.accounts.account import Account
from host.accounts.sessions.state import Pending
from host.accounts.sessions.visit import Work

FLOW = "mfa_signup_webauthn"


class PasskeySignup:
    """Waits where the sign-up said that it will bring a passkey."""

    flow = FLOW
    conflicts = True

    def enter(self, work: Work, login: Pending, account: Account) -> dict[str, Any] | None:
        """Wait if so."""
        del work, account
        return {} if login.facts.get("passkey") else None

    def describe(self, login: Pending) -> Mapping[str, Any]:
        """Return nothing more than that it waits."""
        del login
        return {}
