"""One request's view of its session, and the transactions in which it changes."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection
from sqlalchemy.orm import Session

from host.accounts.account import USERS, Account, find_account
from host.accounts.area import Area
from host.accounts.refusals import SessionGoneError, SignInNeededError
from host.accounts.sessions import rows
from host.accounts.sessions.state import Caller, Client, Pending, SessionState

_ANONYMOUS_LIFE = timedelta(hours=2)


class Visit:
    """A request's view of its session.

    ``state`` and ``account`` are as the last transaction left them. ``new_key`` and ``new_trust`` are for the client
    to keep; ``is_over`` tells it to forget its key.
    """

    def __init__(self, area: Area, caller: Caller) -> None:
        self.area = area
        self.caller = caller
        self.key = caller.key
        self.state: SessionState | None = None
        self.account: Account | None = None
        self.new_key: str | None = None
        self.new_trust: str | None = None
        self.is_over = False
        self.signed_in_now = False
        """The account of the session changed in this request."""
        if self.key:
            with area.database.read() as connection:
                self.state, self.account = self._load(connection, lock=False)
            if self.state is None and caller.client is Client.APP:
                raise SessionGoneError

    @property
    def pending(self) -> Pending | None:
        """The login that is under way."""
        return self.state.pending if self.state else None

    @property
    def signed_in(self) -> Account:
        """The account that is signed in.

        Raises:
            SignInNeededError: there is none.

        """
        if self.account is None:
            raise SignInNeededError
        return self.account

    def forget(self) -> None:
        """Note that the session was ended outside of this visit's own transactions."""
        self.state = self.account = None
        self.is_over = True

    @contextmanager
    def work(self) -> Iterator[Work]:
        """Open a transaction in which the session may change; nobody else changes it meanwhile.

        Raises:
            Exception: what :meth:`Work.refuse` was given, after everything is committed.

        """
        with self.area.database.write() as session:
            if self.key:
                self.state, self.account = self._load(session.connection(), lock=True)
            work = Work(self, session)
            yield work
            work.save()
        work.done()
        if work.refusal is not None:
            raise work.refusal

    def _load(self, connection: Connection, *, lock: bool) -> tuple[SessionState | None, Account | None]:
        now = self.area.clock()
        state = rows.read(connection, self.key, now, lock=lock)
        if state is None:
            return None, None
        timeout = timedelta(seconds=self.area.options.account_login_timeout)
        if state.pending is not None and state.pending.started + timeout <= now:
            state.pending = None
        if state.user_id is None:
            return state, None
        account = find_account(connection, USERS.c.id == state.user_id, USERS.c.is_active.is_(True))
        if account is None or account.password_changed != state.password_changed:
            return None, None
        return state, account


class Work:
    """A transaction on a session."""

    def __init__(self, visit: Visit, session: Session) -> None:
        self.visit = visit
        self.area = visit.area
        self.session = session
        self.connection = session.connection()
        self.now: datetime = visit.area.clock()
        self._before = copy.deepcopy(visit.state)
        self._new_key: str | None = None
        self._after: list[Callable[[], object]] = []
        self.refusal: Exception | None = None

    @property
    def caller(self) -> Caller:
        """Who is asking."""
        return self.visit.caller

    @property
    def state(self) -> SessionState:
        """The session; one is begun where there was none."""
        if self.visit.state is None:
            self.visit.state = SessionState()
        return self.visit.state

    @property
    def pending(self) -> Pending | None:
        """The login that is under way."""
        return self.visit.pending

    @property
    def account(self) -> Account | None:
        """The account that is signed in."""
        return self.visit.account

    def data(self, name: str) -> dict[str, Any] | None:
        """Return what an operation kept in the session under a name."""
        kept = self.visit.state.data.get(name) if self.visit.state else None
        return kept if isinstance(kept, dict) else None

    def keep(self, name: str, value: dict[str, Any] | None) -> None:
        """Keep something in the session for a later request; ``None`` forgets it."""
        if value is not None:
            self.state.data[name] = value
        elif self.visit.state is not None:
            self.visit.state.data.pop(name, None)

    def refresh(self) -> None:
        """Read the account again after it was changed in this transaction."""
        state = self.state
        if state.user_id is not None:
            self.visit.account = find_account(self.connection, USERS.c.id == state.user_id)

    def sign_in(self, account: Account, methods: list[dict[str, Any]]) -> None:
        """Make this the session of an account; its key changes, so that nobody who knew the old one gets in."""
        state = self.state
        if state.user_id not in {None, account.id}:
            state.data = {}
        state.user_id = account.id
        state.password_changed = account.password_changed
        state.methods = methods
        state.pending = None
        state.created = self.now
        self.visit.account = account
        self.visit.signed_in_now = True
        self._new_key = rows.new_key()

    def outlive_password(self) -> None:
        """Let the session go on although its account just got a new password."""
        self.refresh()
        account = self.visit.account
        self.state.password_changed = account.password_changed if account else None
        self._new_key = rows.new_key()

    def change_key(self) -> None:
        """Give a browser's session another key: somebody may have put the one before into the browser."""
        if self.caller.client is Client.BROWSER:
            self._new_key = rows.new_key()

    def forget(self) -> None:
        """End the session and everything that is under way in it."""
        self.visit.state = None
        self.visit.account = None
        self._new_key = None

    def emit(self, name: str, user_id: int | None = None, **data: Any) -> None:
        """Tell plugins and the audit log what happened, with where it came from."""
        if user_id is None and self.account is not None:
            user_id = self.account.id
        where = {"address": self.caller.address, "user_agent": self.caller.user_agent[:200]}
        self.area.emit(self.session, name, {**where, **data}, user_id)

    def refuse(self, refusal: Exception) -> None:
        """Raise an error once the transaction is committed, so that a counted failure stays counted."""
        self.refusal = refusal

    def after(self, action: Callable[[], object]) -> None:
        """Do something once the transaction is committed, such as sending a short message."""
        self._after.append(action)

    def save(self) -> None:
        """Write what has changed; called at the end of the transaction."""
        visit, state, before = self.visit, self.visit.state, self._before
        if state is None:
            if before is not None and before.id is not None:
                rows.delete(self.connection, before.id)
                visit.is_over = True
            return
        if state == before and self._new_key is None:
            return
        if state.id is None and self._new_key is None:
            self._new_key = rows.new_key()
        rows.write(self.connection, state, visit.caller, key=self._new_key, now=self.now, expires=self._expires(state))

    def _expires(self, state: SessionState) -> datetime:
        longest = timedelta(seconds=self.area.options.session_cookie_age)
        if state.user_id is None and state.pending is None:
            # Anybody can have any number of these made; what they hold is good for some minutes.
            longest = min(longest, self._anonymous_life)
        return self.now + longest

    @property
    def _anonymous_life(self) -> timedelta:
        options = self.area.options
        timeouts = (options.account_login_timeout, options.account_password_reset_by_code_timeout)
        return max(_ANONYMOUS_LIFE, *(timedelta(seconds=2 * timeout) for timeout in timeouts))

    def done(self) -> None:
        """Do what waited for the end of the transaction."""
        if self._new_key is not None:
            self.visit.key = self.visit.new_key = self._new_key
        for action in self._after:
            action()
