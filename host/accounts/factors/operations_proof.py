"""Proving by a second factor who somebody is: within a login, and again later."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlalchemy import Connection

from host.accounts.area import Area
from host.accounts.factors.authenticators import Authenticator, FactorType
from host.accounts.factors.credentials import read_credential
from host.accounts.factors.factors import Factors
from host.accounts.factors.operations_locks import locked_for, locked_login
from host.accounts.factors.operations_tries import Tries
from host.accounts.factors.security_keys import rp_id_of
from host.accounts.frontend_urls import FrontendUrls
from host.accounts.login.logins import Logins
from host.accounts.login.recency import entry
from host.accounts.login.stages import second_factor, trust
from host.accounts.problems import Problem, RefusedValuesError
from host.accounts.sessions.state import Pending
from host.accounts.sessions.visit import Visit, Work

CEREMONY = "ceremony"
"""Under which a waiting login keeps what it asked a key."""
_PROOF = "webauthn_proof"

_Take = Callable[[Work, int], Authenticator | None]


class SecondFactors:
    """Proves by codes of an app, recovery codes and security keys.

    Args:
        area: what account services share.
        factors: what accounts own.
        logins: takes logins through their stages.
        urls: tell the site that keys know.

    """

    def __init__(self, area: Area, factors: Factors, logins: Logins, urls: FrontendUrls) -> None:
        self._area = area
        self._factors = factors
        self._logins = logins
        self._urls = urls
        self._tries = Tries(area)

    def sign_in_by_code(self, visit: Visit, code: str) -> None:
        """Go on with the login that waits for a second factor, by a code.

        Raises:
            SignInNeededError: none waits.
            RefusedValuesError: the code is missing or wrong, or there were too many wrong ones.

        """
        self._logins.waiting(visit, second_factor.FLOW)
        _demand(code)
        self._sign_in(visit, "code", lambda work, user_id: self._use_code(work.connection, user_id, code))

    def ask_key(self, visit: Visit) -> dict[str, Any]:
        """Return what a browser needs to ask a key of the waiting login's account for a proof.

        Raises:
            SignInNeededError: no login waits for a second factor.

        """
        self._logins.waiting(visit, second_factor.FLOW)
        with visit.work() as work:
            login = self._logins.waiting(visit, second_factor.FLOW)
            options, ceremony = self._begin(work, login.user_id or 0)
            login.state = {**login.state, CEREMONY: ceremony}
        return options

    def sign_in_by_key(self, visit: Visit, credential: object) -> None:
        """Go on with the login that waits for a second factor, by the answer of a key.

        Raises:
            SignInNeededError: none waits.
            RefusedValuesError: the answer is missing or wrong, or there were too many wrong ones.

        """
        self._logins.waiting(visit, second_factor.FLOW)
        answer = read_credential(credential)

        def take(work: Work, user_id: int) -> Authenticator | None:
            ceremony = taken_ceremony(self._logins.waiting(visit, second_factor.FLOW))
            return self._use_key(work.connection, user_id, ceremony, answer)

        self._sign_in(visit, "credential", take)

    def prove_by_code(self, visit: Visit, code: str) -> None:
        """Prove by a code that it is still the one who is signed in.

        Raises:
            SignInNeededError: nobody is signed in.
            RefusedValuesError: the code is missing or wrong, or there were too many wrong ones.

        """
        _ = visit.signed_in
        _demand(code)
        self._prove(visit, "code", lambda work, user_id: self._use_code(work.connection, user_id, code))

    def ask_key_again(self, visit: Visit) -> dict[str, Any]:
        """Return what a browser needs to ask a key of the account that is signed in for a proof.

        Raises:
            SignInNeededError: nobody is signed in.

        """
        _ = visit.signed_in
        with visit.work() as work:
            options, ceremony = self._begin(work, visit.signed_in.id)
            work.keep(_PROOF, ceremony)
        return options

    def prove_by_key(self, visit: Visit, credential: object) -> None:
        """Prove by the answer of a key that it is still the one who is signed in.

        Raises:
            SignInNeededError: nobody is signed in.
            RefusedValuesError: the answer is missing or wrong, or there were too many wrong ones.

        """
        _ = visit.signed_in
        answer = read_credential(credential)

        def take(work: Work, user_id: int) -> Authenticator | None:
            ceremony = work.data(_PROOF)
            work.keep(_PROOF, None)
            return self._use_key(work.connection, user_id, ceremony, answer)

        self._prove(visit, "credential", take, reauthenticated=True)

    def decide_trust(self, visit: Visit, *, trusted: bool | None) -> None:
        """Go on with the login that has proved a second factor; a trusted browser is not asked for one again.

        Args:
            visit: the request's view of its session.
            trusted: whether it shall be; ``None``: something else was said.

        Raises:
            SignInNeededError: no login waits for this.
            RefusedValuesError: neither yes nor no was said.

        """
        self._logins.waiting(visit, trust.FLOW)
        if trusted is None:
            raise RefusedValuesError({"trust": [Problem("invalid", "Say true or false.")]})
        value = None
        with visit.work() as work:
            _, user_id = locked_login(self._logins, work, trust.FLOW)
            if trusted:
                value = self._factors.trust.add(work.connection, work.caller.trust, user_id)
            self._logins.passed(work)
        if visit.account is not None:
            visit.new_trust = value

    def _sign_in(self, visit: Visit, member: str, take: _Take) -> None:
        user_id = self._logins.waiting(visit, second_factor.FLOW).user_id
        self._tries.admit(visit.caller, member, user_id)
        with visit.work() as work:
            _, current = locked_login(self._logins, work, second_factor.FLOW)
            # Of another account now, the try was counted for the wrong one.
            used = take(work, current) if current == user_id else None
            if used is None:
                work.emit("user.login_failed", current, method="mfa")
                work.refuse(incorrect(member))
                return
            self._logins.passed(work, entry("mfa", work.now, id=used.id, type=used.type.value))
        self._tries.succeeded(visit.caller, user_id)

    def _prove(self, visit: Visit, member: str, take: _Take, **members: Any) -> None:
        user_id = visit.signed_in.id
        self._tries.admit(visit.caller, member, user_id)
        with visit.work() as work:
            locked_for(work, user_id)
            used = take(work, user_id)
            if used is None:
                work.emit("user.login_failed", user_id, method="mfa")
                work.refuse(incorrect(member))
                return
            work.state.methods.append(entry("mfa", work.now, id=used.id, type=used.type.value, **members))
            work.emit("user.reauthenticated", method="mfa", type=used.type.value, authenticator=used.id)
        self._tries.succeeded(visit.caller, user_id)

    def _use_code(self, connection: Connection, user_id: int, code: str) -> Authenticator | None:
        used = self._factors.check_code(connection, user_id, code)
        return used if used is not None and self._is_offered(used.type) else None

    def _use_key(
        self, connection: Connection, user_id: int, ceremony: dict[str, Any] | None, answer: dict[str, Any]
    ) -> Authenticator | None:
        used = self._factors.check_key(connection, ceremony, answer)
        return used if used is not None and used.user_id == user_id else None

    def _is_offered(self, kind: FactorType) -> bool:
        return kind.value in self._area.options.mfa_supported_types

    def _begin(self, work: Work, user_id: int) -> tuple[dict[str, Any], dict[str, Any]]:
        keys = self._factors.keys_of(work.connection, user_id)
        rp_id = rp_id_of(self._urls.site(work.caller.origin))
        return self._factors.keys.begin_authentication(keys, rp_id=rp_id, user_id=user_id)


def taken_ceremony(login: Pending) -> dict[str, Any] | None:
    """Return what a waiting login asked a key; it serves for one answer."""
    ceremony: dict[str, Any] | None = login.state.get(CEREMONY)
    login.state = {name: value for name, value in login.state.items() if name != CEREMONY}
    return ceremony


def incorrect(member: str) -> RefusedValuesError:
    """Return the refusal of a wrong code, or of a key's answer that does not fit."""
    message = _WRONG_CODE if member == "code" else _WRONG_KEY
    return RefusedValuesError({member: [Problem("incorrect_code", message)]})


def _demand(code: str) -> None:
    if not code:
        message = "Enter a code of your authenticator app, or a recovery code."
        raise RefusedValuesError({"code": [Problem("required", message)]})


_WRONG_CODE = "This code is wrong, or was used already. Enter the one that your app shows now, or a recovery code."
_WRONG_KEY = "The answer of the security key does not fit. Begin again, and use a key that belongs to the account."
