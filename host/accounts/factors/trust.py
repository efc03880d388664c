"""Trusted browsers: they keep a signed value, and are not asked for a second factor while it holds."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from hmac import compare_digest

from sqlalchemy import Connection, select

from host.accounts.account import USERS
from host.accounts.factors.authenticators import Authenticator, FactorType, list_of
from host.accounts.seals import Seals
from host.storage.tables import now

_PURPOSE = "mfa-trust"
_MOST = 10
_FINGERPRINT_LENGTH = 32


class Trust:
    """Writes and reads the value that a trusted browser keeps; it names several accounts at most.

    Args:
        seals: signs the values.
        seconds: how long a browser is trusted.
        clock: tells the time.

    """

    def __init__(self, seals: Seals, seconds: float, clock: Callable[[], datetime] = now) -> None:
        self._seals = seals
        self._seconds = seconds
        self._clock = clock

    def is_trusted(self, connection: Connection, value: str | None, user_id: int) -> bool:
        """Tell whether a browser that keeps this value need not ask an account for its second factor."""
        kept = self._read(value)
        if not kept:
            return False
        mine = self._fingerprint(connection, user_id)
        return any(compare_digest(mine, fingerprint) for fingerprint, _ in kept)

    def add(self, connection: Connection, value: str | None, user_id: int) -> str:
        """Return the value to keep by which a browser is trusted with this account besides those it has already.

        A change of the password, or of any authenticator, ends the trust.
        """
        mine = self._fingerprint(connection, user_id)
        kept = [entry for entry in self._read(value) if entry[0] != mine]
        entries = [*kept, (mine, int(self._clock().timestamp()))][-_MOST:]
        return self._seals.sign(_PURPOSE, "_".join(f"{fingerprint}-{time}" for fingerprint, time in entries))

    def _read(self, value: str | None) -> list[tuple[str, int]]:
        text = self._seals.read(_PURPOSE, value, self._seconds) if value else None
        if not text:
            return []
        oldest = self._clock().timestamp() - self._seconds
        entries = [entry.split("-") for entry in text.split("_")]
        return [(fingerprint, int(time)) for fingerprint, time in entries if int(time) > oldest]

    def _fingerprint(self, connection: Connection, user_id: int) -> str:
        password = select(USERS.c.password_changed, USERS.c.password_hash.is_not(None)).where(USERS.c.id == user_id)
        changed, usable = connection.execute(password).one_or_none() or (None, False)
        # Not the hash itself: it is renewed, with the same password, when its cost rises.
        facts = [str(user_id), changed.isoformat() if changed else "", "password" if usable else ""]
        facts += [_identity(authenticator) for authenticator in list_of(connection, user_id)]
        return self._seals.digest(_PURPOSE, *facts)[:_FINGERPRINT_LENGTH]


def _identity(authenticator: Authenticator) -> str:
    webauthn = authenticator.type is FactorType.WEBAUTHN
    secret = authenticator.credential_id if webauthn else authenticator.data["secret"]
    return f"{authenticator.id}:{authenticator.type.value}:{secret}"
