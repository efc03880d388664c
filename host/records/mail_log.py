"""The mail log, for those who run the host: read it, delete from it, and try whether mail leaves."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any, Final

from sqlalchemy import delete

from host.errors import InvalidInputError, NotFoundError, RefusedError
from host.mail.addresses import ascii_address
from host.mail.log import MAIL
from host.mail.mailer import Mailer
from host.storage.engine import Database
from host.storage.listing import Choice, Listing
from host.storage.rows import Rows
from host.storage.tables import now

_MEMBERS: Final = (
    "message_id_key",
    "thread_id_key",
    "thread",
    "subject",
    "body",
    "to",
    "sender",
    "status",
    "timestamp",
    "headers",
    "full_message",
    "direction",
    "priority",
    "error_code",
    "error_message",
    "error_timestamp",
    "delivery_options",
)
_SHORTEST_DAYS: Final = 7


def _columns(*names: str) -> dict[str, Any]:
    return {name: MAIL.c[name] for name in names}


MAIL_LOG: Final = Listing(
    table=MAIL,
    key=MAIL.c.global_id,
    members={"pk": MAIL.c.global_id, "global_id": MAIL.c.global_id.label("same_id"), **_columns(*_MEMBERS)},
    ordering=_columns("subject", "to", "sender", "status", "timestamp", "direction"),
    default_order=("-timestamp",),
    search=tuple(_columns("subject", "to", "sender", "global_id", "message_id_key", "thread_id_key").values()),
)
"""Mails, the newest first. What is sealed and what the queue keeps are no members."""


class MailLog:
    """Deletes from the mail log, and sends test mails.

    Args:
        database: where it is.
        mailer: gives what sends mail.
        is_protected: whether nothing may be deleted.
        days: how long mails are kept.

    """

    def __init__(
        self,
        database: Database,
        mailer: Callable[[], Mailer],
        *,
        is_protected: Callable[[], bool],
        days: Callable[[], int],
    ) -> None:
        self._database = database
        self._rows = Rows(database)
        self._mailer = mailer
        self._is_protected = is_protected
        self._days = days

    def delete(self, mail_id: str) -> None:
        """Delete a mail; one that waits is not sent any more.

        Raises:
            InvalidInputError: the log is protected.
            NotFoundError: there is no such mail.

        """
        self._check()
        with self._database.write() as session:
            gone = session.connection().execute(delete(MAIL).where(MAIL.c.global_id == mail_id)).rowcount
        if not gone:
            raise NotFoundError(f"Not found. There is no mail message with pk '{mail_id}'.")

    def delete_many(self, choice: Choice) -> int:
        """Delete the mails that are meant, and return how many.

        Raises:
            InvalidInputError: the log is protected.

        """
        self._check()
        return self._rows.delete(MAIL_LOG, choice)

    def forget(self) -> int:
        """Delete mails of long ago, unless the log is protected, and return how many; what still waits stays."""
        if self._is_protected():
            return 0
        before = now() - timedelta(days=max(self._days(), _SHORTEST_DAYS))
        old = delete(MAIL).where(MAIL.c.timestamp < before, MAIL.c.next_attempt.is_(None))
        with self._database.write() as session:
            return session.connection().execute(old).rowcount

    def send_test(self, address: str) -> None:
        """Send a test mail and wait until it was taken: by a plugin or the mail server, but not by the host's own log.

        Raises:
            InvalidInputError: it could not be sent; the text says why.

        """
        try:
            ascii_address(address)
        except ValueError as error:
            raise InvalidInputError({"email": [str(error)]}) from None
        try:
            self._mailer().send_now(to=address, template="test", context={}, must_leave=True)
        except RefusedError as error:
            raise InvalidInputError.of(str(error)) from None

    def _check(self) -> None:
        if self._is_protected():
            raise InvalidInputError.of(
                "The mail log is protected, so nothing is deleted from it. Switch the setting "
                "INVENTREE_PROTECT_EMAIL_LOG off first."
            )
