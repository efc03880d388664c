"""Correcting the address of an account while a login waits for its proof."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlalchemy import Connection, update

from host.accounts.addresses import clean_email, email_problems
from host.accounts.area import Area
from host.accounts.changes import lock_account
from host.accounts.emails import addresses
from host.accounts.emails.own_addresses import check_domain
from host.accounts.emails.table import EMAILS
from host.accounts.login.code_proofs import MOST_CHANGES, CodeProofs, Proof
from host.accounts.problems import Problem, RefusedValuesError, refuse
from host.accounts.refusals import ConflictError
from host.accounts.sessions.state import Pending
from host.accounts.sessions.visit import Visit, Work


class AddressCorrection:
    """Lets somebody correct the address to which a code was mailed that they wait for.

    An account that has proved another address, or has a second factor, has no need of it; there it would let in
    whoever has learned a password.

    Args:
        area: what account services share.
        proofs: mails codes; ``None`` where links are used.
        has_factor: tells whether an account asks for a second factor.

    """

    def __init__(self, area: Area, proofs: CodeProofs | None, *, has_factor: Callable[[Connection, int], bool]) -> None:
        self._area = area
        self._proofs = proofs
        self._has_factor = has_factor

    def correct(self, visit: Visit, text: str) -> list[dict[str, Any]]:
        """Mail a code to another address in place of the first, and list it.

        An address that somebody else has cannot be told from others: its owner gets a notice, and no code will match.

        Raises:
            ConflictError: no login waits for a code here, or the address may not be changed, or not again.
            RefusedValuesError: under ``email``.
            TooManyError: a code was mailed to the address a moment ago.

        """
        self._demand(visit)
        with visit.work() as work:
            proofs, proof = self._demand(visit)
            login = work.pending
            if login is None:
                raise ConflictError
            if login.user_id is not None and not self._is_open(work.connection, login.user_id):
                raise ConflictError
            email = self._checked(text, proof)
            taken = self._is_taken(work.connection, email, login)
            if login.user_id is not None and not taken:
                _replace(work, login.user_id, str(proof["to"]), email)
            login.facts["email"] = email
            login.state = proofs.begin(work, email, taken=taken, changes=proof.get("changes", 0) + 1)
        return [{"email": email, "verified": False, "primary": True}]

    def _demand(self, visit: Visit) -> tuple[CodeProofs, Proof]:
        proofs = self._proofs
        if proofs is None or not self._area.options.account_email_verification_supports_change:
            raise ConflictError
        proof = proofs.find(visit)
        if visit.account is not None or proof is None or proof.get("changes", 0) >= MOST_CHANGES:
            raise ConflictError
        return proofs, proof

    def _is_open(self, connection: Connection, user_id: int) -> bool:
        lock_account(connection, user_id)
        own = addresses.list_of(connection, user_id)
        return not any(address.verified for address in own) and not self._has_factor(connection, user_id)

    def _checked(self, text: str, proof: Proof) -> str:
        email = clean_email(text)
        refuse({"email": email_problems(email) if email else [Problem("required", "Enter an e-mail address.")]})
        check_domain(self._area, email)
        if email == proof["to"]:
            message = "The code was sent to this address already. Enter another one."
            raise RefusedValuesError({"email": [Problem("same_as_current", message)]})
        return email

    def _is_taken(self, connection: Connection, email: str, login: Pending) -> bool:
        is_known = addresses.is_known(connection, email, but=login.user_id)
        if is_known and self._area.options.account_prevent_enumeration == "false":
            raise addresses.email_taken("email")
        return is_known


def _replace(work: Work, user_id: int, wrong: str, right: str) -> None:
    connection = work.connection
    if addresses.find(connection, user_id, right) is not None:
        return
    # Where the wrong one was somebody else's, the account still has the one before.
    replaced = addresses.find(connection, user_id, wrong) or addresses.primary_of(connection, user_id)
    if replaced is None:
        return
    connection.execute(update(EMAILS).where(EMAILS.c.id == replaced.id).values(email=right, created=work.now))
    addresses.sync_mail_field(connection, user_id)
    work.emit("user.email_changed", user_id, email=right, former=replaced.email)
