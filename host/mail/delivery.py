"""Delivery: the mails that are due leave the host, and those that came in are shown, from a thread of its own."""

from __future__ import annotations

import email
import logging
import re
import threading
from collections.abc import Callable
from datetime import datetime
from email import policy
from typing import Protocol

from sqlalchemy.exc import SQLAlchemyError

from host.mail.addresses import ascii_address
from host.mail.couriers import Couriers, Taken, as_carried, as_logged
from host.mail.incoming import incoming, unpacked
from host.mail.log import MailDirection
from host.mail.queue import Claimed, Queue
from host.mail.smtp import DeliveryError
from host.mail.templates import Report
from host.mail.writing import Seals, purpose

_LOG = logging.getLogger("plugyard.mail")

_POLL_SECONDS = 5.0
_LONGEST_PAUSE = 60.0
_ECHO = 6  # fewer signs in a row can be chance
_MOST_SAID = 2000
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
    """Sends the mails that are due, and shows those that came in.

    Args:
        queue: where they wait.
        transport: hands over what no courier takes.
        couriers: may take a mail first, and see what was sent and what came in.
        seals: opens them.
        report: takes a path and a text for an error report.
        clock: gives the time.
        attempts: how often sending a mail is tried.

    """

    def __init__(
        self,
        queue: Queue,
        transport: Transport,
        couriers: Couriers,
        *,
        seals: Seals,
        report: Report,
        clock: Callable[[], datetime],
        attempts: int,
    ) -> None:
        self._queue = queue
        self._transport = transport
        self._couriers = couriers
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
        """Deliver what is due, and return how many mails have left; none more where the server cannot be used."""
        left = 0
        only: MailDirection | None = None
        while not is_enough() and (mail := self._queue.claim(only)) is not None:
            if self._is_given_up(mail):
                continue
            try:
                if mail.direction == MailDirection.IN:
                    self._show(mail)
                else:
                    left += self.hand_over(mail)
            except DeliveryError as error:
                self._after(mail, error)
                if error.is_general:
                    only = MailDirection.IN
        return left

    def hand_over(self, mail: Claimed, *, must_leave: bool = False) -> bool:
        """Send a mail that this process holds, and note that it has left; ``False`` when it is held no longer.

        Args:
            mail: the mail.
            must_leave: the log is no place for it.

        Raises:
            DeliveryError: it was not taken; nothing is noted yet.

        """
        message = self._opened(mail)
        try:
            return self._hand_over(mail, message, must_leave=must_leave)
        except DeliveryError as error:
            raise error.saying(_without_echo(str(error), message, mail.readable)) from None

    def _hand_over(self, mail: Claimed, message: str, *, must_leave: bool) -> bool:
        taken = self._couriers.deliver(as_carried(mail, message), lambda: self._queue.renew(mail))
        if taken.delivery is None:
            # Meanwhile the mail may have been deleted.
            if taken.asked and not self._queue.renew(mail):
                return False
            self._check_way(taken, must_leave=must_leave)
            self._transport.deliver(mail.sender, ascii_address(mail.to), message)
        elif taken.delivery.error:
            text = f"Plugin '{taken.by}' could not deliver it: {taken.delivery.error}"
            raise DeliveryError(taken.delivery.error_code or "plugin", text, is_final=taken.delivery.is_final)
        self._queue.sent(mail, "" if taken.delivery is None else taken.delivery.message_id)
        self._couriers.sent(as_logged(mail))
        return True

    def _check_way(self, taken: Taken, *, must_leave: bool) -> None:
        if not isinstance(self._transport, LogTransport):
            return
        if taken.failed:
            # It was meant to leave by another way, so the log must not swallow it.
            names = ", ".join(f"'{key}'" for key in taken.failed)
            raise DeliveryError("plugin", f"No mail server is set, and {names} failed to deliver it.")
        if must_leave:
            text = "No mail server is set. Set PLUGYARD_SMTP_URL, or activate a plugin that delivers mail."
            raise DeliveryError("no-server", text, is_final=True)

    def _show(self, mail: Claimed) -> None:
        self._couriers.received(incoming(mail, unpacked(self._opened(mail))))
        self._queue.shown(mail)

    def _opened(self, mail: Claimed) -> str:
        try:
            return self._seals.open(purpose(mail.id), mail.payload)
        except ValueError:
            text = "Its text cannot be decrypted: PLUGYARD_SECRET_KEY is another one than when it was written."
            raise DeliveryError("sealed", text, is_final=True) from None

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
            doing = "Showing it to plugins" if mail.direction == MailDirection.IN else "Sending it"
            self._queue.failed(mail, "interrupted", f"{doing} was begun several times and never came to an end.")
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


def _without_echo(text: str, message: str, readable: str) -> str:
    """Mask what a text repeats of the real mail and the log does not show, as a link or code that opens an account."""
    text = text[:_MOST_SAID]
    whole = message.replace("=\r\n", "").replace("=\n", "").replace("=3D", "=")
    masked = [False] * len(text)
    for start in range(len(text) - _ECHO + 1):
        piece = text[start : start + _ECHO]
        if (piece in message or piece in whole) and piece not in readable:
            masked[start : start + _ECHO] = [True] * _ECHO
    kept = (("*" if is_masked else sign) for sign, is_masked in zip(text, masked, strict=True))
    return re.sub(r"\*{2,}", "***", "".join(kept)) if any(masked) else text
