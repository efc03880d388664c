"""Writing mail: from a template and its values to a row of the log."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from email.utils import format_datetime
from typing import Any, Protocol
from uuid import uuid4

from host.mail.addresses import Sender, ascii_address, sender_of
from host.mail.letters import Letter, carried, masking, one_line, readable, with_texts
from host.mail.log import ADDRESS_LENGTH, SUBJECT_LENGTH, MailDirection, MailPriority, MailStatus
from host.mail.templates import Templates


class Seals(Protocol):
    """Encrypts what must not be read in the database."""

    def seal(self, purpose: str, text: str) -> str:
        """Encrypt a text."""

    def open(self, purpose: str, text: str) -> str:
        """Decrypt it; raises ``ValueError`` where it cannot."""


def purpose(mail_id: str) -> str:
    """Return what the text of a mail is sealed for: that mail and no other."""
    return f"mail:{mail_id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What somebody wants to be sent."""

    to: str
    template: str
    context: Mapping[str, Any]
    secrets: tuple[str, ...] = field(default=(), repr=False)
    priority: int = MailPriority.NORMAL


@dataclass(frozen=True, slots=True, kw_only=True)
class Letterhead:
    """What all mails of a host share."""

    name: Callable[[], str]
    mail_from: str
    subject_prefix: str
    site: Callable[[], str]

    @property
    def instance(self) -> str:
        """The name of the host as it is now."""
        return one_line(self.name())

    def sender(self) -> Sender:
        """Return whom mail comes from.

        Raises:
            ValueError: what is configured is no address.

        """
        return sender_of(self.mail_from, self.site(), self.instance)

    def host(self) -> str:
        """Return the host name that mail comes from; asks for no name, which nobody may know yet.

        Raises:
            ValueError: what is configured as the sender is no address.

        """
        return sender_of(self.mail_from, self.site(), "").host

    def subject(self, text: str) -> str:
        """Return a subject with what each begins with."""
        prefix = self.subject_prefix.strip() or f"[{self.instance}]"
        return one_line(f"{prefix} {text}")[:SUBJECT_LENGTH]


class Writing:
    """Makes the rows of the log.

    Args:
        head: what all mails share.
        templates: makes the texts.
        seals: encrypts what the log must not show.
        clock: gives the time.

    """

    def __init__(self, head: Letterhead, templates: Templates, *, seals: Seals, clock: Callable[[], datetime]) -> None:
        self._head = head
        self._templates = templates
        self._seals = seals
        self._clock = clock

    def row(self, draft: Draft) -> dict[str, Any]:
        """Return the row of a new mail, due at once; one to something that is no address has failed already.

        Raises:
            LookupError: there is no such mail, or the context lacks a value that it needs.

        """
        moment, mail_id, sender = self._clock(), str(uuid4()), self._head.sender()
        headers = self._headers(mail_id, sender.host, moment, draft.priority)
        common = {"instance": self._head.instance, "site": self._head.site()}
        values = with_texts({**common, **draft.context}, one_line)
        mask = masking(draft.secrets)
        masked = self._letter(draft.template, with_texts(values, mask), mask)
        row = {
            **_identity(mail_id, headers),
            "subject": masked.subject,
            "body": masked.text,
            "to": one_line(draft.to)[:ADDRESS_LENGTH],
            "sender": sender.address,
            "priority": int(draft.priority),
            "timestamp": moment,
            "template": draft.template,
            "expires": draft.context.get("expires"),
        }
        try:
            address = ascii_address(draft.to)
        except ValueError as error:
            failed = {"error_code": "address", "error_message": str(error), "error_timestamp": moment}
            return {**row, **failed, "status": MailStatus.FAILED.value}
        letter = self._letter(draft.template, values, str) if draft.secrets else masked
        message = carried(letter, sender=sender, to=address, headers=headers)
        row["full_message"] = readable(masked, sender=sender, to=address, headers=headers)
        row["payload"] = self._seals.seal(purpose(mail_id), message)
        row["next_attempt"] = moment
        return row

    def _letter(self, template: str, values: Mapping[str, Any], mask: Callable[[str], str]) -> Letter:
        letter = self._templates.letter(template, values)
        return Letter(subject=mask(self._head.subject(letter.subject)), text=mask(letter.text), html=mask(letter.html))

    def _headers(self, mail_id: str, host: str, moment: datetime, priority: int) -> dict[str, str]:
        headers = {
            "Message-ID": f"<{mail_id}@{host}>",
            "Date": format_datetime(moment),
            "Auto-Submitted": "auto-generated",
            "X-Plugyard-MsgId-1": mail_id,
            # It answers no other mail, so it begins a thread.
            "X-Plugyard-ThreadId-1": str(uuid4()),
            "X-Plugyard-Instance-1": self._head.instance,
        }
        return headers | ({"X-Priority": str(int(priority))} if priority else {})


def _identity(mail_id: str, headers: Mapping[str, str]) -> dict[str, Any]:
    return {
        "global_id": mail_id,
        "message_id_key": headers["Message-ID"],
        "thread_id_key": headers["Message-ID"],
        "thread": headers["X-Plugyard-ThreadId-1"],
        "headers": dict(headers),
        "status": MailStatus.ANNOUNCED.value,
        "direction": MailDirection.OUT.value,
        "full_message": None,
        "payload": None,
        "next_attempt": None,
        "attempts": 0,
        "error_code": None,
        "error_message": None,
        "error_timestamp": None,
    }
