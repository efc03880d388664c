"""Which second factors of an account count: those of kinds that are switched on."""

from __future__ import annotations

from sqlalchemy import Connection

from host.accounts.factors.authenticators import FactorType
from host.accounts.factors.factors import Factors
from host.config.accounts import FactorOptions


def offered_types(factors: Factors, options: FactorOptions, connection: Connection, user_id: int) -> list[str]:
    """Return which kinds an account owns, of those that the configuration offers, in the order of clients."""
    return [kind for kind in factors.types_of(connection, user_id) if kind in options.mfa_supported_types]


def asks_for_factor(types: list[str]) -> bool:
    """Tell whether a login has to prove one of these: recovery codes alone protect nothing."""
    return any(kind != FactorType.RECOVERY_CODES.value for kind in types)
