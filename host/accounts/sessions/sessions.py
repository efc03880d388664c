"""The sessions of an account: finding, listing and ending them."""

from __future__ import annotations

import logging
import threading
from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, bindparam, delete, or_, select, update
from sqlalchemy.exc import SQLAlchemyError

from host.accounts.account import USERS
from host.accounts.area import Area
from host.accounts.digests import token_digest
from host.accounts.factors.authenticators import AUTHENTICATORS, FactorType
from host.accounts.login.recency import factors_used
from host.accounts.problems import Problem, RefusedValuesError
from host.accounts.refusals import FactorNeededError, SessionGoneError, SignInNeededError
from host.accounts.sessions.state import Caller
from host.accounts.sessions.table import AGENT_LENGTH, SESSIONS
from host.accounts.sessions.visit import Visit
from host.contract.values import User

_LOG = logging.getLogger("plugyard.accounts")

_SEEN_EVERY = timedelta(seconds=60)
_PURGE_EVERY = timedelta(seconds=60)
_PURGED_AT_ONCE = 10_000
# A password that was set since then ends the session; both are empty for accounts without one.
_SAME_PASSWORD: ColumnElement[bool] = or_(
    SESSIONS.c.password_changed == USERS.c.password_changed,
    SESSIONS.c.password_changed.is_(None) & USERS.c.password_changed.is_(None),
)
# Built once: making a statement costs as much as running it, and this one runs with nearly every request.
_FIND = (
    select(
        SESSIONS.c.id,
        SESSIONS.c.user_id,
        SESSIONS.c.last_seen,
        SESSIONS.c.methods,
        *(USERS.c[name] for name in ("username", "email", "is_staff", "is_superuser")),
        (USERS.c.is_active & _SAME_PASSWORD).label("lives"),
        select(AUTHENTICATORS.c.id)
        .where(AUTHENTICATORS.c.user_id == SESSIONS.c.user_id, AUTHENTICATORS.c.type != FactorType.RECOVERY_CODES.value)
        .exists()
        .label("has_factor"),
    )
    .outerjoin(USERS, USERS.c.id == SESSIONS.c.user_id)
    .where(
        SESSIONS.c.digest == bindparam("digest"), SESSIONS.c.expires > bindparam("now", type_=SESSIONS.c.expires.type)
    )
)


class Sessions:
    """Finds, lists and ends sessions."""

    def __init__(self, area: Area) -> None:
        self._area = area
        self._lock = threading.Lock()
        self._next_purge = area.clock()

    def visit(self, caller: Caller) -> Visit:
        """Open a request's view of its session.

        Raises:
            SessionGoneError: an app names a session that is over.

        """
        if not caller.key:
            # Who comes without a session can have one made; those sessions must go even if nobody ever signs in.
            self.purge_now_and_then()
        visit = Visit(self._area, caller)
        state = visit.state
        if visit.account is not None and state is not None and state.id is not None and state.last_seen is not None:
            self._note_activity(state.id, state.last_seen)
        return visit

    def user_of(self, key: str) -> User | None:
        """Return who is signed in; ``None`` while nobody is, as in a login that has more stages to pass.

        Raises:
            SessionGoneError: the session is unknown or over.
            FactorNeededError: everybody has to use a second factor, and this session was begun without one.

        """
        with self._area.database.read() as connection:
            row = connection.execute(_FIND, {"digest": token_digest(key), "now": self._area.clock()}).first()
        if row is None or (row.user_id is not None and not row.lives):
            raise SessionGoneError
        if row.user_id is None:
            return None
        self._note_activity(row.id, row.last_seen)
        if self._area.options.login_enforce_mfa and not (row.has_factor and factors_used(row.methods)):
            raise FactorNeededError
        return User(
            id=row.user_id,
            username=row.username,
            email=row.email,
            is_staff=row.is_staff,
            is_superuser=row.is_superuser,
        )

    def list(self, visit: Visit) -> list[Mapping[str, Any]]:
        """List the living sessions of the account that is signed in, in the shape of the interface.

        Raises:
            SignInNeededError: nobody is signed in.

        """
        user_id = visit.signed_in.id
        current = visit.state.id if visit.state else None
        living = (SESSIONS.c.user_id == user_id) & (SESSIONS.c.expires > self._area.clock()) & _SAME_PASSWORD
        mine = select(SESSIONS).join(USERS, USERS.c.id == SESSIONS.c.user_id).where(living).order_by(SESSIONS.c.id)
        with self._area.database.read() as connection:
            return [self._show(row, current) for row in connection.execute(mine)]

    def end(self, visit: Visit, session_ids: Collection[int]) -> None:
        """End some sessions of the account that is signed in; its own one, too, where it is among them.

        Raises:
            SignInNeededError: nobody is signed in.
            RefusedValuesError: one of them is no session of the account; then none is ended.

        """
        user_id, own = visit.signed_in.id, visit.state.id if visit.state else None
        # Not as work on the own session: two sessions that end each other would wait for each other.
        mine = select(SESSIONS.c.id).where(SESSIONS.c.user_id == user_id).order_by(SESSIONS.c.id).with_for_update()
        with self._area.database.write() as session:
            connection = session.connection()
            known = set(connection.execute(mine).scalars())
            if own not in known:
                visit.forget()
                raise SignInNeededError
            unknown = set(session_ids) - known
            if unknown:
                message = f"You have no session {min(unknown)}. Choose some of the list."
                raise RefusedValuesError({"sessions": [Problem("invalid_choice", message)]})
            connection.execute(delete(SESSIONS).where(SESSIONS.c.id.in_(session_ids)))
            where = {"address": visit.caller.address, "user_agent": visit.caller.user_agent[:AGENT_LENGTH]}
            self._area.emit(session, "user.session_ended", {**where, "sessions": sorted(set(session_ids))}, user_id)
        if own in session_ids:
            visit.forget()

    def sign_out(self, visit: Visit) -> None:
        """End the session and whatever login is under way in it."""
        if visit.state is None:
            return
        with visit.work() as work:
            if work.account is not None:
                work.emit("user.logged_out")
            work.forget()

    def purge(self) -> int:
        """Delete sessions that are over, and return how many; done by itself now and then."""
        old = select(SESSIONS.c.id).where(SESSIONS.c.expires <= self._area.clock()).limit(_PURGED_AT_ONCE)
        with self._area.database.write() as session:
            statement = delete(SESSIONS).where(SESSIONS.c.id.in_(old.with_for_update(skip_locked=True)))
            return session.connection().execute(statement).rowcount

    def purge_now_and_then(self) -> None:
        """Do so, unless it was done a short while ago."""
        moment = self._area.clock()
        with self._lock:
            if moment < self._next_purge:
                return
            self._next_purge = moment + _PURGE_EVERY
        try:
            while self.purge() == _PURGED_AT_ONCE:
                pass
        except SQLAlchemyError:
            _LOG.exception("Sessions that are over could not be deleted; a later try will.")

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

    def _note_activity(self, session_id: int, last_seen: datetime) -> None:
        moment = self._area.clock()
        due = moment - _SEEN_EVERY
        if last_seen > due or not self._area.options.usersessions_track_activity:
            return
        # Compared with what is stored by now: of requests at the same time, one notes it.
        mine = (SESSIONS.c.id == session_id) & (SESSIONS.c.last_seen <= due)
        try:
            with self._area.database.write() as session:
                session.connection().execute(update(SESSIONS).where(mine).values(last_seen=moment))
        except SQLAlchemyError:
            _LOG.exception("The last use of session %s could not be written; its next use will be.", session_id)
