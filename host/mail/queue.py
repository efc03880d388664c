"""The queue: which mail is next and who takes it, so that several processes never send one twice."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Self

from sqlalchemy import case, exists, select, update
from sqlalchemy.exc import SQLAlchemyError

from host.mail.log import CODE_LENGTH, KEY_LENGTH, MAIL, MailDirection, MailStatus
from host.storage.engine import Database

_LOG = logging.getLogger("plugyard.mail")

_ERROR_LENGTH = 1000
_AGAIN_SECONDS = (0.1, 1.0, 5.0)
_DONE: Mapping[str, Any] = {"payload": None, "next_attempt": None}
_SAME = ("to", "sender", "direction", "priority", "template", "subject", "expires")
_WANTED = (*_SAME, "global_id", "message_id_key", "thread", "full_message", "attempts", "payload")


@dataclass(frozen=True, slots=True, kw_only=True)
class Claimed:
    """A mail that this process is to send or to show; nobody else does before the lease is over."""

    id: str
    to: str
    sender: str
    direction: str
    priority: int
    template: str | None
    subject: str
    message_id: str
    thread: str | None
    readable: str
    """As people read it in the log."""
    attempts: int
    """Counts this one too."""
    expires: datetime | None
    payload: str = field(repr=False)

    @classmethod
    def of(cls, row: Mapping[Any, Any], attempts: int) -> Self:
        """Take a row of the log."""
        return cls(
            **{name: row[name] for name in _SAME},
            id=row["global_id"],
            message_id=row["message_id_key"] or "",
            thread=row["thread"],
            readable=row["full_message"] or "",
            attempts=attempts,
            payload=row["payload"] or "",
        )


class Queue:
    """Hands out mails that are due, and notes what became of them.

    Args:
        database: where the mails are.
        lease: seconds after which a mail is due again if its sender has not come back.
        clock: gives the time.

    """

    def __init__(self, database: Database, lease: float, clock: Callable[[], datetime]) -> None:
        self._database = database
        self._clock = clock
        self.lease = timedelta(seconds=lease)

    def claim(self, direction: MailDirection | None = None) -> Claimed | None:
        """Take the mail that is due longest, if any is; with a direction, of those that go this way."""
        due = MAIL.c.next_attempt <= self._clock()
        if direction is not None:
            due &= MAIL.c.direction == direction.value
        with self._database.read() as connection:
            if not connection.execute(select(exists(select(MAIL.c.global_id).where(due)))).scalar():
                return None
        wanted = select(*(MAIL.c[name] for name in _WANTED)).where(due)
        first = wanted.order_by(MAIL.c.next_attempt, MAIL.c.timestamp).limit(1)
        with self._database.write() as session:
            connection = session.connection()
            row = connection.execute(first.with_for_update(skip_locked=True)).mappings().first()
            if row is None:
                return None
            values = {"attempts": row["attempts"] + 1, "next_attempt": self._clock() + self.lease}
            connection.execute(update(MAIL).where(MAIL.c.global_id == row["global_id"]).values(values))
        return Claimed.of(row, row["attempts"] + 1)

    def renew(self, mail: Claimed) -> bool:
        """Begin the lease anew; ``False`` when the mail is another's by now, or was deleted."""
        with self._database.write() as session:
            again = update(MAIL).where(_claim_of(mail)).values(next_attempt=self._clock() + self.lease)
            return session.connection().execute(again).rowcount > 0

    def sent(self, mail: Claimed, message_id: str = "") -> None:
        """Note that a mail has left, and by what the one who took it knows it; forget its real text."""
        errors = {"error_code": None, "error_message": None, "error_timestamp": None}
        # Whoever delivers it may have told what became of it before this is written.
        was_told = MAIL.c.status != MailStatus.ANNOUNCED.value
        kept = {name: case((was_told, MAIL.c[name]), else_=value) for name, value in errors.items()}
        status = case((was_told, MAIL.c.status), else_=MailStatus.SENT.value)
        known_as = {"message_id_key": message_id[:KEY_LENGTH]} if message_id else {}
        self._note(mail, {"status": status, **kept, **_DONE, **known_as})

    def shown(self, mail: Claimed) -> None:
        """Note that plugins have seen an incoming mail, and forget the whole of it."""
        self._note(mail, _DONE)

    def failed(self, mail: Claimed, code: str, message: str) -> None:
        """Give up a mail, and forget its real text."""
        self._note(mail, {"status": MailStatus.FAILED.value, **_DONE, **self._errors(code, message)})

    def postpone(self, mail: Claimed, seconds: float, code: str, message: str) -> None:
        """Let a mail be tried again later."""
        again = {"next_attempt": self._clock() + timedelta(seconds=seconds)}
        self._note(mail, {**again, **self._errors(code, message)})

    def _errors(self, code: str, message: str) -> dict[str, Any]:
        return {
            "error_code": code[:CODE_LENGTH],
            "error_message": message[:_ERROR_LENGTH],
            "error_timestamp": self._clock(),
        }

    def _note(self, mail: Claimed, values: Mapping[str, Any]) -> None:
        for pause in (*_AGAIN_SECONDS, None):
            try:
                with self._database.write() as session:
                    session.connection().execute(update(MAIL).where(_claim_of(mail)).values(values))
            except SQLAlchemyError:
                if pause is None:
                    raise
                # A mail that has left and is not noted as such would be sent again.
                _LOG.warning("What became of mail %s cannot be noted now; trying again in %g s.", mail.id, pause)
                time.sleep(pause)
            else:
                return


def _claim_of(mail: Claimed) -> Any:
    # The number of the attempt tells this claim from a later one, which somebody else may hold by now.
    return (MAIL.c.global_id == mail.id) & (MAIL.c.attempts == mail.attempts)
