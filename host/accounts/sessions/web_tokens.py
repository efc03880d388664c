"""JSON Web Tokens of apps: a short-lived one that stands for the session, and one that renews it."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import OctKey, RSAKey
from sqlalchemy import select

from host.accounts.account import USERS
from host.accounts.area import Area
from host.accounts.problems import Problem, RefusedValuesError
from host.accounts.refusals import SessionGoneError
from host.accounts.sessions.sessions import Sessions
from host.accounts.sessions.state import Caller, Client
from host.accounts.sessions.visit import Visit, Work
from host.contract.values import User
from host.errors import RefusedError

Use = Literal["access", "refresh"]

_PURPOSE = "web tokens"
_KEPT = "refresh_tokens"
_RSA_BITS = 2048
# Nobody renews that often without rotation; with it there is one.
_MOST_KEPT = 50
_LONGEST = 8192


class BadTokenError(RefusedError):
    """A refresh token is forged, over, used, or of a session that is over."""

    def __init__(self) -> None:
        super().__init__("This refresh token is of no use any more. Sign in again.")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Claims:
    id: str
    user_id: int
    key: str


def new_rsa_key() -> str:
    """Make a private key, as PEM."""
    key = rsa.generate_private_key(public_exponent=65_537, key_size=_RSA_BITS)
    form = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    return key.private_bytes(*form).decode()


class WebTokens:
    """Makes and reads them.

    Args:
        area: what account services share.
        sessions: finds sessions.
        rsa_key: PEM of a private key; used for RS256 only.

    Raises:
        ValueError: the key cannot be used.

    """

    def __init__(self, area: Area, sessions: Sessions, rsa_key: str = "") -> None:
        self._area = area
        self._sessions = sessions
        self.enabled = area.options.headless_token_strategy == "jwt"  # noqa: S105 - a strategy
        self._algorithm = area.options.headless_jwt_algorithm
        self._key: OctKey | RSAKey | None = None
        if self.enabled:
            self._key = _rsa(rsa_key) if self._algorithm == "RS256" else _shared(area)

    def issue(self, visit: Visit) -> Mapping[str, str]:
        """Return the tokens for an app that has just signed in; earlier ones of the session are void."""
        if not self.enabled or visit.caller.client is not Client.APP:
            return {}
        with visit.work() as work:
            if work.account is None:
                return {}
            work.keep(_KEPT, None)
            return {"access_token": self._make(work, "access"), "refresh_token": self._make(work, "refresh")}

    def key_of(self, text: str) -> str:
        """Return the key of the session for which an access token stands; empty when the token is no good."""
        claims = self._read(text, "access")
        return claims.key if claims else ""

    def user_of(self, text: str) -> User | None:
        """Return for whom an access token stands; ``None`` when it is no good.

        Where the configuration says so, or everybody has to use a second factor, its session is looked at too.

        Raises:
            FactorNeededError: everybody has to use a second factor, and the session was begun without one.

        """
        claims = self._read(text, "access")
        if claims is None:
            return None
        options = self._area.options
        if not options.headless_jwt_stateful_validation_enabled and not options.login_enforce_mfa:
            return self._user(claims.user_id)
        try:
            user = self._sessions.user_of(claims.key)
        except SessionGoneError:
            return None
        return user if user is not None and user.id == claims.user_id else None

    def refresh(self, caller: Caller, text: str) -> Mapping[str, str]:
        """Return a new access token and, where refresh tokens serve only once, a new one of these.

        Raises:
            RefusedValuesError: the token is missing.
            BadTokenError: it is no good.

        """
        if not text:
            raise RefusedValuesError({"refresh_token": [Problem("required", "Send the refresh token.")]})
        claims = self._read(text, "refresh")
        if claims is None:
            raise BadTokenError
        try:
            visit = Visit(self._area, replace(caller, client=Client.APP, key=claims.key))
        except SessionGoneError:
            raise BadTokenError from None
        with visit.work() as work:
            kept = work.data(_KEPT) or {}
            if work.account is None or work.account.id != claims.user_id or claims.id not in kept:
                raise BadTokenError
            if not self._area.options.headless_jwt_rotate_refresh_token:
                return {"access_token": self._make(work, "access")}
            work.keep(_KEPT, {name: end for name, end in kept.items() if name != claims.id})
            return {"access_token": self._make(work, "access"), "refresh_token": self._make(work, "refresh")}

    def _make(self, work: Work, use: Use) -> str:
        options, moment = self._area.options, int(work.now.timestamp())
        life = options.headless_jwt_access_token_expires_in
        if use == "refresh":
            life = options.headless_jwt_refresh_token_expires_in
        claims: dict[str, Any] = {
            "iat": moment,
            "exp": moment + life,
            "jti": str(uuid.uuid4()),
            "sub": str(work.account.id if work.account else ""),
            "token_use": use,
            # Sealed: a token that leaks must not become the key of the session, which lives longer.
            "sid": self._area.seals.seal(_PURPOSE, work.visit.key),
        }
        if use == "refresh":
            kept = {name: end for name, end in (work.data(_KEPT) or {}).items() if end > moment}
            work.keep(_KEPT, {**dict(list(kept.items())[1 - _MOST_KEPT :]), claims["jti"]: claims["exp"]})
        return jwt.encode({"alg": self._algorithm}, claims, self._signing_key)

    def _read(self, text: str, use: Use) -> _Claims | None:
        if not self.enabled or len(text) > _LONGEST:
            return None
        try:
            # The algorithm is ours to say, not the token's.
            claims = jwt.decode(text, self._signing_key, algorithms=[self._algorithm]).claims
            if claims["token_use"] != use or not _lives(claims, self._area.clock()):
                return None
            key = self._area.seals.open(_PURPOSE, claims["sid"])
            return _Claims(id=claims["jti"], user_id=int(claims["sub"]), key=key)
        except (JoseError, ValueError, KeyError, TypeError):
            return None

    @property
    def _signing_key(self) -> OctKey | RSAKey:
        if self._key is None:
            msg = "there are no web tokens"
            raise RuntimeError(msg)
        return self._key

    def _user(self, user_id: int) -> User | None:
        columns = [USERS.c[name] for name in ("id", "username", "email", "is_staff", "is_superuser")]
        with self._area.database.read() as connection:
            row = connection.execute(select(*columns).where(USERS.c.id == user_id, USERS.c.is_active.is_(True))).first()
        return User(**row._mapping) if row is not None else None  # noqa: SLF001 - the public name of a row's values


def _lives(claims: Mapping[str, Any], moment: datetime) -> bool:
    return int(claims["exp"]) > moment.timestamp()


def _shared(area: Area) -> OctKey:
    return OctKey.import_key(area.seals.digest(_PURPOSE, "HS256"))


def _rsa(pem: str) -> RSAKey:
    try:
        key = RSAKey.import_key(pem)
    except (JoseError, ValueError) as error:
        msg = "PLUGYARD_HEADLESS_JWT_PRIVATE_KEY is no RSA key in PEM. Give one, or leave it empty to have one made."
        raise ValueError(msg) from error
    if not key.is_private:
        msg = "PLUGYARD_HEADLESS_JWT_PRIVATE_KEY is a public key. Give the private one."
        raise ValueError(msg)
    return key
