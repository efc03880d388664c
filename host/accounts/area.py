"""What the services of accounts share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from sqlalchemy.orm import Session

from host.accounts.events import Emit
from host.accounts.limits import Limits
from host.accounts.passwords import Passwords
from host.accounts.seals import Seals
from host.accounts.users import Users
from host.config.accounts import AccountOptions
from host.storage.engine import Database
from host.storage.tables import now


class Mail(Protocol):
    """Queues mail as part of a transaction."""

    def __call__(
        self, session: Session, *, to: str, template: str, context: Mapping[str, Any], secrets: tuple[str, ...] = ()
    ) -> object:
        """Queue a mail; ``secrets`` are the texts in it that no log may keep."""


class Sms(Protocol):
    """Sends short messages."""

    def __call__(self, phone: str, text: str) -> None:
        """Send one; called after the transaction that led to it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Area:
    """What the services of accounts share."""

    database: Database
    options: AccountOptions
    passwords: Passwords
    users: Users
    limits: Limits
    seals: Seals
    mail: Mail
    sms: Sms
    emit: Emit
    name: Callable[[], str]
    """Tells the name of this instance as it is now."""
    clock: Callable[[], datetime] = field(default=now)

    @property
    def instance(self) -> str:
        """The name of this instance, as people see it."""
        return self.name()
