"""Clients, codes and tokens as Authlib's server parts ask about them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, ClassVar, Final, Literal

from sqlalchemy import Select, select
from sqlalchemy.engine import Row

from host.accounts.account import USERS
from host.accounts.digests import same_digest, token_digest
from host.accounts.oauth.redirects import is_registered
from host.accounts.oauth.scopes import READ, in_order
from host.accounts.oauth.tables import CLIENTS, GRANTS, TOKENS
from host.contract.values import User

CODE_GRANTS: Final = frozenset({"authorization_code", "refresh_token"})
OWN_GRANTS: Final = frozenset({"client_credentials"})


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownClient:
    """A client that is registered."""

    pk: int
    client_id: str
    name: str
    public: bool
    secret_digest: str | None = field(repr=False)
    redirect_uris: Sequence[str]
    scopes: Sequence[str]
    owner_id: int | None

    @property
    def grant_types(self) -> frozenset[str]:
        """What the client can do: act for people who are sent back to it, or else for its owner."""
        if self.redirect_uris:
            return CODE_GRANTS
        return frozenset() if self.public or self.owner_id is None else OWN_GRANTS

    def get_client_id(self) -> str:
        """Return the public identifier."""
        return self.client_id

    def get_default_redirect_uri(self) -> str | None:
        """Return where to answer a client that does not say; only where there is no choice."""
        return self.redirect_uris[0] if len(self.redirect_uris) == 1 else None

    def get_allowed_scope(self, scope: str | None) -> str | None:
        """Return the scopes to give, ``read`` when none are asked for; ``None`` when the client may not have them."""
        wanted = frozenset((scope or READ).split())
        return " ".join(in_order(wanted)) if wanted and wanted <= frozenset(self.scopes) else None

    def check_redirect_uri(self, redirect_uri: str) -> bool:
        """Tell whether the client may be answered there."""
        return is_registered(redirect_uri, self.redirect_uris, public=self.public)

    def check_client_secret(self, client_secret: str) -> bool:
        """Tell whether it is the client's secret."""
        return self.secret_digest is not None and same_digest(token_digest(client_secret), self.secret_digest)

    def check_endpoint_auth_method(self, method: str, _endpoint: str) -> bool:
        """Tell whether the client may prove itself this way: by its secret, unless it has none."""
        return (method == "none") == self.public

    def check_response_type(self, response_type: str) -> bool:
        """Tell whether the client may ask for this."""
        return response_type == "code" and "authorization_code" in self.grant_types

    def check_grant_type(self, grant_type: str) -> bool:
        """Tell whether the client may use this."""
        return grant_type in self.grant_types


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownCode:
    """A code that can still be used."""

    id: int
    grant_id: int
    redirect_uri: str
    code_challenge: str
    scopes: Sequence[str]
    user: User | None
    """``None`` when the account was switched off."""

    code_challenge_method: ClassVar[str] = "S256"

    def get_redirect_uri(self) -> str:
        """Return the URI that was asked for, empty when there was none."""
        return self.redirect_uri

    def get_scope(self) -> str:
        """Return the scopes that were allowed."""
        return " ".join(self.scopes)


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownToken:
    """An access token or a refresh token, by its text."""

    id: int
    kind: Literal["access_token", "refresh_token"]
    grant_id: int
    client_pk: int
    client_id: str
    scopes: Sequence[str]
    """Those that were allowed and that the client may still have."""
    created: datetime
    expires: datetime
    ended: bool
    """Revoked, or used where it could be used once."""
    expired: bool
    user: User | None

    def check_client(self, client: KnownClient) -> bool:
        """Tell whether the token was given to this client."""
        return self.client_pk == client.pk

    def get_scope(self) -> str:
        """Return the scopes."""
        return " ".join(self.scopes)

    def is_expired(self) -> bool:
        """Tell whether its time is over."""
        return self.expired

    def is_revoked(self) -> bool:
        """Tell whether it was ended before its time."""
        return self.ended or self.user is None


_OWNERS = USERS.alias("owner")
_CLIENT = [
    CLIENTS.c[name] for name in ("id", "client_id", "name", "public", "secret_digest", "redirect_uris", "scopes")
]
_USER = [USERS.c[name] for name in ("username", "email", "is_active", "is_staff", "is_superuser")]
_TOKEN = [TOKENS.c[name] for name in ("grant_id", "created", "expires", "refresh_expires", "refreshed", "revoked")]


def select_client(client_id: str) -> Select[Any]:
    """Find a client whose owner, if there is one, is not switched off."""
    return (
        select(*_CLIENT, CLIENTS.c.owner_id)
        .outerjoin(_OWNERS, _OWNERS.c.id == CLIENTS.c.owner_id)
        .where(CLIENTS.c.client_id == client_id)
        .where(CLIENTS.c.owner_id.is_(None) | _OWNERS.c.is_active.is_(True))
    )


def read_client(row: Row[Any]) -> KnownClient:
    """Return the client of a row of ``select_client``."""
    values = row._asdict()
    return KnownClient(pk=values.pop("id"), **values)


def select_token() -> Select[Any]:
    """Find tokens, with all that decides on their worth."""
    return (
        select(
            TOKENS.c.id,
            *_TOKEN,
            TOKENS.c.scopes,
            GRANTS.c.revoked.label("grant_revoked"),
            GRANTS.c.user_id,
            CLIENTS.c.id.label("client_pk"),
            CLIENTS.c.client_id,
            CLIENTS.c.scopes.label("client_scopes"),
            CLIENTS.c.owner_id,
            _OWNERS.c.is_active.label("owner_is_active"),
            _OWNERS.c.is_staff.label("owner_is_staff"),
            _OWNERS.c.is_superuser.label("owner_is_superuser"),
            *_USER,
        )
        .join(GRANTS, GRANTS.c.id == TOKENS.c.grant_id)
        .join(CLIENTS, CLIENTS.c.id == GRANTS.c.client_id)
        .join(USERS, USERS.c.id == GRANTS.c.user_id)
        .outerjoin(_OWNERS, _OWNERS.c.id == CLIENTS.c.owner_id)
    )


def read_token(row: Row[Any], kind: Literal["access_token", "refresh_token"], moment: datetime) -> KnownToken:
    """Return the token of a row of ``select_token``."""
    access = kind == "access_token"
    expires = row.expires if access or row.refresh_expires is None else row.refresh_expires
    own = row.revoked if access else row.refreshed
    return KnownToken(
        id=row.id,
        kind=kind,
        grant_id=row.grant_id,
        client_pk=row.client_pk,
        client_id=row.client_id,
        scopes=in_order(frozenset(row.scopes) & frozenset(row.client_scopes)),
        created=row.created,
        expires=expires,
        ended=own is not None or row.grant_revoked is not None or row.owner_is_active is False,
        expired=expires <= moment,
        user=read_user(row),
    )


def read_user(row: Row[Any]) -> User | None:
    """Return the account of a row; ``None`` when it is switched off."""
    if not row.is_active:
        return None
    return User(
        id=row.user_id,
        username=row.username,
        email=row.email,
        is_staff=row.is_staff,
        is_superuser=row.is_superuser,
    )
