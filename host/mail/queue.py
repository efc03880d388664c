"""The queue: which mail is sent next and by whom, so that several processes never send one twice."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import exists, select, update
from sqlalchemy.exc import SQLAlchemyError

from host.mail.log import CODE_LENGTH, MAIL, MailStatus
from host.storage.engine import Database

_LOG = logging.getLogger("plugyard.mail")

_ERROR_LENGTH = 1000
_AGAIN_SECONDS = (0.1, 1.0, 5.0)
_DONE: Mapping[str, Any] = {"payload": None, "next_attempt": None}


@dataclass(frozen=True, slots=True, kw_only=True)
class Claimed:
    """A mail that this process is to send; nobody else does before the lease is over."""

    id: str
    to: str
    sender: str
    template: str | None
    attempts: int
    """Counts this one too."""
    expires: datetime | None
    payload: str


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

    def claim(self) -> Claimed | None:
        """Take the mail that is due longest, if any is."""
        due = MAIL.c.next_attempt <= self._clock()
        with self._database.read() as connection:
            if not connection.execute(select(exists(select(MAIL.c.global_id).where(due)))).scalar():
                return None
        wanted = (MAIL.c.global_id, MAIL.c.to, MAIL.c.sender, MAIL.c.template, MAIL.c.attempts, MAIL.c.expires)
        first = select(*wanted, MAIL.c.payload).where(due).order_by(MAIL.c.next_attempt, MAIL.c.timestamp).limit(1)
        with self._database.write() as session:
            connection = session.connection()
            row = connection.execute(first.with_for_update(skip_locked=True)).mappings().first()
            if row is None:
                return None
            values = {"attempts": row["attempts"] + 1, "next_attempt": self._clock() + self.lease}
            connection.execute(update(MAIL).where(MAIL.c.global_id == row["global_id"]).values(values))
        return Claimed(
            id=row["global_id"],
            to=row["to"],
            sender=row["sender"],
            template=row["template"],
            attempts=row["attempts"] + 1,
            expires=row["expires"],
            payload=row["payload"] or "",
        )

    def sent(self, mail: Claimed) -> None:
        """Note that a mail has left, and forget its real text."""
        errors = {"error_code": None, "error_message": None, "error_timestamp": None}
        self._note(mail, {"status": MailStatus.SENT.value, **_DONE, **errors})

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
        # The number of the attempt tells this claim from a later one, which somebody else may hold by now.
        mine = (MAIL.c.global_id == mail.id) & (MAIL.c.attempts == mail.attempts)
        for pause in (*_AGAIN_SECONDS, None):
            try:
                with self._database.write() as session:
                    session.connection().execute(update(MAIL).where(mine).values(values))
            except SQLAlchemyError:
                if pause is None:
                    raise
                # A mail that has left and is not noted as such would be sent again.
                _LOG.warning("What became of mail %s cannot be noted now; trying again in %g s.", mail.id, pause)
                time.sleep(pause)
            else:
                return
