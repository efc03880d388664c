"""Logins that are under way at providers, as a session keeps them."""

from __future__ import annotations

import hmac
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from host.accounts.providers.settings import STATE_LIFE

MOST = 10
"""The oldest goes where one more begins."""


def remember(pending: Sequence[Mapping[str, Any]], private: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the logins under way with one more; ``private`` is what ``begin`` gave, and what else the caller needs."""
    return [dict(one) for one in (*pending, private)][-MOST:]


def take(
    pending: Sequence[Mapping[str, Any]], state: str, moment: datetime
) -> tuple[dict[str, Any] | None, list[dict[str, Any]]]:
    """Return the login that a browser came back from, and the others; each can be taken once."""
    found, rest = None, []
    for one in pending:
        if moment.timestamp() - one["at"] > STATE_LIFE:
            continue
        if found is None and hmac.compare_digest(str(one["state"]).encode(), state.encode("utf-8", "replace")):
            found = dict(one)
        else:
            rest.append(dict(one))
    return found, rest
