"""The e-mail addresses of the own account, as whoever is signed in changes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlalchemy import Connection

from host.accounts.addresses import clean_email, email_problems
from host.accounts.area import Area
from host.accounts.emails import addresses
from host.accounts.emails.messages import EmailMessages
from host.accounts.emails.table import EmailAddress
from host.accounts.login.code_proofs import CodeProofs
from host.accounts.login.signup_form import domain_problems
from host.accounts.notices import notify
from host.accounts.persons import Problems
from host.accounts.problems import Problem, RefusedValuesError, refuse
from host.accounts.refusals import ClosedError, ProofNeededError
from host.accounts.sessions.visit import Visit, Work


class OwnAddresses:
    """Lists, adds, removes and verifies the addresses of the account that is signed in.

    Where addresses are proved by code, a new one is not stored before it is proved: the session keeps it.

    Args:
        area: what account services share.
        messages: mails links.
        proofs: mails codes; ``None`` where links are used.
        has_factor: tells whether an account asks for a second factor.
        demand_proof: raises ProofNeededError where a change needs a fresh proof of who is there.

    """

    def __init__(
        self,
        area: Area,
        messages: EmailMessages,
        proofs: CodeProofs | None,
        *,
        has_factor: Callable[[Connection, int], bool],
        demand_proof: Callable[[Visit], None],
    ) -> None:
        self._area = area
        self._messages = messages
        self._proofs = proofs
        self._has_factor = has_factor
        self._demand_proof = demand_proof

    def show(self, visit: Visit) -> list[dict[str, Any]]:
        """List the addresses in the form of the interface, and the one that waits for its code.

        Raises:
            SignInNeededError: nobody is signed in.

        """
        with self._area.database.read() as connection:
            own = addresses.list_of(connection, visit.signed_in.id)
        shown = [address.show() for address in own]
        waiting = self._waiting(visit)
        if waiting and all(address.email != waiting for address in own):
            shown.append({"email": waiting, "verified": False, "primary": False})
        return shown

    def add(self, visit: Visit, text: str) -> None:
        """Add an address, and mail a link or a code to it.

        Where a new address replaces the old one, it does so as soon as it is proved.

        Raises:
            TooManyError: there were too many changes, or a code was mailed to the address a moment ago.
            RefusedValuesError: the account cannot have this address, under ``email``.
            ProofNeededError: the last proof of who is there is too old.

        """
        account, options = visit.signed_in, self._area.options
        self._area.limits.consume("manage_email", address=visit.caller.address, user_id=account.id)
        missing = self._missing_proof(visit)
        with visit.work() as work:
            user_id = visit.signed_in.id
            check_domain(self._area, text)
            if self._proofs is not None:
                email = addresses.check_new(work.connection, user_id, text, options)
                _demand(missing)
                self._proofs.keep(work, self._proofs.begin(work, email))
                return
            blocked = self._has_factor(work.connection, user_id)
            address = addresses.add(work.connection, user_id, text, options, blocked=blocked, moment=work.now)
            _demand(missing)
            work.emit("user.email_added", email=address.email)
            self._messages.send_link(work, address)

    def send_again(self, visit: Visit, text: str) -> None:
        """Mail another link or code to an address of the account; also to one that is proved, where it has no use.

        Raises:
            SignInNeededError: nobody is signed in.
            RefusedValuesError: the account has no such address.
            ClosedError: nothing was sent: it was a short while ago, or often enough.
            TooManyError: a code was mailed to the address a moment ago.

        """
        with visit.work() as work:
            user_id = visit.signed_in.id
            if self._proofs is not None:
                self._repeat(work, self._proofs, user_id, text)
            elif not self._messages.send_link(work, addresses.find_own(work.connection, user_id, text)):
                raise ClosedError

    def make_primary(self, visit: Visit, text: str, *, primary: bool) -> None:
        """Make a proved address the primary one.

        Args:
            visit: the request's view of its session.
            text: the address.
            primary: anything but true is refused.

        Raises:
            SignInNeededError: nobody is signed in.
            RefusedValuesError: under ``email`` and ``primary``.
            ProofNeededError: the last proof of who is there is too old.

        """
        missing = self._missing_proof(visit)
        with visit.work() as work:
            account = visit.signed_in
            problems: Problems = {}
            try:
                own = addresses.find_own(work.connection, account.id, text)
                if not primary and not own.primary and not own.verified:
                    problems["email"] = [addresses.UNVERIFIED_PRIMARY]
            except RefusedValuesError as error:
                problems |= error.problems
            if not primary:
                problems["primary"] = [Problem("required", "Say true: the primary address changes in no other way.")]
            refuse(problems)
            change = addresses.make_primary(work.connection, account.id, text)
            _demand(missing)
            work.refresh()
            if change.changed:
                email, former = change.address.email, change.former or ""
                work.emit("user.email_changed", email=email, former=former)
                notify(work, "email_changed", to=former, email=email)

    def remove(self, visit: Visit, text: str) -> None:
        """Take an address from the account; one that waits for its code waits no more.

        Raises:
            SignInNeededError: nobody is signed in.
            RefusedValuesError: the account has no such address, or needs it.
            ProofNeededError: the last proof of who is there is too old.

        """
        missing = self._missing_proof(visit)
        with visit.work() as work:
            account = visit.signed_in
            is_waiting = bool(text) and clean_email(text) == self._waiting(visit)
            if is_waiting and addresses.find(work.connection, account.id, text) is None:
                _demand(missing)
            else:
                self._remove(work, addresses.remove(work.connection, account.id, text, self._area.options), missing)
            if is_waiting and self._proofs is not None:
                self._proofs.end(work)

    def _remove(self, work: Work, gone: EmailAddress, missing: ProofNeededError | None) -> None:
        _demand(missing)
        work.refresh()
        work.emit("user.email_removed", email=gone.email)
        to = work.account.email if work.account else ""
        notify(work, "email_removed", to=to or gone.email, email=gone.email)

    def _repeat(self, work: Work, proofs: CodeProofs, user_id: int, text: str) -> None:
        proof = proofs.find_live(work.visit)
        if proof is None or clean_email(text) != proof["to"]:
            address = addresses.find_own(work.connection, user_id, text)
            if proof is None or not address.verified:  # else it has nothing to prove, and what waits goes on waiting
                proofs.keep(work, proofs.begin(work, address.email))
        elif proofs.may_repeat(proof):
            proofs.keep(work, proofs.repeat(work, proof))
        else:
            raise ClosedError

    def _waiting(self, visit: Visit) -> str:
        proof = self._proofs.find_live(visit) if self._proofs is not None else None
        return str(proof["to"]) if proof else ""

    def _missing_proof(self, visit: Visit) -> ProofNeededError | None:
        """Return what to raise once the input has turned out to be right."""
        try:
            self._demand_proof(visit)
        except ProofNeededError as error:
            return error
        return None


def check_domain(area: Area, text: str) -> None:
    """Refuse a well-formed address of a domain that nobody may use.

    Raises:
        RefusedValuesError: under ``email``.

    """
    cleaned = clean_email(text)
    if cleaned and not email_problems(cleaned):
        refuse({"email": domain_problems(cleaned, area.options)})


def _demand(missing: ProofNeededError | None) -> None:
    if missing is not None:
        raise missing
