"""Links that prove an e-mail address."""

from __future__ import annotations

from sqlalchemy import Connection

from host.accounts.emails.table import EMAILS, EmailAddress, read_address
from host.accounts.seals import Seals

_PURPOSE = "email-verification-link"
_DAY = 86_400
_DIGITS = 32


class EmailLinks:
    """Makes and reads the keys in verification links.

    Args:
        seals: sign.
        days: how long a key is good.

    """

    def __init__(self, seals: Seals, *, days: float) -> None:
        self._seals = seals
        self._seconds = days * _DAY

    def key(self, address: EmailAddress) -> str:
        """Return a key that proves this address, for whoever has it; the address itself does not stand in it."""
        return self._seals.sign(_PURPOSE, f"{address.id}.{self._mark(address)}")

    def read(self, connection: Connection, key: str) -> EmailAddress | None:
        """Return the address that a key proves.

        ``None`` when the key is forged or expired, was used, or the address has gone.
        """
        number, dot, mark = (self._seals.read(_PURPOSE, key, self._seconds) or "").partition(".")
        if not dot:
            return None
        address = read_address(connection, EMAILS.c.id == int(number), EMAILS.c.verified.is_(False))
        # Databases give the number of a removed row to a new one.
        return address if address is not None and mark == self._mark(address) else None

    def _mark(self, address: EmailAddress) -> str:
        return self._seals.digest(_PURPOSE, str(address.user_id), address.email)[:_DIGITS]
