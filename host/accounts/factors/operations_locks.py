"""Accounts whose factors are at work: nobody else changes them meanwhile.

The account is locked before its factors, here as everywhere else, so that no two transactions wait for each other.
"""

from __future__ import annotations

from sqlalchemy import Connection, select

from host.accounts.changes import lock_account
from host.accounts.login.logins import Logins
from host.accounts.own_passwords.replacing import lock_active
from host.accounts.refusals import SignInNeededError
from host.accounts.sessions.state import Pending
from host.accounts.sessions.table import PENDING
from host.accounts.sessions.visit import Work


def locked_login(logins: Logins, work: Work, flow: str, *, changes: bool = False) -> tuple[Pending, int]:
    """Return the login that waits at a stage, and whose it is, with the account locked.

    Args:
        logins: knows the stages.
        work: the transaction.
        flow: of the stage.
        changes: the account's factors will be changed, not only used.

    Raises:
        ConflictError: none waits, or it was ended meanwhile, as by a new password; so for most stages.
        SignInNeededError: the same for the stages of second factors.

    """
    login = logins.waiting(work.visit, flow)
    if login.user_id is not None:
        (lock_account if changes else lock_active)(work.connection, login.user_id)
        waits = select(PENDING.c.user_id).where(PENDING.c.session_id == work.state.id)
        if work.connection.execute(waits).scalar() == login.user_id:
            return login, login.user_id
    work.state.pending = None
    logins.waiting(work.visit, flow)
    raise SignInNeededError(stage=True)


def locked_for(work: Work, user_id: int) -> Connection:
    """Return the connection, with the account locked that is still signed in.

    Raises:
        SignInNeededError: it is not.

    """
    before = work.visit.signed_in
    if before.id == user_id:
        account = lock_account(work.connection, user_id)
        if account.is_active and account.password_changed == before.password_changed:
            return work.connection
    work.forget()
    raise SignInNeededError
