"""Delivery: the mails that are due leave the host, from a thread of its own."""

from __future__ import annotations

import email
import logging
import threading
from collections.abc import Callable
from datetime import datetime
from email import policy
from typing import Protocol

from sqlalchemy.exc import SQLAlchemyError

from host.mail.addresses import ascii_address
from host.mail.queue import Claimed, Queue
from host.mail.smtp import DeliveryError
from host.mail.templates import Report
from host.mail.writing import Seals, purpose

_LOG = logging.getLogger("plugyard.mail")

_POLL_SECONDS = 5.0
_LONGEST_PAUSE = 60.0
_BACKOFF = (15.0, 60.0, 300.0, 1800.0, 7200.0)


class Transport(Protocol):
    """Hands over mail."""

    def deliver(self, sender: str, to: str, message: str) -> None:
        """Hand over one mail, or raise ``DeliveryError``."""


class LogTransport:
    """Writes mails to the log, for hosts that have no mail server."""

    def deliver(self, sender: str, to: str, message: str) -> None:
        """Write one mail as people read it, with the links and codes in it."""
        read = email.message_from_string(message, policy=policy.default)
        body = read.get_body(("plain",))
        _LOG.info(
            "No mail server is set, so this mail goes here.\nFrom: %s\nTo: %s\nSubject: %s\n\n%s",
            sender,
            to,
            read["Subject"],
            "" if body is None else body.get_content(),
        )


class Delivery:
    """Sends the mails that are due.

    Args:
        queue: where they wait.
        transport: hands them over.
        seals: opens them.
        report: takes a path and a text for an error report.
        clock: gives the time.
        attempts: how often sending a mail is tried.

    """

    def __init__(
        self,
        queue: Queue,
        transport: Transport,
        *,
        seals: Seals,
        report: Report,
        clock: Callable[[], datetime],
        attempts: int,
    ) -> None:
        self._queue = queue
        self._transport = transport
        self._seals = seals
        self._report = report
        self._clock = clock
        self._attempts = attempts
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self.wake = threading.Event()
        """Set when there may be something to send."""

    def start(self) -> None:
        """Begin to deliver, in a thread of its own."""
        if self._thread is None:
            self._stopping.clear()
            self._thread = threading.Thread(target=self._run, name="mail", daemon=True)
            self._thread.start()

    def stop(self, timeout: float) -> None:
        """Stop to deliver: the mail at hand is finished, if ``timeout`` seconds suffice, and the others wait."""
        thread, self._thread = self._thread, None
        if thread is not None:
            self._stopping.set()
            self.wake.set()
            thread.join(timeout)

    def deliver_due(self, is_enough: Callable[[], bool] = lambda: False) -> int:
        """Deliver what is due, and return how many mails have left; ends early where the server cannot be used."""
        left = 0
        while not is_enough() and (mail := self._queue.claim()) is not None:
            if self._is_given_up(mail):
                continue
            try:
                self.hand_over(mail)
            except DeliveryError as error:
                self._after(mail, error)
                if error.is_general:
                    break
            else:
                left += 1
        return left

    def hand_over(self, mail: Claimed) -> None:
        """Send a mail that this process holds, and note that it has left.

        Raises:
            DeliveryError: it was not taken; nothing is noted yet.

        """
        try:
            message = self._seals.open(purpose(mail.id), mail.payload)
        except ValueError:
            text = "Its text cannot be decrypted: PLUGYARD_SECRET_KEY is another one than when it was written."
            raise DeliveryError("sealed", text, is_final=True) from None
        self._transport.deliver(mail.sender, ascii_address(mail.to), message)
        self._queue.sent(mail)

    def _run(self) -> None:
        pause = _POLL_SECONDS
        while not self._stopping.is_set():
            self.wake.wait(pause)
            self.wake.clear()
            try:
                self.deliver_due(self._stopping.is_set)
                pause = _POLL_SECONDS
            except SQLAlchemyError as error:
                pause = min(pause * 2, _LONGEST_PAUSE)
                _LOG.warning("Mail cannot be delivered now, next try in %.0f s: %s", pause, error)
            except Exception:  # noqa: BLE001 - a job; logged, and tried again
                pause = min(pause * 2, _LONGEST_PAUSE)
                _LOG.exception("Delivering mail failed, next try in %.0f s.", pause)

    def _is_given_up(self, mail: Claimed) -> bool:
        if mail.expires is not None and mail.expires <= self._clock():
            self._queue.failed(mail, "expired", "What the mail says held no longer when it could be sent.")
            return True
        if mail.attempts > self._attempts:
            self._queue.failed(mail, "interrupted", "Sending it was begun several times and never came to an end.")
            return True
        return False

    def _after(self, mail: Claimed, error: DeliveryError) -> None:
        if error.is_final or mail.attempts >= self._attempts:
            self._queue.failed(mail, error.code, str(error))
            _LOG.warning("Mail %s is given up: %s", mail.id, error)
            if not error.is_final:
                # Addresses that do not exist are everyday; a server that cannot be used is for the staff to know.
                self._report("mail.delivery", f"A mail '{mail.template}' was given up. {error}")
            return
        pause = _BACKOFF[min(mail.attempts, len(_BACKOFF)) - 1]
        self._queue.postpone(mail, pause, error.code, str(error))
        _LOG.warning("Mail %s is tried again in %.0f s: %s", mail.id, pause, error)
