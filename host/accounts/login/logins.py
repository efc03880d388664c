"""The state machine of a login: its stages, always in the same order, each passed, skipped or waiting.

Every way to sign in ends in :meth:`Logins.begin`; nothing else makes a session somebody's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from sqlalchemy import update

from host.accounts.account import USERS, Account, find_account
from host.accounts.refusals import ConflictError, SignInNeededError
from host.accounts.sessions.state import Pending
from host.accounts.sessions.visit import Visit, Work


class Stage(Protocol):
    """One stage."""

    flow: str
    """The id under which clients know it."""
    conflicts: bool
    """Its operations are answered as a conflict, not as a missing login, while it is not waiting."""

    def enter(self, work: Work, login: Pending, account: Account) -> dict[str, Any] | None:
        """Return what to remember where the login has to wait here, else ``None``; codes are sent from here."""

    def describe(self, login: Pending) -> Mapping[str, Any]:
        """Return what clients are told of it while it waits, beside its id."""


class Logins:
    """Takes logins through their stages.

    Args:
        stages: all of them in order.
        signed_in: called after the transaction in which somebody was signed in.

    """

    def __init__(self, stages: Sequence[Stage], signed_in: Callable[[], object] | None = None) -> None:
        self._stages = tuple(stages)
        self._signed_in = signed_in
        self._by_flow = {stage.flow: stage for stage in stages}

    def begin(self, work: Work, account: Account, method: Mapping[str, Any] | None, **facts: Any) -> None:
        """Begin a login with a first proof, and go as far as it can.

        Args:
            work: the transaction.
            account: whose login; one that is switched off is not let in, and no stage waits.
            method: the proof's entry; a sign-up has none.
            facts: what stages need to know: ``email`` or ``phone`` that was used, ``signup``, ``passwordless``,
                ``by_provider``, ``by_code``.

        """
        login = Pending(user_id=account.id, started=work.now, methods=[dict(method)] if method else [], facts=facts)
        if not account.is_active:
            work.state.pending = None
            return
        self._advance(work, login, account, self._stages)

    def wait(self, work: Work, flow: str, *, user_id: int | None, state: dict[str, Any], **facts: Any) -> None:
        """Let a login wait at a stage that somebody asked for; ``user_id`` is ``None`` for an unknown account."""
        work.state.pending = Pending(user_id=user_id, started=work.now, stage=flow, state=state, facts=facts)

    def waiting(self, visit: Visit, flow: str) -> Pending:
        """Return the login that waits at a stage.

        Raises:
            ConflictError: none does; so for most stages.
            SignInNeededError: none does; so for the stages of second factors.

        """
        login = visit.pending
        if login is None or login.stage != flow:
            if self._by_flow[flow].conflicts:
                raise ConflictError
            raise SignInNeededError(stage=True)
        return login

    def passed(self, work: Work, method: Mapping[str, Any] | None = None) -> None:
        """Take the login past the stage at which it waits, with the proof that was given there."""
        login = work.pending
        if login is None or login.user_id is None:
            raise ConflictError
        if method is not None:
            login.methods.append(dict(method))
        account = find_account(work.connection, USERS.c.id == login.user_id, USERS.c.is_active.is_(True))
        if account is None:
            work.state.pending = None
            return
        flows = [stage.flow for stage in self._stages]
        self._advance(work, login, account, self._stages[flows.index(login.stage) + 1 :])

    def describe(self, login: Pending) -> dict[str, Any]:
        """Return the flow of the stage at which a login waits."""
        return {"id": login.stage, **self._by_flow[login.stage].describe(login), "is_pending": True}

    def _advance(self, work: Work, login: Pending, account: Account, stages: Sequence[Stage]) -> None:
        for stage in stages:
            state = stage.enter(work, login, account)
            if state is not None:
                login.stage, login.state = stage.flow, state
                work.state.pending = login
                # Who knew the key before must not be able to take the login's last step.
                work.change_key()
                return
        work.connection.execute(update(USERS).where(USERS.c.id == account.id).values(last_login=work.now))
        work.sign_in(account, login.methods)
        work.emit("user.logged_in", methods=[step["method"] for step in login.methods])
        if self._signed_in is not None:
            work.after(self._signed_in)
