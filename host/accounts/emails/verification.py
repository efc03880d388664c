"""Verifying e-mail addresses by what was mailed to them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from sqlalchemy import Connection

from host.accounts.account import USERS, Account, find_account, get_account
from host.accounts.area import Area
from host.accounts.changes import lock_account
from host.accounts.emails import addresses
from host.accounts.emails.messages import EmailMessages
from host.accounts.emails.proving import prove_email
from host.accounts.emails.table import EmailAddress
from host.accounts.login.code_proofs import CodeProofs, Proof, owner_of, renamed
from host.accounts.login.logins import Logins
from host.accounts.problems import Problem, RefusedValuesError
from host.accounts.refusals import ConflictError
from host.accounts.sessions.visit import Visit, Work

FLOW = "verify_email"


class EmailVerification:
    """Verifies addresses, by link or by code as the configuration says.

    A link works for everybody who has it, signed in or not; a code only in the session that asked for it.

    Args:
        area: what account services share.
        logins: take the logins further that wait for a proof.
        messages: mails links.
        proofs: mails codes; ``None`` where links are used.

    """

    def __init__(self, area: Area, logins: Logins, messages: EmailMessages, proofs: CodeProofs | None) -> None:
        self._area = area
        self._logins = logins
        self._messages = messages
        self._proofs = proofs

    def send(self, work: Work, address: EmailAddress) -> bool:
        """Mail a link, or a code that its owner can use once signed in in this session; tell whether it was done.

        Raises:
            TooManyError: a code was mailed to the address a moment ago.

        """
        if self._proofs is None:
            return self._messages.send_link(work, address)
        self._proofs.keep_for(work, self._proofs.begin(work, address.email), address.user_id)
        return True

    def pretend(self, work: Work, email: str, *, started: datetime | None = None) -> None:
        """Let a login wait for an address that somebody else has, just as one of a new account would.

        Its owner is told by mail.

        Args:
            work: the transaction.
            email: the address.
            started: when the login began, where it has passed another stage already.

        Raises:
            TooManyError: a code was mailed to the address a moment ago.

        """
        if self._proofs is not None:
            state = self._proofs.begin(work, email, taken=True)
        else:
            state = {"to": email}
            if self._messages.admit_link(work, email):
                self._messages.send_notice(work, email)
        self._logins.wait(work, FLOW, user_id=None, state=state, email=email)
        if started is not None and work.pending is not None:
            work.pending.started = started

    def look_up(self, visit: Visit, key: str) -> tuple[str, Account]:
        """Return the address that a key or code proves, and whose it is; a wrong code counts as an attempt.

        Raises:
            RefusedValuesError: the key or code is missing or wrong, or somebody else has proved the address.
            ConflictError: a code is needed, and this session waits for none.

        """
        if self._proofs is None:
            with self._area.database.read() as connection:
                address, account = self._by_link(connection, key)
                _demand_free(connection, address.email, account.id)
            return address.email, account
        found: list[tuple[str, Account]] = []

        def note(work: Work, proof: Proof, user_id: int) -> None:
            _demand_free(work.connection, proof["to"], user_id)
            found.append((proof["to"], get_account(work.connection, user_id)))

        self._by_code(visit, self._proofs, key, note)
        return found[0]

    def verify(self, visit: Visit, key: str) -> None:
        """Verify an address, and go on with the login that waits for just that.

        A link does not do the latter unless the configuration says so: the login is dropped then.

        Raises:
            RefusedValuesError: the key or code is missing or wrong, or somebody else has proved the address.
            ConflictError: a code is needed, and this session waits for none.
            TooManyError: the next stage of the login cannot send its message yet; then nothing is done.

        """
        if self._proofs is not None:
            self._by_code(visit, self._proofs, key, self._use_code)
            return
        self.look_up(visit, key)
        with visit.work() as work:
            address, account = self._by_link(work.connection, key)
            # Of two that come with one key at once, the second finds it used.
            if not prove_email(self._area, work, account.id, address.email, member="key").newly:
                raise _bad_key()
            if work.account is not None:
                work.refresh()
            else:
                self._settle(work, address)

    def resend(self, visit: Visit) -> None:
        """Mail another code in place of the last.

        Raises:
            ConflictError: this session waits for no code, it was mailed too often, or that is not allowed.
            TooManyError: one was mailed a moment ago.

        """
        proofs = self._proofs
        if proofs is None or not self._area.options.account_email_verification_supports_resend:
            raise ConflictError
        proofs.demand(visit)
        with visit.work() as work:
            proof = proofs.demand(work.visit)
            if not proofs.may_repeat(proof):
                raise ConflictError
            proofs.keep(work, proofs.repeat(work, proof))

    def _by_link(self, connection: Connection, key: str) -> tuple[EmailAddress, Account]:
        if not key:
            raise RefusedValuesError({"key": [Problem("required", "Give the key of the link.")]})
        address = self._messages.links.read(connection, key)
        if address is None:
            raise _bad_key()
        account = find_account(connection, USERS.c.id == address.user_id, USERS.c.is_active.is_(True))
        if account is None:
            raise _bad_key()
        return address, account

    def _by_code(self, visit: Visit, proofs: CodeProofs, key: str, use: Callable[[Work, Proof, int], None]) -> None:
        proofs.demand(visit)
        with visit.work() as work:
            proof = proofs.demand(work.visit)
            if not proofs.check(work, proof, key, member="key"):
                return
            user_id = owner_of(work)
            if user_id is None:
                raise ConflictError
            try:
                use(work, proof, user_id)
            except RefusedValuesError as error:
                proofs.fail(work, proof, renamed(error, "key"))

    def _use_code(self, work: Work, proof: Proof, user_id: int) -> None:
        lock_account(work.connection, user_id)
        if addresses.find(work.connection, user_id, proof["to"]) is None:
            # By now the account may have as many as it may.
            addresses.check_new(work.connection, user_id, proof["to"], self._area.options)
        prove_email(self._area, work, user_id, proof["to"], member="key")
        if work.account is None:
            self._logins.passed(work)
            return
        work.keep(FLOW, None)
        work.refresh()

    def _settle(self, work: Work, address: EmailAddress) -> None:
        login = work.pending
        if login is None or login.stage != FLOW:
            return
        if not self._area.options.account_login_on_email_confirmation:
            work.state.pending = None
        elif login.user_id == address.user_id and login.state["to"] == address.email:
            self._logins.passed(work)


def _demand_free(connection: Connection, email: str, user_id: int) -> None:
    owner = addresses.find_verified(connection, email)
    if owner is not None and owner.user_id != user_id:
        raise addresses.email_taken("key")


def _bad_key() -> RefusedValuesError:
    message = "This link is no longer good. Sign in and have a new one sent."
    return RefusedValuesError({"key": [Problem("invalid", message)]})
