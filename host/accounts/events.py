"""Security events: what happened to accounts and credentials, for plugins and the audit log."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from sqlalchemy.orm import Session

from host.contract.values import Json


class Emit(Protocol):
    """Stores an event as part of a transaction."""

    def __call__(self, session: Session, name: str, data: Mapping[str, Json], user_id: int | None = None) -> None:
        """Store it; ``user_id`` is who did it."""


def emit_nothing(session: Session, name: str, data: Mapping[str, Json], user_id: int | None = None) -> None:
    """Store no event, where nobody listens."""
    del session, name, data, user_id
