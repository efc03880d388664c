"""The stage at which a login waits until a phone number is proved."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from host.accounts.account import Account
from host.accounts.area import Area
from host.accounts.login.code_proofs import CodeProofs
from host.accounts.phones import numbers
from host.accounts.sessions.state import Pending
from host.accounts.sessions.visit import Work
from host.config.accounts import required_fields


class VerifyPhone:
    """Asks for the proof of the account's number, where people sign up with one.

    Args:
        area: what account services share.
        proofs: sends codes.

    """

    flow = "verify_phone"
    conflicts = True

    def __init__(self, area: Area, proofs: CodeProofs) -> None:
        options = area.options
        self._is_asked_for = options.account_phone_enabled and "phone" in required_fields(options.account_signup_fields)
        self._proofs = proofs

    def enter(self, work: Work, login: Pending, account: Account) -> dict[str, Any] | None:
        """Send a code where the number is not proved; where somebody else has proved it, they are told instead.

        Raises:
            TooManyError: too many were sent.

        """
        del login
        if not self._is_asked_for:
            return None
        for number in numbers.list_of(work.connection, account.id):
            if not number.verified:
                taken = numbers.is_taken(work.connection, number.phone)
                return self._proofs.begin(work, number.phone, taken=taken)
        return None

    def describe(self, login: Pending) -> Mapping[str, Any]:
        """Return nothing more than that it waits."""
        del login
        return {}
