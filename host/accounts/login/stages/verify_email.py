"""The stage at which a login waits until an e-mail address is proved."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection

from host.accounts.account import Account
from host.accounts.area import Area
from host.accounts.emails import addresses
from host.accounts.emails.messages import EmailMessages
from host.accounts.emails.table import EmailAddress
from host.accounts.login.code_proofs import CodeProofs
from host.accounts.sessions.state import Pending
from host.accounts.sessions.visit import Work


class VerifyEmail:
    """Asks for the proof of an address, where the configuration makes one mandatory.

    A login by address needs this very address proved, any other login one address of the account. An account that has
    none passes: whoever wants addresses has to require them at sign-up.

    Args:
        area: what account services share.
        messages: mails links.
        proofs: mails codes; ``None`` where links are used.

    """

    flow = "verify_email"
    conflicts = True

    def __init__(self, area: Area, messages: EmailMessages, proofs: CodeProofs | None) -> None:
        self._area = area
        self._messages = messages
        self._proofs = proofs

    def enter(self, work: Work, login: Pending, account: Account) -> dict[str, Any] | None:
        """Mail a link or a code where a proof is missing.

        Raises:
            TooManyError: a code was mailed to the address a moment ago.

        """
        if self._area.options.account_email_verification != "mandatory":
            return None
        address = _unproved(work.connection, account.id, login.facts.get("email", ""))
        if address is None:
            return None
        if self._proofs is not None:
            return self._proofs.begin(work, address.email)
        self._messages.send_link(work, address)
        return {"to": address.email}

    def describe(self, login: Pending) -> Mapping[str, Any]:
        """Return nothing more than that it waits."""
        del login
        return {}


def _unproved(connection: Connection, user_id: int, used: str) -> EmailAddress | None:
    """Return the address that has to be proved; ``None`` when that is done."""
    own = addresses.list_of(connection, user_id)
    for address in own:
        if address.email == used:
            return None if address.verified else address
    if any(address.verified for address in own):
        return None
    return next((address for address in own if address.primary), own[0] if own else None)
