"""Tokens of providers that were accepted once and must not be again."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Protocol

from sqlalchemy import Column, delete, insert
from sqlalchemy.exc import IntegrityError
from sqlmodel import Field

from host.storage.engine import Database
from host.storage.tables import HostTable, UtcDateTime, now


class AccountSeenToken(HostTable, table=True):
    """That a token was accepted."""

    __tablename__ = "account_seen_token"

    digest: str = Field(max_length=64, primary_key=True)
    expiry: datetime = Field(sa_column=Column(UtcDateTime, nullable=False, index=True))


SEEN = HostTable.metadata.tables["account_seen_token"]


class FirstUse(Protocol):
    """Remembers which tokens were used."""

    def __call__(self, digest: str, expiry: datetime) -> bool:
        """Note that a token is used, and tell whether that is the first time."""


class SeenTokens:
    """Remembers tokens in the database until they expire; of two that use one at a time, one is the first."""

    def __init__(self, database: Database, *, clock: Callable[[], datetime] = now) -> None:
        self._database = database
        self._clock = clock

    def __call__(self, digest: str, expiry: datetime) -> bool:
        """Note that a token is used, and tell whether that is the first time."""
        try:
            with self._database.write() as session:
                connection = session.connection()
                connection.execute(delete(SEEN).where(SEEN.c.expiry < self._clock()))
                connection.execute(insert(SEEN).values(digest=digest, expiry=expiry))
        except IntegrityError:
            return False
        return True
