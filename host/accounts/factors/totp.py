"""One-time codes of authenticator apps (TOTP)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from hmac import compare_digest
from urllib.parse import quote, urlencode

from pyotp import HOTP, random_base32
from sqlalchemy import Connection, or_, update

from host.accounts.factors.authenticators import AUTHENTICATORS, Authenticator, FactorType, insert
from host.accounts.factors.sealed import open_secret, seal_secret
from host.accounts.seals import Seals
from host.config.accounts import FactorOptions
from host.storage.tables import now

_SECRET_LENGTH = 32  # characters of base32: 20 bytes


class Totp:
    """Makes and checks the secrets that authenticator apps keep.

    Args:
        options: period, digits and tolerance.
        seals: keeps the secrets.
        clock: tells the time.

    """

    def __init__(self, options: FactorOptions, seals: Seals, clock: Callable[[], datetime] = now) -> None:
        self._period = options.mfa_totp_period
        self._digits = options.mfa_totp_digits
        self._tolerance = options.mfa_totp_tolerance
        self._seals = seals
        self._clock = clock

    def new_secret(self) -> str:
        """Make up a secret, in base32."""
        return random_base32(_SECRET_LENGTH)

    def url(self, secret: str, *, label: str, issuer: str) -> str:
        """Return what an authenticator app reads from a picture; ``label`` is the account's address or name."""
        query: dict[str, str | int] = {"secret": secret, "issuer": issuer}
        # Apps assume these; some refuse to be told.
        if self._digits != 6:  # noqa: PLR2004 - the format's own default
            query["digits"] = self._digits
        if self._period != 30:  # noqa: PLR2004 - as above
            query["period"] = self._period
        # Apps take "+" for a plus, not for a blank.
        return f"otpauth://totp/{quote(label, safe='@')}?{urlencode(query, quote_via=quote)}"

    def verify(self, secret: str, code: str) -> int | None:
        """Return the period to which a code belongs, ``None`` when it is wrong; nothing is marked as used."""
        code = "".join(code.split())
        # Digits of other scripts are no digits here: a code has one spelling.
        if len(code) != self._digits or not (code.isascii() and code.isdigit()):
            return None
        present = int(self._clock().timestamp()) // self._period
        generator = HOTP(secret, digits=self._digits)
        matching = None
        for step in range(max(0, present - self._tolerance), present + self._tolerance + 1):
            if compare_digest(generator.at(step), code):
                matching = step
        return matching

    def add(self, connection: Connection, user_id: int, secret: str) -> Authenticator | None:
        """Store the secret that an account's app keeps from now on; ``None``: the account has one.

        The code that proved it is not marked: it serves once more for a login.
        """
        data = {"secret": seal_secret(self._seals, FactorType.TOTP, user_id, secret)}
        return insert(connection, user_id, FactorType.TOTP, created=self._clock(), data=data)

    def use(self, connection: Connection, authenticator: Authenticator, code: str) -> bool:
        """Accept a code once, and none that is older than the last one accepted.

        Of several transactions that use one code at the same time, one succeeds.
        """
        secret = open_secret(self._seals, authenticator)
        step = None if secret is None else self.verify(secret, code)
        if step is None:
            return False
        columns = AUTHENTICATORS.c
        fresh = or_(columns.last_step.is_(None), columns.last_step < step)
        statement = update(AUTHENTICATORS).where(columns.id == authenticator.id, fresh)
        return connection.execute(statement.values(last_step=step, last_used=self._clock())).rowcount == 1
