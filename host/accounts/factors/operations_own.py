"""The authenticators of the account that is signed in: its app and its recovery codes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection

from host.accounts.area import Area
from host.accounts.emails import addresses
from host.accounts.factors.authenticators import Authenticator, FactorType
from host.accounts.factors.factors import Factors
from host.accounts.factors.operations_locks import locked_for
from host.accounts.factors.operations_proof import incorrect
from host.accounts.login.flows import Flows
from host.accounts.notices import notify
from host.accounts.problems import Problem, RefusedValuesError
from host.accounts.refusals import ConflictError
from host.accounts.sessions.state import SessionState
from host.accounts.sessions.visit import Visit, Work
from host.errors import NotFoundError

_SETUP = "totp_setup"


class OwnFactors:
    """Shows, adds and removes what the account that is signed in owns.

    Args:
        area: what account services share.
        factors: keeps the rules.
        flows: ask for a fresh proof.

    """

    def __init__(self, area: Area, factors: Factors, flows: Flows) -> None:
        self._area = area
        self._factors = factors
        self._flows = flows

    def list(self, visit: Visit) -> list[Mapping[str, Any]]:
        """List the authenticators of the kinds that are switched on, the oldest first.

        Raises:
            SignInNeededError: nobody is signed in.

        """
        offered = self._area.options.mfa_supported_types
        with self._area.database.read() as connection:
            owned = self._factors.list_of(connection, visit.signed_in.id)
        return [self._factors.show(one) for one in owned if one.type.value in offered]

    def show_totp(self, visit: Visit) -> Mapping[str, Any] | None:
        """Return the account's app; ``None``: it has none.

        Raises:
            SignInNeededError: nobody is signed in.

        """
        app = self._find(visit, FactorType.TOTP)
        return None if app is None else self._factors.show(app)

    def new_totp_secret(self, visit: Visit) -> Mapping[str, str]:
        """Make up a secret for an app, and keep it in the session in place of one made before.

        Raises:
            SignInNeededError: nobody is signed in.
            ConflictError: an address of the account is not verified.

        """
        account = visit.signed_in
        with self._area.database.read() as connection:
            demand_verified(connection, account.id)
        totp, options = self._factors.totp, self._area.options
        secret = totp.new_secret()
        sealed = self._area.seals.seal(_purpose(account.id), secret)
        with visit.work() as work:
            _ = visit.signed_in
            work.keep(_SETUP, {"secret": sealed})
        issuer = options.mfa_totp_issuer or self._area.instance
        url = totp.url(secret, label=account.email or account.username, issuer=issuer)
        return {"secret": secret, "totp_url": url}

    def add_totp(self, visit: Visit, code: str) -> tuple[Mapping[str, Any], bool]:
        """Give the account the app that knows the secret; tell, too, whether recovery codes were made.

        Raises:
            SignInNeededError: nobody is signed in.
            ConflictError: an address of the account is not verified.
            RefusedValuesError: the code is missing or wrong, or the account has an app.
            ProofNeededError: the last proof is too old; the secret is kept.

        """
        user_id = visit.signed_in.id
        with self._area.database.read() as connection:
            self._demand_no_totp(connection, user_id)
            demand_verified(connection, user_id)
        if not code:
            message = "Enter the code that your authenticator app shows."
            raise RefusedValuesError({"code": [Problem("required", message)]})
        secret = self._secret(visit.state, user_id)
        if secret is None or self._factors.totp.verify(secret, code) is None:
            raise incorrect("code")
        self._flows.demand_proof(visit)
        with visit.work() as work:
            connection = locked_for(work, user_id)
            if self._secret(visit.state, user_id) != secret:
                raise incorrect("code")
            self._demand_no_totp(connection, user_id)
            demand_verified(connection, user_id)
            app = self._factors.add_totp(connection, user_id, secret)
            if app is None:
                raise _already()
            work.keep(_SETUP, None)
            note_added(work, app)
            made = ensure_recovery_codes(self._factors, work, user_id)
        return self._factors.show(app), made

    def remove_totp(self, visit: Visit) -> None:
        """Take the app from the account; recovery codes go with the last factor. Without an app nothing is done.

        Raises:
            SignInNeededError: nobody is signed in.
            ProofNeededError: the last proof is too old.

        """
        user_id = visit.signed_in.id
        if self._find(visit, FactorType.TOTP) is None:
            return
        self._flows.demand_proof(visit)
        with visit.work() as work:
            connection = locked_for(work, user_id)
            app = self._factors.find(connection, user_id, FactorType.TOTP)
            if app is not None:
                remove(self._factors, work, user_id, [app.id])

    def show_recovery_codes(self, visit: Visit) -> Mapping[str, Any]:
        """Return the set of recovery codes, with those that can still be used.

        Raises:
            SignInNeededError: nobody is signed in.
            NotFoundError: the account has none.
            ProofNeededError: the last proof is too old.

        """
        codes = self._find(visit, FactorType.RECOVERY_CODES)
        if codes is None:
            raise NotFoundError("You have no recovery codes. Make some first.")
        self._flows.demand_proof(visit)
        return self._factors.show(codes, with_codes=True)

    def renew_recovery_codes(self, visit: Visit) -> Mapping[str, Any]:
        """Make a new set and return it with its codes; the older one is void.

        Raises:
            SignInNeededError: nobody is signed in.
            RefusedValuesError: the account has nothing to recover from.
            ProofNeededError: the last proof is too old.

        """
        user_id = visit.signed_in.id
        with self._area.database.read() as connection:
            if not self._factors.are_needed(connection, user_id):
                raise _nothing_to_recover()
        self._flows.demand_proof(visit)
        with visit.work() as work:
            codes = self._factors.renew_recovery_codes(locked_for(work, user_id), user_id)
            if codes is None:
                raise _nothing_to_recover()
            work.emit("user.recovery_codes_made", authenticator=codes.id, automatic=False)
            notify(work, "recovery_codes_made")
        return self._factors.show(codes, with_codes=True)

    def _find(self, visit: Visit, kind: FactorType) -> Authenticator | None:
        with self._area.database.read() as connection:
            return self._factors.find(connection, visit.signed_in.id, kind)

    def _demand_no_totp(self, connection: Connection, user_id: int) -> None:
        if self._factors.find(connection, user_id, FactorType.TOTP) is not None:
            raise _already()

    def _secret(self, state: SessionState | None, user_id: int) -> str | None:
        kept = state.data.get(_SETUP) if state else None
        try:
            return self._area.seals.open(_purpose(user_id), kept["secret"]) if kept else None
        except ValueError:
            # The host's key was changed meanwhile: the secret has to be asked for again.
            return None


def demand_verified(connection: Connection, user_id: int) -> None:
    """Let only accounts whose addresses are all verified add a factor: who else might own one could be locked out.

    Raises:
        ConflictError: one is not.

    """
    if any(not address.verified for address in addresses.list_of(connection, user_id)):
        message = "An e-mail address of your account is not verified. Verify it, or remove it, then try again."
        raise ConflictError(Problem("unverified_email", message))


def note_added(work: Work, factor: Authenticator, *, mail: bool = True) -> None:
    """Tell that a factor was added to an account."""
    work.emit("user.factor_added", factor.user_id, type=factor.type.value, authenticator=factor.id)
    if mail:
        notify(work, "factor_added", factor=factor.type.value, name=factor.name)


def ensure_recovery_codes(factors: Factors, work: Work, user_id: int) -> bool:
    """Make recovery codes for an account that has none, where they are switched on, and tell whether it was done."""
    if FactorType.RECOVERY_CODES.value not in work.area.options.mfa_supported_types:
        return False
    codes = factors.ensure_recovery_codes(work.connection, user_id)
    if codes is not None:
        work.emit("user.recovery_codes_made", user_id, authenticator=codes.id, automatic=True)
    return codes is not None


def remove(factors: Factors, work: Work, user_id: int, ids: list[int]) -> None:
    """Take authenticators from the account that is signed in, and tell of it."""
    for gone in factors.remove(work.connection, user_id, ids):
        work.emit("user.factor_removed", user_id, type=gone.type.value, authenticator=gone.id)
        if gone.id in ids:
            notify(work, "factor_removed", factor=gone.type.value, name=gone.name)


def _purpose(user_id: int) -> str:
    return f"{_SETUP}:{user_id}"


def _already() -> RefusedValuesError:
    message = "Your account has an authenticator app. Remove it before you add another one."
    return RefusedValuesError({"code": [Problem("invalid", message)]})


def _nothing_to_recover() -> RefusedValuesError:
    message = "Recovery codes stand in for an authenticator app or a security key. Add one of these first."
    return RefusedValuesError({"non_field_errors": [Problem("cannot_generate_recovery_codes", message)]})
