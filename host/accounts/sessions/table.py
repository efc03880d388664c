"""The tables of sessions and of logins that are under way."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Column
from sqlmodel import Field

from host.storage.tables import HostTable, JsonColumn, UtcDateTime

AGENT_LENGTH = 200


class AccountSession(HostTable, table=True):
    """What the host keeps of one browser or app between its requests."""

    __tablename__ = "account_session"

    id: int | None = Field(default=None, primary_key=True)
    digest: str = Field(max_length=64, unique=True, repr=False)
    """Of the key: whoever reads the table cannot take over a session."""
    user_id: int | None = Field(default=None, foreign_key="account_user.id", ondelete="CASCADE", index=True)
    password_changed: datetime | None = Field(default=None, sa_column=Column(UtcDateTime))
    """That of the account when it signed in; a later one ends the session."""
    client: str = Field(max_length=10)
    methods: list[dict[str, Any]] = Field(sa_column=Column(JsonColumn, nullable=False))
    data: dict[str, Any] = Field(sa_column=Column(JsonColumn, nullable=False), repr=False)
    """What operations keep from one request to the next: challenges, digests of codes, sealed secrets."""
    user_agent: str = Field(default="", max_length=AGENT_LENGTH)
    address: str = Field(default="", max_length=64)
    created: datetime = Field(sa_column=Column(UtcDateTime, nullable=False))
    last_seen: datetime = Field(sa_column=Column(UtcDateTime, nullable=False))
    expires: datetime = Field(sa_column=Column(UtcDateTime, nullable=False, index=True))


class AccountPendingLogin(HostTable, table=True):
    """A login that still has stages before it."""

    __tablename__ = "account_pending_login"

    session_id: int = Field(primary_key=True, foreign_key="account_session.id", ondelete="CASCADE")
    user_id: int | None = Field(default=None, foreign_key="account_user.id", ondelete="CASCADE", index=True)
    """``None``: there is no such account, and nobody shall notice."""
    stage: str = Field(max_length=40)
    methods: list[dict[str, Any]] = Field(sa_column=Column(JsonColumn, nullable=False))
    facts: dict[str, Any] = Field(sa_column=Column(JsonColumn, nullable=False))
    state: dict[str, Any] = Field(sa_column=Column(JsonColumn, nullable=False), repr=False)
    started: datetime = Field(sa_column=Column(UtcDateTime, nullable=False))


SESSIONS = HostTable.metadata.tables["account_session"]
PENDING = HostTable.metadata.tables["account_pending_login"]
