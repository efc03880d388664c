"""Who is there: accounts found by token, or by name and password."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

from sqlalchemy import Row, Select, bindparam, select, update
from sqlalchemy.exc import SQLAlchemyError

from host.accounts.account import USERS
from host.accounts.digests import VerifiedPasswords, same_digest, token_digest
from host.accounts.emails.owners import owner_for_login
from host.accounts.factors.authenticators import AUTHENTICATORS
from host.accounts.passwords import Passwords
from host.accounts.sightings import Sightings
from host.accounts.tokens import TOKEN_FORM, TOKENS
from host.accounts.usernames import fold_username
from host.contract.values import User
from host.errors import NotSignedInError, UnavailableError
from host.storage.engine import Database
from host.storage.tables import now

_LOG = logging.getLogger("plugyard.accounts")

_USER_COLUMNS = [USERS.c[name] for name in ("username", "email", "is_active", "is_staff", "is_superuser")]
_LONGEST_NAME = 512
# Built once: making a statement costs as much as running it, and this one runs with nearly every request.
_BY_TOKEN = (
    select(
        TOKENS.c.id.label("token_id"),
        TOKENS.c.user_id,
        TOKENS.c.digest,
        TOKENS.c.revoked,
        TOKENS.c.expiry,
        TOKENS.c.last_seen,
        *_USER_COLUMNS,
    )
    .join(USERS, USERS.c.id == TOKENS.c.user_id)
    .where(TOKENS.c.digest == bindparam("digest"))
)

_ACCOUNTS: Select[Any] = select(
    USERS.c.id,
    USERS.c.password_hash,
    *_USER_COLUMNS,
    select(AUTHENTICATORS.c.id).where(AUTHENTICATORS.c.user_id == USERS.c.id).exists().label("has_factor"),
)
_BY_NAME = _ACCOUNTS.where(USERS.c.username_folded == bindparam("folded"))
_BY_ID = _ACCOUNTS.where(USERS.c.id == bindparam("owner"))


class Scheme(StrEnum):
    """By what somebody proved who they are."""

    TOKEN = "token"  # noqa: S105 - the name of a scheme
    BASIC = "basic"
    SESSION = "session"


@dataclass(frozen=True, slots=True, kw_only=True)
class Authenticated:
    """Somebody who proved who they are."""

    user: User
    scheme: Scheme
    token_id: int | None = None


class Guard(Protocol):
    """Stands between a password and its account; each of its methods raises ``NotSignedInError``."""

    def admit(self, address: str, name: str) -> None:
        """Let a password be checked, unless too many were wrong lately."""

    def note_failure(self, address: str, name: str, user_id: int | None) -> None:
        """Count a wrong password."""

    def demand_nothing_more(self, user_id: int) -> None:
        """Let a right password be enough, unless the account has to prove more."""


class Authenticate:
    """Finds the account behind what a request carries.

    Args:
        database: where accounts and tokens are.
        passwords: hashes and checks.
        verified: remembers right passwords for a short while.
        sightings: writes when tokens were used.
        guard: gives what limits the use of passwords; without it nothing does.

    """

    def __init__(
        self,
        database: Database,
        passwords: Passwords,
        *,
        verified: VerifiedPasswords | None = None,
        sightings: Sightings | None = None,
        guard: Callable[[], Guard] | None = None,
    ) -> None:
        self._database = database
        self._passwords = passwords
        self._verified = verified or VerifiedPasswords()
        self._sightings = sightings or Sightings(database)
        self._guard = guard

    def by_token(self, text: str) -> Authenticated:
        """Return the account that a token belongs to.

        Raises:
            NotSignedInError: the token is unknown, revoked or expired, or its account switched off.

        """
        row = self._token_row(text)
        if row is None:
            raise NotSignedInError("This token is unknown. Check that it was copied completely, or make a new one.")
        if row.revoked:
            raise NotSignedInError("This token was revoked. Make a new one.")
        if row.expiry < now().date():
            raise NotSignedInError(f"This token expired on {row.expiry}. Make a new one.")
        user = _active_user(row, row.user_id)
        self._sightings.note(row.token_id, row.last_seen)
        return Authenticated(user=user, scheme=Scheme.TOKEN, token_id=row.token_id)

    def by_password(self, name: str, password: str, *, address: str = "") -> Authenticated:
        """Return the account that has this name and password.

        A right password is remembered for a short while, so that repeated requests do not each cost a full check. The
        account is read each time: a new password and a switched off account count at once.

        Args:
            name: username in any case, or an e-mail address, which means an account as it does at a login.
            password: as typed.
            address: where the request comes from.

        Raises:
            NotSignedInError: there is no such pair, there were too many wrong ones, the account is switched off, or it
                has a second factor.
            UnavailableError: too many passwords are being checked.

        """
        row = self._named_row(name)
        guard = self._guard() if self._guard is not None else None
        if not self._fits(row, name, password, address, guard) or row is None:
            raise NotSignedInError("The username or the password is wrong.")
        if row.has_factor and guard is not None:
            guard.demand_nothing_more(row.id)
        return Authenticated(user=_active_user(row, row.id), scheme=Scheme.BASIC)

    def flush(self) -> None:
        """Write what is gathered in memory; call it as the host stops."""
        self._sightings.flush()

    def _token_row(self, text: str) -> Row[Any] | None:
        if not TOKEN_FORM.fullmatch(text):
            return None
        digest = token_digest(text)
        with self._database.read() as connection:
            row = connection.execute(_BY_TOKEN, {"digest": digest}).first()
        return row if row is not None and same_digest(row.digest, digest) else None

    def _named_row(self, name: str) -> Row[Any] | None:
        if not name.strip() or len(name) > _LONGEST_NAME or not name.isprintable():
            return None
        with self._database.read() as connection:
            row = connection.execute(_BY_NAME, {"folded": fold_username(name)}).first()
            if row is not None:
                return row
            owner = owner_for_login(connection, name)
            return None if owner is None else connection.execute(_BY_ID, {"owner": owner}).first()

    def _fits(self, row: Row[Any] | None, name: str, password: str, address: str, guard: Guard | None) -> bool:
        # Equal attempts without an account share one check, like those with one: the time must not tell them apart.
        known = row if row is not None and row.password_hash is not None else None
        proof = self._verified.proof(known.id, known.password_hash, password) if known else None
        if proof is not None and proof.is_known():
            return True
        if guard is not None:
            guard.admit(address, name)
        fits = self._passwords.check(
            known.password_hash if known else None,
            password,
            proof=proof or self._verified.proof(0, name, password),
        )
        if not fits:
            if guard is not None:
                guard.note_failure(address, name, row.id if row is not None else None)
            return False
        if known is not None and self._passwords.needs_rehash(known.password_hash):
            self._renew(known, password)
        return True

    def _renew(self, row: Row[Any], password: str) -> None:
        unchanged = (USERS.c.id == row.id) & (USERS.c.password_hash == row.password_hash)
        try:
            renewed = self._passwords.hash(password)
            with self._database.write() as session:
                session.connection().execute(update(USERS).where(unchanged).values(password_hash=renewed))
        except (SQLAlchemyError, UnavailableError):
            _LOG.exception("The password of user %d could not be stored with today's parameters.", row.id)
        else:
            self._verified.proof(row.id, renewed, password).remember()


def _active_user(row: Row[Any], user_id: int) -> User:
    if not row.is_active:
        raise NotSignedInError("This account is switched off. Ask an administrator to switch it on.")
    return User(
        id=user_id,
        username=row.username,
        email=row.email,
        is_staff=row.is_staff,
        is_superuser=row.is_superuser,
    )
