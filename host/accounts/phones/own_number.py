"""The phone number of the own account, as whoever is signed in or signing up changes it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlalchemy import Connection

from host.accounts.area import Area
from host.accounts.changes import lock_account
from host.accounts.login.code_proofs import MOST_CHANGES, CodeProofs, Proof
from host.accounts.phones import numbers
from host.accounts.problems import Problem, RefusedValuesError, refuse
from host.accounts.refusals import ConflictError
from host.accounts.sessions.state import Pending
from host.accounts.sessions.visit import Visit


class OwnNumber:
    """Shows the number of an account, and begins its change, which a code that is sent to the new one completes.

    Args:
        area: what account services share.
        proofs: sends codes.
        has_factor: tells whether an account asks for a second factor.
        demand_proof: raises ProofNeededError where a change needs a fresh proof of who is there.

    """

    def __init__(
        self,
        area: Area,
        proofs: CodeProofs,
        *,
        has_factor: Callable[[Connection, int], bool],
        demand_proof: Callable[[Visit], None],
    ) -> None:
        self._area = area
        self._proofs = proofs
        self._has_factor = has_factor
        self._demand_proof = demand_proof

    def show(self, visit: Visit) -> list[dict[str, Any]]:
        """Return the number in the form of the interface, in a list of one or none.

        Raises:
            SignInNeededError: nobody is signed in.

        """
        user_id = visit.signed_in.id
        if not self._area.options.account_phone_enabled:
            return []
        with self._area.database.read() as connection:
            return [number.show() for number in numbers.list_of(connection, user_id)]

    def change(self, visit: Visit, text: str) -> list[dict[str, Any]]:
        """Send a code to another number, and list it; the number before stays until the code comes back.

        Of a number that somebody else has, nobody learns before they type the right code.

        Raises:
            ConflictError: accounts have no numbers here; or nobody is signed in, and no login waits whose number may
                be changed.
            RefusedValuesError: under ``phone``.
            ProofNeededError: the last proof of who is there is too old.
            TooManyError: there were too many changes, or text messages.

        """
        if not self._area.options.account_phone_enabled:
            raise ConflictError
        if visit.account is None:
            return self._correct(visit, text)
        self._area.limits.consume("change_phone", address=visit.caller.address, user_id=visit.account.id)
        with self._area.database.read() as connection:
            phone = numbers.check_new(connection, visit.account.id, text)
        self._demand_proof(visit)
        with visit.work() as work:
            phone = numbers.check_new(work.connection, visit.signed_in.id, phone)
            self._proofs.keep(work, self._proofs.begin(work, phone))
        return _waiting(phone)

    def _correct(self, visit: Visit, text: str) -> list[dict[str, Any]]:
        self._demand(visit)
        with visit.work() as work:
            proof, login = self._demand(visit), work.pending
            if login is None:
                raise ConflictError
            if login.user_id is not None and not self._is_open(work.connection, login.user_id):
                raise ConflictError
            phone = _checked(text, proof)
            taken = self._is_taken(work.connection, phone, login)
            if login.user_id is not None and not taken:
                numbers.set_phone(work.connection, login.user_id, phone, moment=work.now)
            if "phone" in login.facts:
                login.facts["phone"] = phone
            login.state = self._proofs.begin(work, phone, taken=taken, changes=proof["changes"] + 1)
        return _waiting(phone)

    def _demand(self, visit: Visit) -> Proof:
        proof = self._proofs.find(visit)
        is_allowed = self._area.options.account_phone_verification_supports_change
        if not is_allowed or visit.account is not None or proof is None or proof["changes"] >= MOST_CHANGES:
            raise ConflictError
        return proof

    def _is_open(self, connection: Connection, user_id: int) -> bool:
        lock_account(connection, user_id)
        # Else whoever has learned a password would get in with a number of their own.
        is_proved = any(number.verified for number in numbers.list_of(connection, user_id))
        return not is_proved and not self._has_factor(connection, user_id)

    def _is_taken(self, connection: Connection, phone: str, login: Pending) -> bool:
        is_taken = numbers.is_taken(connection, phone, but=login.user_id)
        if is_taken and self._area.options.account_prevent_enumeration == "false":
            raise numbers.phone_taken("phone")
        return is_taken


def _checked(text: str, proof: Proof) -> str:
    phone = numbers.clean_phone(text)
    refuse({"phone": numbers.phone_problems(phone) if phone else [Problem("required", "Enter a phone number.")]})
    if phone == proof["to"]:
        message = "The code was sent to this number already. Enter another one."
        raise RefusedValuesError({"phone": [Problem("same_as_current", message)]})
    return phone


def _waiting(phone: str) -> list[dict[str, Any]]:
    return [{"phone": phone, "verified": False}]
