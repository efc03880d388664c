"""The security keys of the account that is signed in."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from host.accounts.area import Area
from host.accounts.factors.authenticators import NAME_LENGTH
from host.accounts.factors.credentials import read_credential
from host.accounts.factors.factors import Factors
from host.accounts.factors.operations_locks import locked_for
from host.accounts.factors.operations_own import demand_verified, ensure_recovery_codes, note_added, remove
from host.accounts.factors.operations_proof import incorrect
from host.accounts.factors.security_keys import rp_id_of
from host.accounts.frontend_urls import FrontendUrls
from host.accounts.login.flows import Flows
from host.accounts.problems import Problem, RefusedValuesError, refuse
from host.accounts.sessions.visit import Visit

_REGISTRATION = "webauthn_registration"


class OwnKeys:
    """Registers, renames and removes security keys.

    Args:
        area: what account services share.
        factors: keeps the rules.
        flows: ask for a fresh proof.
        urls: tell the site that keys know.

    """

    def __init__(self, area: Area, factors: Factors, flows: Flows, urls: FrontendUrls) -> None:
        self._area = area
        self._factors = factors
        self._flows = flows
        self._urls = urls

    def ask_new_key(self, visit: Visit, *, passwordless: bool) -> dict[str, Any]:
        """Return what a browser needs to make a key; ``passwordless``: one that can sign in alone.

        Raises:
            SignInNeededError: nobody is signed in.
            ConflictError: an address of the account is not verified.
            ProofNeededError: the last proof is too old.

        """
        account = visit.signed_in
        self._demand_verified(account.id)
        self._flows.demand_proof(visit)
        rp_id = rp_id_of(self._urls.site(visit.caller.origin))
        with visit.work() as work:
            options, ceremony = self._factors.keys.begin_registration(
                visit.signed_in,
                self._factors.keys_of(work.connection, account.id),
                passwordless=passwordless,
                rp_id=rp_id,
                rp_name=self._area.instance,
            )
            work.keep(_REGISTRATION, ceremony)
        return options

    def add(self, visit: Visit, credential: object, name: str) -> tuple[Mapping[str, Any], bool]:
        """Give the account the key that a browser made; tell, too, whether recovery codes were made.

        Raises:
            SignInNeededError: nobody is signed in.
            ConflictError: an address of the account is not verified.
            RefusedValuesError: the browser's answer is missing or does not fit, or the name cannot be used.
            ProofNeededError: the last proof is too old; the same answer may be given again.

        """
        user_id = visit.signed_in.id
        self._demand_verified(user_id)
        answer = read_new_key(credential, name)
        ceremony = visit.state.data.get(_REGISTRATION) if visit.state else None
        key = self._factors.keys.finish_registration(ceremony, answer)
        if key is not None:
            self._flows.demand_proof(visit)
        with visit.work() as work:
            connection = locked_for(work, user_id)
            demand_verified(connection, user_id)
            is_same = work.data(_REGISTRATION) == ceremony
            work.keep(_REGISTRATION, None)
            added = self._factors.add_key(connection, user_id, key, name) if key and is_same else None
            if added is None:
                work.refuse(incorrect("non_field_errors"))
                return {}, False
            note_added(work, added)
            made = ensure_recovery_codes(self._factors, work, user_id)
        return self._factors.show(added), made

    def rename(self, visit: Visit, key_id: int | None, name: str) -> Mapping[str, Any]:
        """Give a key another name, and return the key.

        Args:
            visit: the request's view of its session.
            key_id: which one; ``None`` is none.
            name: the new name.

        Raises:
            SignInNeededError: nobody is signed in.
            RefusedValuesError: the account has no such key, or the name cannot be used.
            ProofNeededError: the last proof is too old.

        """
        user_id = visit.signed_in.id
        problems = {} if key_id in self._ids(user_id) else {"id": [_no_such_key()]}
        missing = [Problem("required", "Enter a name for the key.")]
        refuse({**problems, "name": name_problems(name) if name else missing})
        self._flows.demand_proof(visit)
        with visit.work() as work:
            connection = locked_for(work, user_id)
            key = self._factors.rename_key(connection, user_id, key_id or 0, name)
            if key is None:
                raise RefusedValuesError({"id": [_no_such_key()]})
        return self._factors.show(key)

    def remove(self, visit: Visit, key_ids: Collection[int | None]) -> None:
        """Take keys from the account; recovery codes go with the last factor.

        Raises:
            SignInNeededError: nobody is signed in.
            RefusedValuesError: one of them is no key of the account; then none is removed.
            ProofNeededError: the last proof is too old.

        """
        user_id = visit.signed_in.id
        refusal = RefusedValuesError({"authenticators": [_no_such_key()]})
        if not set(key_ids) <= self._ids(user_id):
            raise refusal
        self._flows.demand_proof(visit)
        with visit.work() as work:
            connection = locked_for(work, user_id)
            own = {key.id for key in self._factors.keys_of(connection, user_id)}
            if not set(key_ids) <= own:
                raise refusal
            remove(self._factors, work, user_id, [key_id for key_id in key_ids if key_id is not None])

    def _ids(self, user_id: int) -> set[int]:
        with self._area.database.read() as connection:
            return {key.id for key in self._factors.keys_of(connection, user_id)}

    def _demand_verified(self, user_id: int) -> None:
        with self._area.database.read() as connection:
            demand_verified(connection, user_id)


def read_new_key(credential: object, name: str) -> dict[str, Any]:
    """Return a browser's answer as an object, once the name of the new key is found fit.

    Raises:
        RefusedValuesError: the answer is missing or no object, or the name cannot be used.

    """
    problems = {"name": name_problems(name)}
    try:
        answer = read_credential(credential)
    except RefusedValuesError as error:
        raise RefusedValuesError({**error.problems, **problems}) from None
    refuse(problems)
    return answer


def name_problems(name: str) -> list[Problem]:
    """List why a key cannot bear a name; an empty one stands for a name of ours."""
    if len(name) > NAME_LENGTH:
        return [Problem("max_length", f"A name has at most {NAME_LENGTH} characters.")]
    if "\x00" in name:
        return [Problem("null_characters_not_allowed", "A name holds no null characters.")]
    return []


def _no_such_key() -> Problem:
    return Problem("invalid_choice", "Your account has no such security key. Choose one of the list.")
