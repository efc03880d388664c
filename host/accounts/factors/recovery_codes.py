"""Recovery codes: for those who lost their phone or key; each serves once."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Callable
from datetime import datetime

from sqlalchemy import Connection, update

from host.accounts.factors.authenticators import (
    AUTHENTICATORS,
    Authenticator,
    FactorType,
    delete_of,
    get_only,
    insert,
)
from host.accounts.factors.sealed import open_secret, seal_secret
from host.accounts.seals import Seals
from host.config.accounts import FactorOptions
from host.storage.tables import now

_SEED_BYTES = 20
_BETWEEN_DIGITS = re.compile(r"[\s-]+")


class RecoveryCodes:
    """Makes and checks sets of recovery codes.

    Only a sealed seed is stored, from which the codes follow, and which of them were used.

    Args:
        options: how many codes of how many digits a new set has; those that exist stay as they are.
        seals: keeps the seeds.
        clock: tells the time.

    """

    def __init__(self, options: FactorOptions, seals: Seals, clock: Callable[[], datetime] = now) -> None:
        self._count = options.mfa_recovery_code_count
        self._digits = options.mfa_recovery_code_digits
        self._seals = seals
        self._clock = clock

    def add(self, connection: Connection, user_id: int) -> Authenticator | None:
        """Make a set for an account; ``None``: it has one."""
        seed = secrets.token_hex(_SEED_BYTES)
        data = {
            "secret": seal_secret(self._seals, FactorType.RECOVERY_CODES, user_id, seed),
            "count": self._count,
            "digits": self._digits,
            "used": [],
        }
        return insert(connection, user_id, FactorType.RECOVERY_CODES, created=self._clock(), data=data)

    def replace(self, connection: Connection, user_id: int) -> Authenticator | None:
        """Make a set for an account whose older one is void from now on; ``None``: somebody else just did so."""
        # The older set's row is locked: who is using one of its codes finishes first.
        old = get_only(connection, user_id, FactorType.RECOVERY_CODES, for_update=True)
        if old is not None:
            delete_of(connection, user_id, [old.id])
        return self.add(connection, user_id)

    def unused(self, authenticator: Authenticator) -> list[str]:
        """Return the codes of a set that can still be used."""
        used = set(authenticator.data["used"])
        return [code for index, code in enumerate(self._codes(authenticator)) if index not in used]

    def use(self, connection: Connection, user_id: int, code: str) -> Authenticator | None:
        """Accept one of an account's codes once and return the set; ``None``: it is wrong or used.

        Of several transactions that use one code at the same time, one succeeds.
        """
        code = _BETWEEN_DIGITS.sub("", code)
        if not (code.isascii() and code.isdigit()):
            return None
        authenticator = get_only(connection, user_id, FactorType.RECOVERY_CODES, for_update=True)
        if authenticator is None:
            return None
        found = [index for index, known in enumerate(self._codes(authenticator)) if hmac.compare_digest(known, code)]
        used = authenticator.data["used"]
        if not found or found[0] in used:
            return None
        data = {**authenticator.data, "used": sorted([*used, found[0]])}
        mine = AUTHENTICATORS.c.id == authenticator.id
        connection.execute(update(AUTHENTICATORS).where(mine).values(data=data, last_used=self._clock()))
        return get_only(connection, user_id, FactorType.RECOVERY_CODES)

    def _codes(self, authenticator: Authenticator) -> list[str]:
        seed = open_secret(self._seals, authenticator)
        if seed is None:
            return []
        return _derive(bytes.fromhex(seed), authenticator.data["count"], authenticator.data["digits"])


def _derive(seed: bytes, count: int, digits: int) -> list[str]:
    codes: dict[str, None] = {}
    number = 0
    # Two equal codes would be one code less: the numbers go on until there are enough that differ.
    while len(codes) < count:
        digest = hmac.new(seed, str(number).encode(), hashlib.sha256).digest()
        codes[f"{int.from_bytes(digest) % 10**digits:0{digits}}"] = None
        number += 1
    return list(codes)
