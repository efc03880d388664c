"""Mail: see or deliver what the host sends, hand in what comes back, and see that too."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeAlias
from uuid import UUID

from host.contract.markers import Asked, MaybeAwaitable, hookspec

MailOutcome: TypeAlias = Literal["delivered", "read", "confirmed", "failed"]
"""What a delivering service can tell of a mail later on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutgoingMail:
    """A mail of the host.

    ``subject`` and ``message`` never appear in the ``repr()``, so that no traceback shows them.
    """

    id: UUID
    """Its ``pk`` in the mail log."""
    message_id: str
    """The header ``Message-ID``."""
    thread: UUID
    """Shared by the mails of one conversation."""
    sender: str
    recipients: tuple[str, ...]
    """Plain addresses; those of :meth:`MailHooks.deliver_mail` are ASCII."""
    subject: str = field(repr=False)
    priority: int = 3
    """From 1, very high, to 5, very low; 0 where nothing was said."""
    template: str = ""
    """Which of the host's mails it is, such as ``login_code``."""
    message: bytes = field(repr=False)
    """The whole mail, headers included, as mail servers carry it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MailDelivery:
    """What came of delivering a mail: with no ``error``, it was taken and is on its way."""

    message_id: str = ""
    """By which the service that took it knows it; kept in the mail log, for :meth:`MailAccess.note`."""
    error: str = ""
    """Why it was not taken, for the mail log; the mail is tried again later."""
    error_code: str = ""
    is_final: bool = False
    """With an error: trying again is of no use."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IncomingMail:
    """A mail that somebody sent to the host. Nobody has checked who: any sender can be written into a mail."""

    id: UUID
    """Its ``pk`` in the mail log."""
    message_id: str
    """The header ``Message-ID``; empty where there is none."""
    thread: UUID
    """That of the mail which it answers, if the log has it; else its own."""
    sender: str
    recipients: tuple[str, ...]
    subject: str
    text: str = field(repr=False)
    """The text for people, without HTML; of a very long one the beginning."""
    message: bytes = field(repr=False)
    """The whole mail as it was handed in."""


class MailAccess(Protocol):
    """What a plugin tells the host of mail; meant for plugins to which a mail service reports."""

    def receive(self, message: bytes) -> UUID:
        """Store a mail that has come in, and let plugins see it soon after; return its id.

        The same mail handed in again is stored once, by its ``Message-ID``. Inside a session's block it is stored as
        part of that transaction.

        Raises:
            TypeError: the message is not ``bytes``.
            ValueError: it is empty, or has more than 10 MiB.

        """

    def note(self, message_id: str, outcome: MailOutcome, reason: str = "") -> bool:
        """Note in the mail log what has become of a mail; return whether the log has that mail.

        What was noted counts against what comes late: a mail that was read is not ``delivered`` again.

        Args:
            message_id: the ``Message-ID`` of the mail, or what :class:`MailDelivery` said of it.
            outcome: ``delivered``, ``read``, ``confirmed`` or ``failed``.
            reason: why it failed.

        Raises:
            ValueError: there is no such outcome.

        """


class MailHooks:
    """Hooks of plugins that see or deliver mail."""

    key = "mail"
    human_name = "Mail"

    @hookspec(asked=Asked.FIRST, returns=MailDelivery, optional=True, secret=True)
    def deliver_mail(self, mail: OutgoingMail) -> MaybeAwaitable[MailDelivery | None]:
        """Deliver a mail.

        When: a mail is due, after the change that led to it was committed and outside of any transaction, from the
        thread that delivers mail; a test mail from its request. ``mail`` holds the links and codes that open accounts:
        log it nowhere.
        Return: a ``MailDelivery`` when this plugin took the mail or knows that nobody should try others now; ``None``
        when it leaves the mail to the next plugin and finally to the host's own mail server.
        Failure: an error report is written, without the text of what was raised, and the next plugin is asked, finally
        the mail server. Without a mail server the mail is tried again later. After a deadline the plugin may have
        delivered the mail all the same, and people get it twice; so answer in time.
        Since: 0.1.
        """
        raise NotImplementedError

    @hookspec(asked=Asked.ALL)
    def mail_sent(self, mail: OutgoingMail) -> MaybeAwaitable[None]:
        """See a mail that has left.

        When: a plugin or the mail server took the mail, and the log says so. In ``subject`` and ``message`` the links
        and codes that open accounts are masked, as in the mail log.
        Return: nothing.
        Failure: an error report is written. The mail is not sent again, and other plugins still see it.
        Since: 0.1.
        """
        raise NotImplementedError

    @hookspec(asked=Asked.ALL)
    def incoming_mail(self, mail: IncomingMail) -> MaybeAwaitable[None]:
        """See a mail that has come in.

        When: soon after a plugin handed it in with ``services.mail.receive`` and that was committed; after a crash it
        may be shown twice: compare ``mail.id``. Anybody can send mail, in any name and with anything in it.
        Return: nothing.
        Failure: an error report is written, and other plugins still see the mail.
        Since: 0.1.
        """
        raise NotImplementedError
