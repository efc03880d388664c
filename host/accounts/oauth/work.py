"""What one request to the authorization server does to the database."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import TracebackType
from typing import Any, Final, Literal, Self

from sqlalchemy import ColumnElement, Row, insert, select, update
from sqlalchemy.orm import Session

from host.accounts.account import USERS
from host.accounts.digests import token_digest
from host.accounts.events import Emit
from host.accounts.oauth.known import (
    KnownClient,
    KnownCode,
    KnownToken,
    read_client,
    read_token,
    read_user,
    select_client,
    select_token,
)
from host.accounts.oauth.tables import CLIENTS, CODES, GRANTS, TOKENS
from host.contract.values import User
from host.storage.engine import Database

ACCESS_PREFIX: Final = "plo-"
REFRESH_PREFIX: Final = "plr-"
_CODE_LIFETIME = timedelta(minutes=2)
_CLIENT_ID_LENGTH = 32


def new_secret(prefix: str = "") -> str:
    """Return a text that nobody can guess."""
    return prefix + secrets.token_urlsafe(32)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lifetimes:
    """How long tokens can be used, in seconds."""

    access: int = 3600
    refresh: int = 30 * 86_400


class Work:
    """The work of one request: it reads at once, and writes in one transaction that begins when it is first needed.

    So whoever cannot prove to be a client never holds up those who write. Leaving the context commits.

    Args:
        database: where everything is.
        emit: stores an event as part of the transaction.
        lifetimes: of the tokens that are given.
        moment: now, for everything in this request.

    """

    def __init__(self, database: Database, emit: Emit, lifetimes: Lifetimes, moment: datetime) -> None:
        self._database = database
        self._emit = emit
        self._lifetimes = lifetimes
        self._moment = moment
        self._stack = ExitStack()
        self._session: Session | None = None

    def __enter__(self) -> Self:
        """Begin; nothing is opened yet."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Commit what was written, or undo it after an error."""
        self._stack.__exit__(kind, error, trace)

    @property
    def _writing(self) -> Session:
        if self._session is None:
            self._session = self._stack.enter_context(self._database.write())
        return self._session

    # -- clients --------------------------------------------------------------------------------------------------

    def client(self, client_id: str) -> KnownClient | None:
        """Return the client that has this identifier and may be used."""
        if len(client_id) != _CLIENT_ID_LENGTH or not client_id.isalnum():
            return None
        with self._database.read() as connection:
            row = connection.execute(select_client(client_id)).first()
        return None if row is None else read_client(row)

    # -- grants ---------------------------------------------------------------------------------------------------

    def allow(self, client: KnownClient, user_id: int) -> int | None:
        """Note that an account lets a client act for it; ``None`` when either has gone."""
        connection = self._writing.connection()
        both = select(CLIENTS.c.id).where(
            CLIENTS.c.id == client.pk, select(USERS.c.id).where(USERS.c.id == user_id).exists()
        )
        if connection.execute(both.with_for_update(read=True)).first() is None:
            return None
        values = {"client_id": client.pk, "user_id": user_id, "created": self._moment}
        return int(connection.execute(insert(GRANTS).values(values).returning(GRANTS.c.id)).scalar_one())

    def end(self, grant_id: int, client_id: str, user_id: int | None, reason: str) -> None:
        """End a grant with everything that came of it; ending it again changes nothing."""
        alive = (GRANTS.c.id == grant_id) & GRANTS.c.revoked.is_(None)
        ended = self._writing.connection().execute(update(GRANTS).where(alive).values(revoked=self._moment))
        if ended.rowcount:
            data = {"client": client_id, "reason": reason, "what": "grant"}
            self._emit(self._writing, "oauth.token_revoked", data, user_id)

    # -- codes ----------------------------------------------------------------------------------------------------

    def save_code(self, code: str, grant_id: int, *, redirect_uri: str, challenge: str, scopes: Sequence[str]) -> None:
        """Keep a code that was just made."""
        values = {
            "grant_id": grant_id,
            "digest": token_digest(code),
            "redirect_uri": redirect_uri,
            "challenge": challenge,
            "scopes": list(scopes),
            "expires": self._moment + _CODE_LIFETIME,
        }
        self._writing.connection().execute(insert(CODES).values(values))

    def take_code(self, text: str, client: KnownClient) -> KnownCode | None:
        """Return a code that this client may use now; nobody else can use it before the transaction ends.

        A code that was used already ends the grant: one of the two who had it has stolen it.
        """
        statement = (
            select(CODES, GRANTS.c.user_id, GRANTS.c.revoked.label("grant_revoked"))
            .add_columns(*(USERS.c[name] for name in ("username", "email", "is_active", "is_staff", "is_superuser")))
            .join(GRANTS, GRANTS.c.id == CODES.c.grant_id)
            .join(USERS, USERS.c.id == GRANTS.c.user_id)
            .where(CODES.c.digest == token_digest(text), GRANTS.c.client_id == client.pk)
            .with_for_update(of=[CODES, GRANTS])
        )
        row = self._writing.connection().execute(statement).first()
        if row is None:
            return None
        if row.used is not None:
            self.end(row.grant_id, client.client_id, row.user_id, "a code was used twice")
            return None
        if row.expires <= self._moment or row.grant_revoked is not None:
            return None
        return KnownCode(
            id=row.id,
            grant_id=row.grant_id,
            redirect_uri=row.redirect_uri,
            code_challenge=row.challenge,
            scopes=row.scopes,
            user=read_user(row),
        )

    def use_code(self, code: KnownCode) -> None:
        """Note that a code was used."""
        used = update(CODES).where(CODES.c.id == code.id).values(used=self._moment)
        self._writing.connection().execute(used)

    # -- tokens ---------------------------------------------------------------------------------------------------

    def token(self, text: str) -> KnownToken | None:
        """Return the token that has this text, whatever it is worth."""
        digest = token_digest(text)
        with self._database.read() as connection:
            for kind, column in _DIGESTS:
                row = connection.execute(select_token().where(column == digest)).first()
                if row is not None:
                    return read_token(row, kind, self._moment)
        return None

    def take_refresh_token(self, text: str, client: KnownClient) -> KnownToken | None:
        """Return a refresh token that this client may use now; nobody else can before the transaction ends.

        One that was used already ends the grant: one of the two who had it has stolen it.
        """
        row = self._locked(TOKENS.c.refresh_digest == token_digest(text))
        if row is None or row.client_pk != client.pk:
            return None
        if row.refreshed is not None:
            self.end(row.grant_id, row.client_id, row.user_id, "a refresh token was used twice")
            return None
        token = read_token(row, "refresh_token", self._moment)
        return None if token.is_revoked() or token.is_expired() else token

    def _locked(self, condition: ColumnElement[bool]) -> Row[Any] | None:
        statement = select_token().where(condition).with_for_update(of=[TOKENS, GRANTS])
        return self._writing.connection().execute(statement).first()

    def use_refresh_token(self, token: KnownToken) -> None:
        """Note that a refresh token was used; the access token that came with it ends."""
        values = {"refreshed": self._moment, "revoked": self._moment}
        self._writing.connection().execute(update(TOKENS).where(TOKENS.c.id == token.id).values(values))

    def save_tokens(
        self,
        texts: tuple[str, str | None],
        grant_id: int,
        scopes: Sequence[str],
        *,
        client_id: str,
        user: User,
        by: str,
    ) -> None:
        """Keep an access token and, where there is one, its refresh token; ``by`` is how the client got them."""
        access, refresh = texts
        values = {
            "grant_id": grant_id,
            "access_digest": token_digest(access),
            "refresh_digest": None if refresh is None else token_digest(refresh),
            "scopes": list(scopes),
            "created": self._moment,
            "expires": self._moment + timedelta(seconds=self._lifetimes.access),
            "refresh_expires": None if refresh is None else self._moment + timedelta(seconds=self._lifetimes.refresh),
        }
        self._writing.connection().execute(insert(TOKENS).values(values))
        data = {"client": client_id, "grant_type": by, "scopes": list(scopes)}
        self._emit(self._writing, "oauth.token_issued", data, user.id)

    def revoke(self, token: KnownToken) -> None:
        """End an access token alone, or with a refresh token the whole grant; again changes nothing."""
        user_id = None if token.user is None else token.user.id
        if token.kind == "refresh_token":
            self.end(token.grant_id, token.client_id, user_id, "revoked by the client")
            return
        alive = (TOKENS.c.id == token.id) & TOKENS.c.revoked.is_(None)
        ended = self._writing.connection().execute(update(TOKENS).where(alive).values(revoked=self._moment))
        if ended.rowcount:
            data = {"client": token.client_id, "reason": "revoked by the client", "what": "access_token"}
            self._emit(self._writing, "oauth.token_revoked", data, user_id)

    def owner(self, client: KnownClient) -> User | None:
        """Return the account for which a client acts on its own; ``None`` when it may not."""
        columns = [USERS.c[name] for name in ("username", "email", "is_active", "is_staff", "is_superuser")]
        with self._database.read() as connection:
            statement = select(USERS.c.id.label("user_id"), *columns).where(USERS.c.id == client.owner_id)
            row = connection.execute(statement).first()
        return None if row is None else read_user(row)


_DIGESTS: Final[tuple[tuple[Literal["access_token", "refresh_token"], Any], ...]] = (
    ("access_token", TOKENS.c.access_digest),
    ("refresh_token", TOKENS.c.refresh_digest),
)
