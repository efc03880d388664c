"""Passkeys: signing in, and signing up, without a password."""

from __future__ import annotations

from typing import Any

from host.accounts.account import Account, get_account
from host.accounts.area import Area
from host.accounts.factors import authenticators
from host.accounts.factors.authenticators import Authenticator
from host.accounts.factors.credentials import read_credential
from host.accounts.factors.factors import Factors
from host.accounts.factors.operations_keys import read_new_key
from host.accounts.factors.operations_locks import locked_login
from host.accounts.factors.operations_own import note_added
from host.accounts.factors.operations_proof import CEREMONY, incorrect, taken_ceremony
from host.accounts.factors.operations_tries import Tries
from host.accounts.factors.security_keys import rp_id_of
from host.accounts.frontend_urls import FrontendUrls
from host.accounts.login.logins import Logins
from host.accounts.login.recency import entry
from host.accounts.login.stages import passkey_signup
from host.accounts.own_passwords.replacing import lock_active
from host.accounts.refusals import ConflictError
from host.accounts.sessions.visit import Visit, Work

_LOGIN = "passkey_login"


class Passkeys:
    """Signs in by a passkey alone, and completes sign-ups by one.

    Args:
        area: what account services share.
        factors: keeps the keys.
        logins: takes logins through their stages.
        urls: tell the site that keys know.

    """

    def __init__(self, area: Area, factors: Factors, logins: Logins, urls: FrontendUrls) -> None:
        self._area = area
        self._factors = factors
        self._logins = logins
        self._urls = urls
        self._tries = Tries(area)

    def ask_passkey(self, visit: Visit) -> dict[str, Any]:
        """Return what a browser needs to ask for a passkey of whichever account."""
        options, ceremony = self._factors.keys.begin_authentication(None, rp_id=self._rp_id(visit))
        with visit.work() as work:
            work.keep(_LOGIN, ceremony)
        return options

    def sign_in(self, visit: Visit, credential: object) -> None:
        """Begin a login by a passkey; no password and no second factor is asked for.

        Raises:
            RefusedValuesError: the answer is missing or does not fit, or there were too many such.
            ConflictError: somebody is signed in already.

        """
        answer = read_credential(credential)
        if visit.account is not None:
            raise ConflictError
        self._tries.admit(visit.caller, "credential")
        with visit.work() as work:
            if work.account is not None:
                raise ConflictError
            key, account = self._use(work, answer)
            if key is None:
                work.emit("user.login_failed", account.id if account else None, method="mfa")
                work.refuse(incorrect("credential"))
                return
            if account is None:  # it is switched off, which nobody is told
                work.state.pending = None
            else:
                method = entry("mfa", work.now, id=key.id, type=key.type.value, passwordless=True)
                self._logins.begin(work, account, method, passwordless=True)
        self._tries.succeeded(visit.caller)

    def ask_new_key(self, visit: Visit) -> dict[str, Any]:
        """Return what a browser needs to make the passkey for which a sign-up waits.

        Raises:
            ConflictError: none does.

        """
        self._logins.waiting(visit, passkey_signup.FLOW)
        with visit.work() as work:
            login, user_id = locked_login(self._logins, work, passkey_signup.FLOW)
            options, ceremony = self._factors.keys.begin_registration(
                get_account(work.connection, user_id),
                self._factors.keys_of(work.connection, user_id),
                passwordless=True,
                rp_id=self._rp_id(visit),
                rp_name=self._area.instance,
            )
            login.state = {**login.state, CEREMONY: ceremony}
        return options

    def finish_sign_up(self, visit: Visit, credential: object, name: str) -> None:
        """Give the account of the waiting sign-up its passkey, and go on with the login.

        Raises:
            RefusedValuesError: the answer is missing or does not fit, or the name cannot be used.
            ConflictError: no sign-up waits for a passkey.

        """
        answer = read_new_key(credential, name)
        self._logins.waiting(visit, passkey_signup.FLOW)
        with visit.work() as work:
            login, user_id = locked_login(self._logins, work, passkey_signup.FLOW, changes=True)
            key = self._factors.keys.finish_registration(taken_ceremony(login), answer)
            added = self._factors.add_key(work.connection, user_id, key, name) if key else None
            if added is None:
                work.refuse(incorrect("non_field_errors"))
                return
            note_added(work, added, mail=False)
            self._logins.passed(work)

    def _use(self, work: Work, answer: dict[str, Any]) -> tuple[Authenticator | None, Account | None]:
        ceremony = work.data(_LOGIN)
        work.keep(_LOGIN, None)
        credential_id = answer.get("id")
        # What is no credential id is not looked for: not every text can be part of a query.
        known = None
        if isinstance(credential_id, str) and credential_id.isascii() and "\x00" not in credential_id:
            known = authenticators.get_key(work.connection, credential_id)
        account = lock_active(work.connection, known.user_id) if known else None
        return self._factors.check_key(work.connection, ceremony, answer), account

    def _rp_id(self, visit: Visit) -> str:
        return rp_id_of(self._urls.site(visit.caller.origin))
