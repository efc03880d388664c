"""Second factors of accounts: what an account owns, adds, uses and gives up, within the caller's transaction."""

from __future__ import annotations

from collections.abc import Callable, Collection
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, update

from host.accounts.changes import lock_account
from host.accounts.factors import authenticators
from host.accounts.factors.authenticators import AUTHENTICATORS, Authenticator, FactorType
from host.accounts.factors.recovery_codes import RecoveryCodes
from host.accounts.factors.security_keys import NewKey, SecurityKeys, State, default_name
from host.accounts.factors.totp import Totp
from host.accounts.factors.trust import Trust
from host.accounts.seals import Seals
from host.config.accounts import FactorOptions
from host.storage.tables import now


class Factors:
    """Keeps the rules that hold across the kinds of authenticators.

    ``totp``, ``recovery_codes``, ``keys`` and ``trust`` are the parts; who adds or removes something, or proves
    something, does it here.
    """

    def __init__(self, options: FactorOptions, seals: Seals, clock: Callable[[], datetime] = now) -> None:
        self.totp = Totp(options, seals, clock)
        self.recovery_codes = RecoveryCodes(options, seals, clock)
        self.keys = SecurityKeys(allow_insecure_origin=options.mfa_webauthn_allow_insecure_origin)
        self.trust = Trust(seals, options.mfa_trust_cookie_age, clock)
        self._clock = clock

    def types_of(self, connection: Connection, user_id: int) -> list[str]:
        """Return which kinds an account owns: of recovery_codes, totp and webauthn, in this order."""
        return [kind.value for kind in authenticators.types_of(connection, user_id)]

    def are_needed(self, connection: Connection, user_id: int) -> bool:
        """Tell whether an account asks for a second factor: it owns something other than recovery codes."""
        return any(kind is not FactorType.RECOVERY_CODES for kind in authenticators.types_of(connection, user_id))

    def list_of(self, connection: Connection, user_id: int) -> list[Authenticator]:
        """Return the authenticators of an account in the order in which they were made."""
        return authenticators.list_of(connection, user_id)

    def find(self, connection: Connection, user_id: int, kind: FactorType) -> Authenticator | None:
        """Return an account's TOTP authenticator or its recovery codes."""
        return authenticators.get_only(connection, user_id, kind)

    def keys_of(self, connection: Connection, user_id: int) -> list[Authenticator]:
        """Return the security keys of an account in the order in which they were made."""
        return authenticators.keys_of(connection, user_id)

    def check_code(self, connection: Connection, user_id: int, code: str) -> Authenticator | None:
        """Use a code up, of an app or a recovery code, and return what it came from; ``None``: it is wrong."""
        app = authenticators.get_only(connection, user_id, FactorType.TOTP)
        if app is not None and self.totp.use(connection, app, code):
            return app
        return self.recovery_codes.use(connection, user_id, code)

    def check_key(self, connection: Connection, state: State | None, credential: object) -> Authenticator | None:
        """Check a key's answer and return the key; ``None``: it is wrong.

        Raises:
            RefusedValuesError: the credential is missing, or no object.

        """
        found = self.keys.finish_authentication(
            state, credential, lambda credential_id: authenticators.get_key(connection, credential_id)
        )
        if found is None:
            return None
        columns = AUTHENTICATORS.c
        # Of two answers with one count, given at the same time, one comes from a copy of the key.
        risen = columns.sign_count < found.sign_count if found.sign_count else columns.sign_count == 0
        statement = update(AUTHENTICATORS).where(columns.id == found.key.id, risen)
        used = connection.execute(statement.values(sign_count=found.sign_count, last_used=self._clock()))
        return found.key if used.rowcount else None

    def add_totp(self, connection: Connection, user_id: int, secret: str) -> Authenticator | None:
        """Give an account an authenticator app, whose first code was verified; ``None``: it has one."""
        return self.totp.add(connection, user_id, secret)

    def add_key(self, connection: Connection, user_id: int, key: NewKey, name: str = "") -> Authenticator | None:
        """Give an account a security key; ``None``: it belongs to an account already, this one or another."""
        lock_account(connection, user_id)
        return authenticators.insert(
            connection,
            user_id,
            FactorType.WEBAUTHN,
            created=self._clock(),
            name=name or default_name(authenticators.count_keys(connection, user_id)),
            data={"public_key": key.public_key},
            credential_id=key.credential_id,
            sign_count=key.sign_count,
            passwordless=key.passwordless,
        )

    def rename_key(self, connection: Connection, user_id: int, key_id: int, name: str) -> Authenticator | None:
        """Give a security key another name and return it; ``None``: the account has no such key."""
        key = next((key for key in authenticators.keys_of(connection, user_id) if key.id == key_id), None)
        return None if key is None else authenticators.rename(connection, key, name)

    def ensure_recovery_codes(self, connection: Connection, user_id: int) -> Authenticator | None:
        """Make recovery codes for an account that has none; ``None``: it has, or has nothing to recover from."""
        lock_account(connection, user_id)
        return self.recovery_codes.add(connection, user_id) if self.are_needed(connection, user_id) else None

    def renew_recovery_codes(self, connection: Connection, user_id: int) -> Authenticator | None:
        """Make a new set, the older one is void; ``None``: the account has nothing to recover from."""
        lock_account(connection, user_id)
        return self.recovery_codes.replace(connection, user_id) if self.are_needed(connection, user_id) else None

    def remove(self, connection: Connection, user_id: int, ids: Collection[int]) -> list[Authenticator]:
        """Take authenticators from an account and return them; recovery codes go with the last of the others."""
        lock_account(connection, user_id)
        owned = authenticators.list_of(connection, user_id)
        gone = [authenticator for authenticator in owned if authenticator.id in ids]
        rest = [authenticator for authenticator in owned if authenticator.id not in ids]
        if all(authenticator.type is FactorType.RECOVERY_CODES for authenticator in rest):
            gone += rest
        authenticators.delete_of(connection, user_id, [authenticator.id for authenticator in gone])
        return gone

    def show(self, authenticator: Authenticator, *, with_codes: bool = False) -> dict[str, Any]:
        """Return an authenticator as clients are shown it; with the codes, when it is a set of them, if asked to."""
        shown = authenticators.show(authenticator)
        if with_codes and authenticator.type is FactorType.RECOVERY_CODES:
            shown["unused_codes"] = self.recovery_codes.unused(authenticator)
        return shown
