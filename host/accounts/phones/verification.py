"""Verifying phone numbers by codes."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from host.accounts.area import Area
from host.accounts.login.code_proofs import CodeProofs, owner_of
from host.accounts.login.logins import Logins
from host.accounts.phones.numbers import is_taken
from host.accounts.phones.proving import prove_phone
from host.accounts.problems import RefusedValuesError
from host.accounts.refusals import ConflictError
from host.accounts.sessions.state import Pending
from host.accounts.sessions.visit import Visit, Work

FLOW = "verify_phone"


class PretendEmail(Protocol):
    """Lets a login wait for the proof of an address that is somebody else's."""

    def __call__(self, work: Work, email: str, *, started: datetime | None) -> None:
        """Do so; ``started`` is when the login began."""


class PhoneVerification:
    """Verifies numbers: of logins that wait for it, and of accounts that are signed in and change theirs.

    Args:
        area: what account services share.
        logins: take the logins further that wait for a proof.
        proofs: sends codes.
        pretend_email: takes a sign-up further whose address is somebody else's.

    """

    def __init__(self, area: Area, logins: Logins, proofs: CodeProofs, pretend_email: PretendEmail) -> None:
        self._area = area
        self._logins = logins
        self._proofs = proofs
        self._pretend_email = pretend_email

    def pretend(self, work: Work, phone: str, *, email: str) -> None:
        """Let a sign-up wait for a number that makes no account, as the address is somebody else's.

        Raises:
            TooManyError: too many text messages were sent.

        """
        taken = is_taken(work.connection, phone)
        self._logins.wait(work, FLOW, user_id=None, state=self._proofs.begin(work, phone, taken=taken), email=email)

    def verify(self, visit: Visit, code: str) -> None:
        """Verify a number, and go on with the login that waits for just that.

        Raises:
            ConflictError: this session waits for no code, or it has expired.
            RefusedValuesError: the code is missing or wrong, or somebody else has proved the number.
            TooManyError: the next stage of the login cannot send its message yet; then nothing is done.

        """
        self._proofs.demand(visit)
        with visit.work() as work:
            proof = self._proofs.demand(work.visit)
            if not self._proofs.check(work, proof, code, member="code"):
                return
            user_id = owner_of(work)
            if user_id is None:
                self._go_on_pretending(work)
                return
            try:
                prove_phone(work, user_id, proof["to"])
            except RefusedValuesError as error:
                self._proofs.fail(work, proof, error)
                return
            if work.account is not None:
                self._proofs.end(work)
            else:
                self._logins.passed(work)

    def resend(self, visit: Visit) -> None:
        """Send another code in place of the last, for a login that waits for it.

        Raises:
            ConflictError: no login does, the code was sent too often or has expired, or that is not allowed.
            TooManyError: too many text messages were sent.

        """
        if visit.account is not None or not self._area.options.account_phone_verification_supports_resend:
            raise ConflictError
        self._proofs.demand(visit)
        with visit.work() as work:
            proof = self._proofs.demand(work.visit)
            if work.account is not None or not self._proofs.may_repeat(proof):
                raise ConflictError
            self._proofs.keep(work, self._proofs.repeat(work, proof))

    def _go_on_pretending(self, work: Work) -> None:
        login: Pending | None = work.pending
        if login is None:
            raise ConflictError
        self._pretend_email(work, str(login.facts["email"]), started=login.started)
