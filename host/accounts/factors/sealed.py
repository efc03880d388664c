"""Secrets of authenticators: how they are kept."""

from __future__ import annotations

import logging

from host.accounts.factors.authenticators import Authenticator, FactorType
from host.accounts.seals import Seals

_LOG = logging.getLogger("plugyard.accounts")


def seal_secret(seals: Seals, kind: FactorType, user_id: int, secret: str) -> str:
    """Return a secret as it is stored; it opens for the same account and kind only."""
    return seals.seal(_purpose(kind, user_id), secret)


def open_secret(seals: Seals, authenticator: Authenticator) -> str | None:
    """Return the secret of an authenticator; ``None``, and a warning in the log: it cannot be opened."""
    try:
        return seals.open(_purpose(authenticator.type, authenticator.user_id), authenticator.data["secret"])
    except ValueError:
        _LOG.warning(
            "The secret of authenticator %s (%s) of account %s cannot be read. Was the instance's secret key changed?",
            authenticator.id,
            authenticator.type.value,
            authenticator.user_id,
        )
        return None


def _purpose(kind: FactorType, user_id: int) -> str:
    return f"{kind.value}:{user_id}"
