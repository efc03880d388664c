"""The inbox: mails that are handed in, and what delivering services tell of those that left."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import NAMESPACE_URL, UUID, uuid4, uuid5

from sqlalchemy import Connection, and_, exists, insert, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from host.contract.mail import MailOutcome
from host.mail.incoming import MOST_BYTES, Received, packed, read
from host.mail.log import KEY_LENGTH, MAIL, MailDirection, MailStatus
from host.mail.writing import Seals, purpose
from host.storage.endings import at_end

_REASON_LENGTH = 1000
_MOST_KNOWN = 100
_NEWS: Mapping[str, tuple[MailStatus, str]] = {
    "delivered": (MailStatus.DELIVERED, "ASF"),
    "read": (MailStatus.READ, "ASFD"),
    "confirmed": (MailStatus.CONFIRMED, "ASFDR"),
    "failed": (MailStatus.FAILED, "ASFD"),
}
"""Outcome → status that follows, and the present ones to which it is news."""


@dataclass(frozen=True, slots=True)
class Letter:
    """A mail that was read and is to be stored."""

    id: UUID
    received: Received
    payload: str = field(repr=False)
    """The whole of it, sealed."""


class Inbox:
    """Keeps mails that come in, and notes what became of those that left.

    Args:
        seals: encrypts the whole of a mail until plugins have seen it.
        clock: gives the time.
        wake: called when there is something to show.

    """

    def __init__(self, seals: Seals, clock: Callable[[], datetime], wake: Callable[[], None]) -> None:
        self._seals = seals
        self._clock = clock
        self._wake = wake

    def read(self, raw: bytes) -> Letter:
        """Read a mail that was handed in; outside of any transaction, as it takes a moment.

        Raises:
            TypeError: it is not made of bytes.
            ValueError: it is empty or too long.

        """
        found = read(_checked(raw))
        known = uuid5(NAMESPACE_URL, f"plugyard:mail:{hashlib.sha256(raw).hexdigest()}")
        mail_id = known if found.message_id else uuid4()
        return Letter(mail_id, found, self._seals.seal(purpose(str(mail_id)), packed(raw)))

    def store(self, session: Session, letter: Letter) -> UUID:
        """Store a mail as part of the session's transaction; plugins see it once that is committed.

        One that is handed in again is not stored again, as far as it has an identifier.
        """
        mail_id, found = letter.id, letter.received
        connection = session.connection()
        if not connection.execute(select(exists().where(MAIL.c.global_id == str(mail_id)))).scalar():
            row = self._row(letter) | _thread(connection, found)
            try:
                with session.begin_nested():
                    connection.execute(insert(MAIL).values(row))
            except IntegrityError:
                pass  # somebody else was handed the same at the same time
            else:
                at_end(session, self._wake)
        return mail_id

    def note(self, session: Session, message_id: str, outcome: MailOutcome, reason: str = "") -> bool:
        """Note what has become of a mail, as part of the session's transaction; return whether there is that mail.

        What says less than is known already changes nothing.

        Raises:
            ValueError: there is no such outcome.

        """
        news_of = _NEWS.get(str(outcome))
        if news_of is None:
            raise ValueError(f"There is no outcome {outcome!r} of a mail. There are: {', '.join(_NEWS)}.")
        bare = _storable(str(message_id)).strip(" <>")
        if not bare:
            return False
        status, news_to = news_of
        values: dict[str, Any] = {"error_code": None, "error_message": None, "error_timestamp": None}
        if status is MailStatus.FAILED:
            text = _storable(str(reason)).strip()[:_REASON_LENGTH] or "The service that delivered it says so."
            values = {"error_code": outcome, "error_message": text, "error_timestamp": self._clock()}
        known_as = MAIL.c.message_id_key.in_([bare[:KEY_LENGTH], f"<{bare}>"[:KEY_LENGTH]])
        mine = and_(known_as, MAIL.c.direction == MailDirection.OUT.value)
        connection = session.connection()
        news = update(MAIL).where(mine, MAIL.c.status.in_(list(news_to)))
        connection.execute(news.values(status=status.value, **values))
        return bool(connection.execute(select(exists().where(mine))).scalar())

    def _row(self, letter: Letter) -> dict[str, Any]:
        moment, found = self._clock(), letter.received
        return {
            "global_id": str(letter.id),
            "message_id_key": found.message_id or None,
            "subject": found.subject,
            "body": found.text,
            "to": found.to,
            "sender": found.sender,
            # It has reached us.
            "status": MailStatus.DELIVERED.value,
            "direction": MailDirection.IN.value,
            "priority": int(found.priority),
            "timestamp": moment,
            "headers": found.headers,
            "full_message": found.shown,
            "attempts": 0,
            "next_attempt": moment,
            "payload": letter.payload,
        }


def _checked(raw: object) -> bytes:
    if not isinstance(raw, bytes):
        raise TypeError(f"a mail is bytes, not {type(raw).__name__}")
    if not raw.strip():
        raise ValueError("The mail is empty.")
    if len(raw) > MOST_BYTES:
        raise ValueError(f"The mail has {len(raw)} bytes; at most {MOST_BYTES} are taken.")
    return raw


def _thread(connection: Connection, found: Received) -> dict[str, Any]:
    """Return the thread of the nearest mail that it answers, or a new one."""
    columns = (MAIL.c.message_id_key, MAIL.c.thread_id_key, MAIL.c.thread)
    if found.answers:
        # What a delivering service calls a mail may stand in the log without the brackets.
        forms = {form: place for place, one in enumerate(found.answers) for form in (one, one.strip("<>"))}
        known = MAIL.c.message_id_key.in_(forms) | MAIL.c.thread_id_key.in_(forms)
        rows = connection.execute(select(*columns).where(known, MAIL.c.thread.is_not(None)).limit(_MOST_KNOWN)).all()
        if rows:
            last = len(found.answers)
            nearest = min(rows, key=lambda row: min(forms.get(one, last) for one in row[:2]))
            return {"thread": nearest.thread, "thread_id_key": nearest.thread_id_key}
    return {"thread": str(uuid4()), "thread_id_key": found.message_id or None}


def _storable(text: str) -> str:
    return text.replace("\0", "").encode("utf-8", "replace").decode("utf-8")
