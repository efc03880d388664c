"""Couriers: those outside of the host who deliver mail in place of its server, or want to see it."""

from __future__ import annotations

import email
from collections.abc import Callable
from dataclasses import dataclass
from email import policy
from typing import Protocol
from uuid import UUID

from host.contract.mail import IncomingMail, MailDelivery, OutgoingMail
from host.mail.addresses import ascii_address
from host.mail.queue import Claimed


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """What came of asking couriers to deliver a mail."""

    by: str = ""
    """Who answered; empty when nobody did."""
    delivery: MailDelivery | None = None
    """The answer."""
    failed: tuple[str, ...] = ()
    """Who should have answered, and failed."""
    asked: bool = False
    """Whether anybody was asked, which takes time."""


class Couriers(Protocol):
    """Asked by the delivery outside of any transaction; they never raise."""

    @property
    def seconds(self) -> float:
        """How long one of them may take."""

    def deliver(self, mail: OutgoingMail, goes_on: Callable[[], bool]) -> Taken:
        """Let the first who can deliver a mail; ``goes_on`` is asked before each, and ends it."""

    def sent(self, mail: OutgoingMail) -> None:
        """Let them see a mail that has left."""

    def received(self, mail: IncomingMail) -> None:
        """Let them see a mail that has come in."""


class NoCouriers:
    """Nobody."""

    seconds = 0.0

    def deliver(self, mail: OutgoingMail, goes_on: Callable[[], bool]) -> Taken:
        """Leave every mail to the host."""
        del mail, goes_on
        return Taken()

    def sent(self, mail: OutgoingMail) -> None:
        """See nothing."""

    def received(self, mail: IncomingMail) -> None:
        """See nothing."""


def as_carried(mail: Claimed, message: str) -> OutgoingMail:
    """Return a mail as mail servers carry it, with all that is secret in it."""
    read = email.message_from_string(message, policy=policy.default)
    return _outgoing(mail, (ascii_address(mail.to),), str(read["Subject"] or ""), message.encode("ascii"))


def as_logged(mail: Claimed) -> OutgoingMail:
    """Return a mail as the log shows it."""
    return _outgoing(mail, (mail.to,), mail.subject, mail.readable.encode("utf-8", "replace"))


def _outgoing(mail: Claimed, recipients: tuple[str, ...], subject: str, message: bytes) -> OutgoingMail:
    return OutgoingMail(
        id=UUID(mail.id),
        message_id=mail.message_id,
        thread=UUID(mail.thread or mail.id),
        sender=mail.sender,
        recipients=recipients,
        subject=subject,
        priority=mail.priority,
        template=mail.template or "",
        message=message,
    )
