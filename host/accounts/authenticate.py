"""Who is there: accounts found by token, or by name and password."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sqlalchemy import Row, bindparam, case, or_, select, update
from sqlalchemy.exc import SQLAlchemyError

from host.accounts.account import USERS
from host.accounts.addresses import clean_email
from host.accounts.digests import VerifiedPasswords, same_digest, token_digest
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


class Authenticate:
    """Finds the account behind what a request carries.

    Args:
        database: where accounts and tokens are.
        passwords: hashes and checks.
        verified: remembers right passwords for a short while.
        sightings: writes when tokens were used.

    """

    def __init__(
        self,
        database: Database,
        passwords: Passwords,
        *,
        verified: VerifiedPasswords | None = None,
        sightings: Sightings | None = None,
    ) -> None:
        self._database = database
        self._passwords = passwords
        self._verified = verified or VerifiedPasswords()
        self._sightings = sightings or Sightings(database)

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

    def by_password(self, name: str, password: str) -> Authenticated:
        """Return the account that has this name and password.

        A right password is remembered for a short while, so that repeated requests do not each cost a full check. The
        account is read each time: a new password and a switched off account count at once.

        Args:
            name: username in any case, or an e-mail address that exactly one account has.
            password: as typed.

        Raises:
            NotSignedInError: there is no such pair, or the account is switched off.
            UnavailableError: too many passwords are being checked.

        """
        row = self._named_row(name)
        if not self._fits(row, name, password) or row is None:
            raise NotSignedInError("The username or the password is wrong.")
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
        by_name = USERS.c.username_folded == fold_username(name)
        by_email = USERS.c.email == clean_email(name)
        statement = (
            select(USERS.c.id, USERS.c.password_hash, by_name.label("by_name"), *_USER_COLUMNS)
            .where(or_(by_name, by_email))
            .order_by(case((by_name, 0), else_=1), USERS.c.id)
            .limit(2)
        )
        with self._database.read() as connection:
            rows = connection.execute(statement).all()
        return rows[0] if rows and (len(rows) == 1 or rows[0].by_name) else None

    def _fits(self, row: Row[Any] | None, name: str, password: str) -> bool:
        if row is None or row.password_hash is None:
            # Equal attempts share one check, like those with an account: the time must not tell the two apart.
            return self._passwords.check(None, password, proof=self._verified.proof(0, name, password))
        proof = self._verified.proof(row.id, row.password_hash, password)
        if proof.is_known():
            return True
        if not self._passwords.check(row.password_hash, password, proof=proof):
            return False
        if self._passwords.needs_rehash(row.password_hash):
            self._renew(row, password)
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
