"""When tokens were last used: written in batches, never in the request itself."""

from __future__ import annotations

import logging
import threading
from datetime import datetime, timedelta

from sqlalchemy import bindparam, or_, update
from sqlalchemy.exc import SQLAlchemyError

from host.accounts.tokens import TOKENS
from host.storage.engine import Database
from host.storage.tables import now

_LOG = logging.getLogger("plugyard.accounts")


class Sightings:
    """Keeps ``last_seen`` of tokens about right.

    Args:
        database: where the tokens are.
        every: a token's moment is written again only when the stored one is this old.
        delay: how long sightings are gathered before they are written, in seconds.

    """

    def __init__(self, database: Database, *, every: timedelta = timedelta(minutes=5), delay: float = 20.0) -> None:
        self._database = database
        self._every = every
        self._delay = delay
        self._lock = threading.Lock()
        self._seen: dict[int, datetime] = {}
        self._timer: threading.Timer | None = None

    def note(self, token_id: int, last_seen: datetime | None) -> None:
        """Remember that a token was just used.

        Args:
            token_id: which token.
            last_seen: what is stored for it.

        """
        moment = now()
        if last_seen is not None and moment - last_seen < self._every:
            return
        with self._lock:
            self._seen.setdefault(token_id, moment)
            if self._timer is None:
                self._timer = threading.Timer(self._delay, self.flush)
                self._timer.name = "token-sightings"
                self._timer.daemon = True
                self._timer.start()

    def flush(self) -> None:
        """Write what was seen so far; the host calls it as it stops."""
        with self._lock:
            seen, self._seen = self._seen, {}
            timer, self._timer = self._timer, None
        if timer is not None:
            timer.cancel()
        if not seen:
            return
        older = or_(TOKENS.c.last_seen.is_(None), TOKENS.c.last_seen < bindparam("moment"))
        statement = update(TOKENS).where(TOKENS.c.id == bindparam("token"), older)
        try:
            with self._database.write() as session:
                session.connection().execute(
                    statement.values(last_seen=bindparam("moment")),
                    [{"token": token_id, "moment": moment} for token_id, moment in seen.items()],
                )
        except SQLAlchemyError:
            _LOG.exception("The last use of %d tokens could not be written; their next use will be.", len(seen))
