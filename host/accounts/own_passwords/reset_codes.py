"""Resetting a password by a code."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime

from sqlalchemy import Connection

from host.accounts.account import USERS, Account, find_account
from host.accounts.area import Area
from host.accounts.codes import Codes, CodeState
from host.accounts.emails import addresses
from host.accounts.login.flows import RESET_BY_CODE
from host.accounts.login.proved_address import mark_proved
from host.accounts.own_passwords.replacing import lock_active
from host.accounts.problems import Problem, RefusedValuesError
from host.accounts.refusals import ConflictError
from host.accounts.sessions.visit import Visit, Work

_PURPOSE = "password-reset"


class ResetCodes:
    """Sends codes and checks what people type; a code serves only the session that asked for it."""

    def __init__(self, area: Area) -> None:
        self._area = area
        self._codes = Codes(area.seals, area.clock)

    def send(self, work: Work, account: Account, address: str) -> None:
        """Mail a code; an earlier one of the session is void."""
        code, state = self._codes.issue(_PURPOSE, seconds=self._area.options.account_password_reset_by_code_timeout)
        work.keep(RESET_BY_CODE, {**state, "user_id": account.id, "email": address})
        context = {"code": code, "expires": datetime.fromtimestamp(state["expires_at"], UTC)}
        self._area.mail(work.session, to=address, template="password_reset_code", context=context, secrets=(code,))

    def pretend(self, work: Work, address: str) -> None:
        """Keep what would be kept of a code, for an address that has no account."""
        state = self._codes.fake(_PURPOSE, seconds=self._area.options.account_password_reset_by_code_timeout)
        work.keep(RESET_BY_CODE, {**state, "user_id": None, "email": address})

    def demand(self, visit: Visit) -> None:
        """Let only a session pass in which a reset is under way.

        Raises:
            ConflictError: none is.

        """
        self._live(visit.state.data.get(RESET_BY_CODE) if visit.state else None)

    def check(self, visit: Visit, key: str) -> Account:
        """Return the account whose password the code replaces; a wrong one counts, and the last try ends the reset.

        Raises:
            ConflictError: no reset is under way in this session.
            RefusedValuesError: the code is wrong.

        """
        with visit.work() as work:
            state = self._live(work.data(RESET_BY_CODE))
            account = self._account(work.connection, state)
            if not self._codes.matches(state, key) or account is None:
                state = {**state, **self._codes.failed(state)}
                most = self._area.options.account_password_reset_by_code_max_attempts
                work.keep(RESET_BY_CODE, state if state["attempts"] < most else None)
                work.refuse(_wrong_code())
            else:
                self._prove(work, account, state["email"])
                return account
        raise _wrong_code()

    def use(self, work: Work, key: str) -> tuple[Account, str]:
        """Return the account and the address to which the code was sent; the code has served then.

        Raises:
            ConflictError: the code was used, or the reset has ended.
            RefusedValuesError: there is another code now.

        """
        state = self._live(work.data(RESET_BY_CODE))
        account = lock_active(work.connection, state["user_id"] or 0)
        if account is None or not self._codes.matches(state, key):
            raise _wrong_code()
        work.keep(RESET_BY_CODE, None)
        return account, state["email"]

    def _live(self, state: CodeState | None) -> CodeState:
        if state is None or not self._codes.is_live(state):
            raise ConflictError
        return state

    def _account(self, connection: Connection, state: CodeState) -> Account | None:
        return find_account(connection, USERS.c.id == (state["user_id"] or 0), USERS.c.is_active.is_(True))

    def _prove(self, work: Work, account: Account, address: str) -> None:
        # Where a new address replaces the old one, that is a change of its own, which a reset must not make.
        known = addresses.find(work.connection, account.id, address)
        if self._area.options.account_change_email and (known is None or not known.primary):
            return
        # Where somebody else has proved it meanwhile, it is not verified; the password can be reset all the same.
        with suppress(RefusedValuesError):
            mark_proved(self._area, work, account.id, email=address)


def _wrong_code() -> RefusedValuesError:
    message = "This code is wrong. Enter the one of the latest mail, or ask for a new one."
    return RefusedValuesError({"key": [Problem("incorrect_code", message)]})
