"""The sessions of an account: finding, listing and ending them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, bindparam, delete, or_, select, update

from host.accounts.account import USERS
from host.accounts.area import Area
from host.accounts.digests import token_digest
from host.accounts.login.recency import factors_used
from host.accounts.sessions.state import Caller
from host.accounts.sessions.table import SESSIONS
from host.accounts.sessions.visit import Visit, Work
from host.contract.values import User

_SEEN_EVERY = timedelta(seconds=60)
_FIND = (
    select(
        SESSIONS.c.id,
        SESSIONS.c.user_id,
        SESSIONS.c.last_seen,
        SESSIONS.c.methods,
        *(USERS.c[name] for name in ("username", "email", "is_staff", "is_superuser")),
    )
    .join(USERS, USERS.c.id == SESSIONS.c.user_id)
    .where(
        SESSIONS.c.digest == bindparam("digest"),
        SESSIONS.c.expires > bindparam("now", type_=SESSIONS.c.expires.type),
        USERS.c.is_active.is_(True),
        # A password that was set since then ends the session; both are empty for accounts without one.
        or_(
            SESSIONS.c.password_changed == USERS.c.password_changed,
            SESSIONS.c.password_changed.is_(None) & USERS.c.password_changed.is_(None),
        ),
    )
)


class Sessions:
    """Finds, lists and ends sessions."""

    def __init__(self, area: Area) -> None:
        self._area = area

    def visit(self, caller: Caller) -> Visit:
        """Open a request's view of its session.

        Raises:
            SessionGoneError: an app names a session that is over.

        """
        return Visit(self._area, caller)

    def find(self, key: str) -> tuple[User, bool] | None:
        """Return who is signed in, and whether by a second factor; ``None`` where the session is over."""
        area, moment = self._area, self._area.clock()
        with area.database.read() as connection:
            row = connection.execute(_FIND, {"digest": token_digest(key), "now": moment}).first()
        if row is None:
            return None
        if area.options.usersessions_track_activity and moment - row.last_seen >= _SEEN_EVERY:
            self._note_activity(row.id, moment)
        user = User(
            id=row.user_id,
            username=row.username,
            email=row.email,
            is_staff=row.is_staff,
            is_superuser=row.is_superuser,
        )
        return user, factors_used(row.methods)

    def user_of(self, key: str) -> User | None:
        """Return who is signed in; ``None`` where the session is over."""
        found = self.find(key)
        return found[0] if found else None

    def list(self, visit: Visit) -> list[Mapping[str, Any]]:
        """List the sessions of the account that is signed in, in the shape of the interface; dead ones are removed.

        Raises:
            SignInNeededError: nobody is signed in.

        """
        user_id = visit.signed_in.id
        current = visit.state.id if visit.state else None
        with self._area.database.write() as session:
            self.purge(session.connection())
            mine = select(SESSIONS).where(SESSIONS.c.user_id == user_id).order_by(SESSIONS.c.id)
            return [self._show(row, current) for row in session.connection().execute(mine)]

    def end(self, visit: Visit, session_ids: Collection[int]) -> None:
        """End some sessions of the account that is signed in; its own one, too, where it is among them.

        Raises:
            SignInNeededError: nobody is signed in.
            KeyError: one of them is no session of the account; then none is ended.

        """
        with visit.work() as work:
            user_id = visit.signed_in.id
            mine = select(SESSIONS.c.id).where(SESSIONS.c.user_id == user_id)
            unknown = set(session_ids) - set(work.connection.execute(mine).scalars())
            if unknown:
                raise KeyError(min(unknown))
            own = work.state.id
            others = [session_id for session_id in set(session_ids) if session_id != own]
            work.connection.execute(delete(SESSIONS).where(SESSIONS.c.id.in_(others)))
            work.emit("user.session_ended", sessions=sorted(set(session_ids)))
            if own in session_ids:
                work.forget()

    def sign_out(self, visit: Visit) -> None:
        """End the session and whatever login is under way in it."""
        if visit.state is None:
            return
        with visit.work() as work:
            if work.account is not None:
                work.emit("user.logged_out")
            work.forget()

    def purge(self, connection: Connection) -> None:
        """Delete the sessions that are over."""
        connection.execute(delete(SESSIONS).where(SESSIONS.c.expires <= self._area.clock()))

    def _show(self, row: Any, current: int | None) -> Mapping[str, Any]:
        shown = {
            "id": row.id,
            "user_agent": row.user_agent,
            "ip": row.address,
            "created_at": row.created.timestamp(),
            "is_current": row.id == current,
        }
        if self._area.options.usersessions_track_activity:
            shown["last_seen_at"] = row.last_seen.timestamp()
        return shown

    def _note_activity(self, session_id: int, moment: datetime) -> None:
        with self._area.database.write() as session:
            statement = update(SESSIONS).where(SESSIONS.c.id == session_id).values(last_seen=moment)
            session.connection().execute(statement)


def end_others(work: Work, user_id: int) -> None:
    """End all sessions of an account but the one that is at work."""
    mine = SESSIONS.c.user_id == user_id
    own = work.visit.state.id if work.visit.state else None
    work.connection.execute(delete(SESSIONS).where(mine, SESSIONS.c.id != (own or 0)))
