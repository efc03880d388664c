"""Tokens for programs: shown once, stored as digests."""

from __future__ import annotations

import re
import secrets
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

from sqlalchemy import Column, ColumnElement, Connection, Row, delete, insert, or_, select, update
from sqlmodel import Field

from host.accounts.account import USERS, no_account
from host.accounts.digests import token_digest
from host.accounts.events import Emit, emit_nothing
from host.accounts.problems import Problem, RefusedValuesError
from host.contract.values import Json, User
from host.errors import NotAllowedError, NotFoundError
from host.storage.engine import Database
from host.storage.tables import HostTable, UtcDateTime, now

NAME_LENGTH = 100
LIFETIME = timedelta(days=365)
TOKEN_FORM = re.compile(r"ply-[0-9a-f]{40}-[0-9]{8}", re.ASCII)

_HTML = re.compile(r"<[a-z/!?]", re.IGNORECASE | re.ASCII)
_DROPPED = frozenset({"Cc", "Cs", "Zl", "Zp"})
# What stays readable of a masked token: enough to tell two apart, too little to guess the rest.
_SHOWN_FIRST, _SHOWN_LAST = 8, 12


class AccountToken(HostTable, table=True):
    """A token."""

    __tablename__ = "account_token"

    id: int | None = Field(default=None, primary_key=True)
    user_id: int = Field(foreign_key="account_user.id", ondelete="CASCADE", index=True)
    name: str = Field(default="", max_length=NAME_LENGTH)
    digest: str = Field(max_length=64, unique=True, repr=False)
    masked: str = Field(max_length=64)
    created: datetime = Field(sa_column=Column(UtcDateTime, nullable=False))
    expiry: date
    last_seen: datetime | None = Field(default=None, sa_column=Column(UtcDateTime))
    revoked: bool = False


TOKENS = HostTable.metadata.tables["account_token"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenRecord:
    """A token as its owner sees it; the text itself is gone."""

    id: int
    user: int
    name: str
    token: str
    """Masked."""
    created: datetime
    expiry: date
    """The last day on which it can be used, in UTC."""
    last_seen: datetime | None
    revoked: bool
    active: bool
    """Neither revoked nor expired."""


def clean_token_name(text: str) -> str:
    """Return the name as it is kept: trimmed, without control characters, ``-`` for each blank, 100 at most.

    Raises:
        RefusedValuesError: the name holds HTML.

    """
    printable = "".join(character for character in text if unicodedata.category(character) not in _DROPPED)
    if _HTML.search(printable):
        raise RefusedValuesError({"name": [Problem("invalid", "A token's name may not hold HTML tags.")]})
    return "".join("-" if character.isspace() else character for character in printable.strip())[:NAME_LENGTH]


class Tokens:
    """Issues and revokes tokens.

    Args:
        database: where they are.
        emit: sends ``user.token_made`` and ``user.token_revoked``.
        clock: tells the moment.

    """

    def __init__(self, database: Database, *, emit: Emit = emit_nothing, clock: Callable[[], datetime] = now) -> None:
        self._database = database
        self._emit = emit
        self._clock = clock

    def issue(
        self, user_id: int, name: str = "", expiry: date | None = None, *, by: User | None = None
    ) -> tuple[str, TokenRecord]:
        """Make a token and return its text, which cannot be had again, with its record.

        Other tokens of the same name stay valid.

        Args:
            user_id: whose token.
            name: what it is for; cleaned.
            expiry: last day on which it can be used; by default 365 days from today.
            by: who asks; without it nothing is checked.

        Raises:
            NotAllowedError: somebody other than a superuser asks for another account's token.
            NotFoundError: there is no such active account.
            RefusedValuesError: the name holds HTML, or the expiry date is past.

        """
        if by is not None and by.id != user_id and not by.is_superuser:
            raise NotAllowedError("Only a superuser may make tokens for other accounts.")
        name = clean_token_name(name)
        moment = self._clock()
        today = moment.date()
        expiry = expiry or today + LIFETIME
        if expiry < today:
            raise RefusedValuesError({"expiry": [Problem("invalid", f"{expiry} is past. Give today or a later date.")]})
        text = f"ply-{secrets.token_hex(20)}-{expiry.strftime('%Y%m%d')}"
        row = {
            "user_id": user_id,
            "name": name,
            "digest": token_digest(text),
            "masked": mask(text),
            "created": moment,
            "expiry": expiry,
            "revoked": False,
        }
        with self._database.write() as session:
            connection = session.connection()
            active = select(USERS.c.id).where(USERS.c.id == user_id, USERS.c.is_active.is_(True))
            if connection.execute(active).first() is None:
                raise no_account(user_id)
            token_id = connection.execute(insert(TOKENS).values(**row).returning(TOKENS.c.id)).scalar_one()
            about: dict[str, Json] = {"token": token_id, "name": name, "user": user_id, "expiry": str(expiry)}
            self._emit(session, "user.token_made", about, by.id if by else None)
            return text, _find(connection, token_id, today)

    def get(self, token_id: int, *, by: User) -> TokenRecord:
        """Return a token's record.

        Raises:
            NotFoundError: there is no such token, or it is another account's and the caller no superuser.

        """
        with self._database.read() as connection:
            return _find(connection, token_id, self._clock().date(), *_visible(by))

    def id_of(self, text: str) -> int | None:
        """Return which token has this text, whether it can be used or not; ``None`` when there is none."""
        if not TOKEN_FORM.fullmatch(text):
            return None
        with self._database.read() as connection:
            return connection.execute(select(TOKENS.c.id).where(TOKENS.c.digest == token_digest(text))).scalar()

    def revoke(self, token_id: int, *, by: User) -> TokenRecord:
        """Make a token useless at once; its record stays. Revoking again changes nothing.

        Raises:
            NotFoundError: there is no such token, or it is another account's and the caller no superuser.

        """
        with self._database.write() as session:
            connection = session.connection()
            today = self._clock().date()
            found = _find(connection, token_id, today, *_visible(by))
            usable = (TOKENS.c.id == token_id) & TOKENS.c.revoked.is_(False)
            if connection.execute(update(TOKENS).where(usable).values(revoked=True)).rowcount:
                about: dict[str, Json] = {"token": token_id, "name": found.name, "user": found.user}
                self._emit(session, "user.token_revoked", about, by.id)
            return _find(connection, token_id, today)

    def forget(self, before: date) -> int:
        """Delete the records of tokens that expired before a day, and of revoked ones made before it.

        Returns how many were deleted.
        """
        moment = datetime(before.year, before.month, before.day, tzinfo=UTC)
        old = or_(TOKENS.c.expiry < before, TOKENS.c.revoked.is_(True) & (TOKENS.c.created < moment))
        with self._database.write() as session:
            return session.connection().execute(delete(TOKENS).where(old)).rowcount


def mask(text: str) -> str:
    """Return the text with its middle hidden."""
    hidden = len(text) - _SHOWN_FIRST - _SHOWN_LAST
    return f"{text[:_SHOWN_FIRST]}{'*' * hidden}{text[-_SHOWN_LAST:]}"


_COLUMNS = [TOKENS.c[name] for name in ("id", "user_id", "name", "masked", "created", "expiry", "last_seen", "revoked")]


def _visible(by: User) -> list[ColumnElement[bool]]:
    return [] if by.is_superuser else [TOKENS.c.user_id == by.id]


def _find(connection: Connection, token_id: int, today: date, *conditions: ColumnElement[bool]) -> TokenRecord:
    row = connection.execute(select(*_COLUMNS).where(TOKENS.c.id == token_id, *conditions)).first()
    if row is None:
        raise NotFoundError(f"There is no token {token_id}.")
    return _record(row, today)


def _record(row: Row[Any], today: date) -> TokenRecord:
    return TokenRecord(
        id=row.id,
        user=row.user_id,
        name=row.name,
        token=row.masked,
        created=row.created,
        expiry=row.expiry,
        last_seen=row.last_seen,
        revoked=row.revoked,
        active=not row.revoked and row.expiry >= today,
    )
