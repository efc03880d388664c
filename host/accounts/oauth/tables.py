"""The tables of the authorization server. Secrets, codes and tokens are kept as digests only."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Column
from sqlmodel import Field

from host.storage.tables import HostTable, JsonColumn, UtcDateTime

NAME_LENGTH = 100
URI_LENGTH = 2000
DIGEST_LENGTH = 64


class OAuthClient(HostTable, table=True):
    """A program that may act for accounts."""

    __tablename__ = "oauth_client"

    id: int | None = Field(default=None, primary_key=True)
    client_id: str = Field(max_length=32, unique=True)
    name: str = Field(max_length=NAME_LENGTH)
    public: bool = False
    secret_digest: str | None = Field(default=None, max_length=DIGEST_LENGTH, repr=False)
    """``None`` for public clients, which can keep no secret."""
    redirect_uris: list[str] = Field(sa_column=Column(JsonColumn, nullable=False))
    """Empty for a client that acts for its owner alone."""
    scopes: list[str] = Field(sa_column=Column(JsonColumn, nullable=False))
    # A client must never outlive its owner: without one it is no longer held to anybody's rights.
    owner_id: int | None = Field(default=None, foreign_key="account_user.id", ondelete="CASCADE", index=True)
    created: datetime = Field(sa_column=Column(UtcDateTime, nullable=False))


class OAuthGrant(HostTable, table=True):
    """What one account allowed one client at one time; all codes and tokens that come of it end with it."""

    __tablename__ = "oauth_grant"

    id: int | None = Field(default=None, primary_key=True)
    client_id: int = Field(foreign_key="oauth_client.id", ondelete="CASCADE", index=True)
    user_id: int = Field(foreign_key="account_user.id", ondelete="CASCADE", index=True)
    created: datetime = Field(sa_column=Column(UtcDateTime, nullable=False))
    revoked: datetime | None = Field(default=None, sa_column=Column(UtcDateTime))


class OAuthCode(HostTable, table=True):
    """A code that a client exchanges for tokens, once."""

    __tablename__ = "oauth_code"

    id: int | None = Field(default=None, primary_key=True)
    grant_id: int = Field(foreign_key="oauth_grant.id", ondelete="CASCADE", index=True)
    digest: str = Field(max_length=DIGEST_LENGTH, unique=True, repr=False)
    redirect_uri: str = Field(default="", max_length=URI_LENGTH)
    """As the client gave it; empty when it gave none."""
    challenge: str = Field(default="", max_length=128)
    scopes: list[str] = Field(sa_column=Column(JsonColumn, nullable=False))
    expires: datetime = Field(sa_column=Column(UtcDateTime, nullable=False))
    used: datetime | None = Field(default=None, sa_column=Column(UtcDateTime))


class OAuthToken(HostTable, table=True):
    """An access token, and the refresh token that came with it."""

    __tablename__ = "oauth_token"

    id: int | None = Field(default=None, primary_key=True)
    grant_id: int = Field(foreign_key="oauth_grant.id", ondelete="CASCADE", index=True)
    access_digest: str = Field(max_length=DIGEST_LENGTH, unique=True, repr=False)
    refresh_digest: str | None = Field(default=None, max_length=DIGEST_LENGTH, unique=True, repr=False)
    scopes: list[str] = Field(sa_column=Column(JsonColumn, nullable=False))
    created: datetime = Field(sa_column=Column(UtcDateTime, nullable=False))
    expires: datetime = Field(sa_column=Column(UtcDateTime, nullable=False))
    refresh_expires: datetime | None = Field(default=None, sa_column=Column(UtcDateTime))
    refreshed: datetime | None = Field(default=None, sa_column=Column(UtcDateTime))
    """When the refresh token was used; using it again ends the grant."""
    revoked: datetime | None = Field(default=None, sa_column=Column(UtcDateTime))
    """When the access token was ended before its time."""


_TABLES = HostTable.metadata.tables
CLIENTS = _TABLES["oauth_client"]
GRANTS = _TABLES["oauth_grant"]
CODES = _TABLES["oauth_code"]
TOKENS = _TABLES["oauth_token"]
