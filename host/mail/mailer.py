"""The mailer: writes mail in the transaction that it belongs to, and delivers it once that is committed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import insert
from sqlalchemy.orm import Session

from host.config.mail import MailOptions
from host.errors import RefusedError
from host.mail.couriers import Couriers, NoCouriers
from host.mail.delivery import Delivery, LogTransport, Transport
from host.mail.inbox import Inbox
from host.mail.log import MAIL, MailPriority, MailStatus
from host.mail.queue import Claimed, Queue
from host.mail.smtp import DeliveryError, SmtpServer, SmtpTransport
from host.mail.templates import Report, Templates
from host.mail.writing import Draft, Letterhead, Seals, Writing
from host.storage.endings import at_end
from host.storage.engine import Database
from host.storage.tables import now

_LEASE_MARGIN = 60.0


class Mailer:
    """Sends mail.

    Args:
        database: where the mail log is.
        options: how mail leaves the host.
        instance: the name of this instance, or a function that gives it.
        site: the host's address, or a function that gives it.
        seals: encrypts mails that wait.
        report: takes a path and a text for an error report.
        clock: gives the time.
        subject_prefix: begins each subject; empty means the instance's name in brackets.
        couriers: may take a mail before the mail server does, and see what was sent and what came in.

    Raises:
        ValueError: an option cannot be used; the text names it.

    """

    def __init__(  # noqa: PLR0913 - each is a part of the host of its own
        self,
        database: Database,
        options: MailOptions,
        *,
        instance: str | Callable[[], str],
        site: str | Callable[[], str],
        seals: Seals,
        report: Report,
        clock: Callable[[], datetime] = now,
        subject_prefix: str = "",
        couriers: Couriers | None = None,
    ) -> None:
        couriers = couriers or NoCouriers()
        self._database = database
        self._options = options
        self._report = report
        self._clock = clock
        head = Letterhead(
            name=(lambda: instance) if isinstance(instance, str) else instance,
            mail_from=options.mail_from,
            subject_prefix=subject_prefix,
            site=(lambda: site) if isinstance(site, str) else site,
        )
        self._writing = Writing(head, Templates(options.mail_templates, report, clock), seals=seals, clock=clock)
        # A conversation may take its time twice, for the connection and for the rest.
        self._queue = Queue(database, 2 * options.mail_timeout + couriers.seconds + _LEASE_MARGIN, clock)
        transport = _transport(options, head.host())
        self.is_configured = not isinstance(transport, LogTransport)
        """Whether there is a mail server; without one the log takes all mail."""
        self._delivery = Delivery(
            self._queue, transport, couriers, seals=seals, report=report, clock=clock, attempts=options.mail_attempts
        )
        self.inbox = Inbox(seals, clock, self._delivery.wake.set)
        """What comes in, and what is told of mails that have left."""

    def send(
        self,
        session: Session,
        *,
        to: str,
        template: str,
        context: Mapping[str, Any],
        secrets: tuple[str, ...] = (),
        priority: int = MailPriority.NORMAL,
    ) -> UUID:
        """Queue a mail as part of the session's transaction; it leaves soon after that is committed.

        Args:
            session: the caller's.
            to: one address. A mail to something else is logged as failed.
            template: which mail: see :data:`host.mail.templates.MAILS`.
            context: the values that it needs. With ``expires``, a moment, it is not sent after that.
            secrets: texts of the context that no log may keep.
            priority: how urgent it is.

        Raises:
            LookupError: there is no such mail, or the context lacks a value that it needs.

        """
        row = self._writing.row(
            Draft(to=to, template=template, context=context, secrets=secrets, priority=priority),
        )
        session.connection().execute(insert(MAIL).values(row))
        at_end(session, self._delivery.wake.set)
        return UUID(row["global_id"])

    def send_now(
        self,
        *,
        to: str,
        template: str,
        context: Mapping[str, Any],
        secrets: tuple[str, ...] = (),
        must_leave: bool = False,
    ) -> UUID:
        """Send a mail and wait until it was taken; this is tried once.

        Args:
            to: one address.
            template: which mail.
            context: the values that it needs.
            secrets: texts of the context that no log may keep.
            must_leave: without a mail server the log does not take it.

        Raises:
            LookupError: as for :meth:`send`.
            RefusedError: it was not sent; the text says why, and so does the log.

        """
        row = self._writing.row(Draft(to=to, template=template, context=context, secrets=secrets))
        is_announced = row["status"] == MailStatus.ANNOUNCED
        if is_announced:
            # Ours from the start, so that nobody else sends it meanwhile.
            row |= {"attempts": 1, "next_attempt": self._clock() + self._queue.lease}
        with self._database.write() as session:
            session.connection().execute(insert(MAIL).values(row))
        if not is_announced:
            raise RefusedError(f"The mail was not sent. {row['error_message']}")
        mail = Claimed.of(row, 1)
        try:
            has_left = self._delivery.hand_over(mail, must_leave=must_leave)
        except DeliveryError as error:
            self._queue.failed(mail, error.code, str(error))
            raise RefusedError(f"The mail was not sent. {error}") from None
        if not has_left:
            raise RefusedError("The mail was not sent. It was deleted from the mail log meanwhile.")
        return UUID(mail.id)

    def start(self) -> None:
        """Begin to deliver, in a thread of its own."""
        folder = self._options.mail_templates
        if folder is not None and not folder.is_dir():
            self._report("mail.templates", f"PLUGYARD_MAIL_TEMPLATES names {folder}, which is no folder.")
        self._delivery.start()

    def stop(self, timeout: float = 5.0) -> None:
        """Stop to deliver: the mail at hand is finished, if ``timeout`` seconds suffice, and the others wait."""
        self._delivery.stop(timeout)

    def deliver_due(self) -> int:
        """Deliver what is due, and return how many mails have left; ends early where the server cannot be used."""
        return self._delivery.deliver_due()


def _transport(options: MailOptions, name: str) -> Transport:
    url = options.smtp_url.get_secret_value()
    if not url:
        return LogTransport()
    return SmtpTransport(SmtpServer.parse(url), timeout=options.mail_timeout, name=name)
