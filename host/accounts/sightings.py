"""When tokens were last used: written in batches, never in the request itself."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta

from sqlalchemy import bindparam, select, update
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from host.accounts.events import Emit, emit_nothing
from host.accounts.tokens import TOKENS
from host.storage.engine import Database
from host.storage.tables import now

_LOG = logging.getLogger("plugyard.accounts")

_AT_ONCE = 500


class Sightings:
    """Keeps ``last_seen`` of tokens about right.

    Args:
        database: where the tokens are.
        every: a token's moment is written again only when the stored one is this old.
        delay: how long sightings are gathered before they are written, in seconds.
        emit: sends ``user.token_used``, as often as a moment is written.
        clock: tells the moment.

    """

    def __init__(
        self,
        database: Database,
        *,
        every: timedelta = timedelta(minutes=5),
        delay: float = 20.0,
        emit: Emit = emit_nothing,
        clock: Callable[[], datetime] = now,
    ) -> None:
        self._database = database
        self._every = every
        self._delay = delay
        self._emit = emit
        self._clock = clock
        self._lock = threading.Lock()
        self._seen: dict[int, datetime] = {}
        self._timer: threading.Timer | None = None

    def note(self, token_id: int, last_seen: datetime | None) -> None:
        """Remember that a token was just used.

        Args:
            token_id: which token.
            last_seen: what is stored for it.

        """
        moment = self._clock()
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
        tokens = sorted(seen)
        try:
            # In pieces: a database has a limit for the values of one statement.
            for start in range(0, len(tokens), _AT_ONCE):
                with self._database.write() as session:
                    self._write(session, {token_id: seen[token_id] for token_id in tokens[start : start + _AT_ONCE]})
        except SQLAlchemyError:
            _LOG.exception("The last use of %d tokens could not be written; their next use will be.", len(seen))

    def _write(self, session: Session, seen: Mapping[int, datetime]) -> None:
        connection = session.connection()
        # Locked in one order, and compared with what is stored by now: another process may have seen them as well.
        columns = (TOKENS.c.id, TOKENS.c.user_id, TOKENS.c.name, TOKENS.c.last_seen)
        rows = connection.execute(
            select(*columns).where(TOKENS.c.id.in_(seen)).order_by(TOKENS.c.id).with_for_update()
        ).all()
        due = [row for row in rows if row.last_seen is None or seen[row.id] - row.last_seen >= self._every]
        if not due:
            return
        connection.execute(
            update(TOKENS).where(TOKENS.c.id == bindparam("token")).values(last_seen=bindparam("moment")),
            [{"token": row.id, "moment": seen[row.id]} for row in due],
        )
        for row in due:
            about = {"token": row.id, "name": row.name, "user": row.user_id}
            self._emit(session, "user.token_used", about, row.user_id)
