"""Clients: the programs that may act for accounts, and their registration."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Row, delete, insert, select, update

from host.accounts.account import USERS, no_account
from host.accounts.digests import token_digest
from host.accounts.events import Emit
from host.accounts.oauth.redirects import redirect_problem
from host.accounts.oauth.scopes import READ, SCOPES, in_order
from host.accounts.oauth.tables import CLIENTS, CODES, GRANTS, NAME_LENGTH, TOKENS
from host.accounts.oauth.work import new_secret
from host.accounts.problems import Problem, refuse
from host.contract.values import Json, User
from host.errors import NotFoundError
from host.storage.engine import Database
from host.storage.tables import now

MOST_URIS: Final = 20
_PREFIX: Final = "plc-"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientRecord:
    """A client as those who manage it see it; the secret itself is gone."""

    id: int
    client_id: str
    name: str
    public: bool
    redirect_uris: Sequence[str]
    scopes: Sequence[str]
    owner_id: int | None
    created: datetime


class Clients:
    """Registers, changes and removes clients.

    A client with redirect URIs acts for the people who allow it; one without acts for its owner.

    Args:
        database: where they are.
        emit: stores an event as part of a transaction.
        clock: the present moment.

    """

    def __init__(self, database: Database, emit: Emit, clock: Callable[[], datetime] = now) -> None:
        self._database = database
        self._emit = emit
        self._clock = clock

    def create(
        self,
        name: str,
        *,
        owner_id: int | None,
        redirect_uris: Sequence[str] = (),
        scopes: Sequence[str] = (READ,),
        public: bool = False,
        by: User | None = None,
    ) -> tuple[ClientRecord, str | None]:
        """Register a client and return its record with its secret, which cannot be had again.

        Args:
            name: what people are shown when they are asked to allow it.
            owner_id: the account to whose rights the client is held; ``None`` holds it to nobody's.
            redirect_uris: where it may have people sent back to.
            scopes: the most it may ask for.
            public: it runs where it can keep no secret, and gets none.
            by: who registers it, for the event.

        Raises:
            NotFoundError: there is no such active account.
            RefusedValuesError: a value is refused, or the client could do nothing.

        """
        values: dict[str, Any] = {"name": name.strip(), "redirect_uris": list(redirect_uris), "scopes": list(scopes)}
        problems = _problems(values, public=public)
        if not redirect_uris and (public or owner_id is None):
            text = "Name a redirect URI; only a client with a secret and an owner can act without one."
            problems.setdefault("redirect_uris", []).append(Problem("required", text))
        refuse(problems)
        secret = None if public else new_secret(_PREFIX)
        client_id = secrets.token_hex(16)
        row = {
            **values,
            "scopes": in_order(scopes),
            "client_id": client_id,
            "public": public,
            "secret_digest": None if secret is None else token_digest(secret),
            "owner_id": owner_id,
            "created": self._clock(),
        }
        with self._database.write() as session:
            connection = session.connection()
            if owner_id is not None:
                active = select(USERS.c.id).where(USERS.c.id == owner_id, USERS.c.is_active.is_(True))
                if connection.execute(active).first() is None:
                    raise no_account(owner_id)
            pk = connection.execute(insert(CLIENTS).values(row).returning(CLIENTS.c.id)).scalar_one()
            data: dict[str, Json] = {"client": client_id, "name": name.strip(), "owner": owner_id}
            self._emit(session, "oauth.client_made", data, owner_id if by is None else by.id)
            return _find(connection, CLIENTS.c.id == pk), secret

    def list(self) -> list[ClientRecord]:
        """Return all clients, the oldest first."""
        with self._database.read() as connection:
            return [_record(row) for row in connection.execute(select(*_COLUMNS).order_by(CLIENTS.c.id))]

    def change(self, pk: int, changes: Mapping[str, Any], *, by: User) -> ClientRecord:
        """Change the name, redirect URIs or scopes of a client; scopes that it loses its tokens lose at once.

        Raises:
            NotFoundError: there is no such client, or it is another account's and the caller no superuser.
            RefusedValuesError: a value is refused.

        """
        with self._database.write() as session:
            connection = session.connection()
            record = _find(connection, CLIENTS.c.id == pk, *visible_to(by))
            values = {name: changes[name] for name in ("name", "redirect_uris", "scopes") if name in changes}
            problems = _problems(values, public=record.public)
            if "redirect_uris" in values and bool(values["redirect_uris"]) != bool(record.redirect_uris):
                text = "A client either has redirect URIs or acts for its owner, for good. Register another one."
                problems.setdefault("redirect_uris", []).append(Problem("invalid", text))
            refuse(problems)
            if "scopes" in values:
                values["scopes"] = in_order(values["scopes"])
            if values:
                connection.execute(update(CLIENTS).where(CLIENTS.c.id == pk).values(values))
            return _find(connection, CLIENTS.c.id == pk)

    def remove(self, key: int | str, *, by: User | None = None) -> ClientRecord:
        """Remove a client with all its tokens, and return what it was.

        Args:
            key: its primary key or its public identifier.
            by: who asks; without it nothing is checked.

        Raises:
            NotFoundError: there is no such client, or it is another account's and the caller no superuser.

        """
        condition = CLIENTS.c.id == key if isinstance(key, int) else CLIENTS.c.client_id == key
        with self._database.write() as session:
            connection = session.connection()
            record = _find(connection, condition, *(() if by is None else visible_to(by)))
            connection.execute(delete(CLIENTS).where(CLIENTS.c.id == record.id))
            data: dict[str, Json] = {"client": record.client_id, "name": record.name, "owner": record.owner_id}
            self._emit(session, "oauth.client_removed", data, None if by is None else by.id)
        return record

    def forget(self, before: datetime) -> int:
        """Delete what clients were allowed before a moment and can use no more; return how many grants that were."""
        moment = self._clock()
        usable = select(TOKENS.c.id).where(
            TOKENS.c.grant_id == GRANTS.c.id, (TOKENS.c.expires > moment) | (TOKENS.c.refresh_expires > moment)
        )
        waiting = select(CODES.c.id).where(CODES.c.grant_id == GRANTS.c.id, CODES.c.expires > moment)
        old = GRANTS.c.created < before
        with self._database.write() as session:
            connection = session.connection()
            over = GRANTS.c.revoked.is_not(None) | (~usable.exists() & ~waiting.exists())
            return connection.execute(delete(GRANTS).where(old, over)).rowcount


def visible_to(user: User) -> tuple[ColumnElement[bool], ...]:
    """Return the condition for the clients that an account may manage: superusers all, others their own."""
    return () if user.is_superuser else (CLIENTS.c.owner_id == user.id,)


_COLUMNS = [
    CLIENTS.c[name] for name in ("id", "client_id", "name", "public", "redirect_uris", "scopes", "owner_id", "created")
]


def _record(row: Row[Any]) -> ClientRecord:
    return ClientRecord(**row._asdict())


def _find(connection: Connection, *conditions: ColumnElement[bool]) -> ClientRecord:
    row = connection.execute(select(*_COLUMNS).where(*conditions)).first()
    if row is None:
        raise NotFoundError("There is no such client, or it is not yours. List those that there are.")
    return _record(row)


def _problems(values: Mapping[str, Any], *, public: bool) -> dict[str, list[Problem]]:
    problems: dict[str, list[Problem]] = {}
    if "name" in values:
        name = values["name"]
        if not name:
            problems["name"] = [Problem("required", "Give the name that people are shown.")]
        elif len(name) > NAME_LENGTH or not name.isprintable():
            text = f"A client's name has at most {NAME_LENGTH} characters, all of which can be seen."
            problems["name"] = [Problem("invalid", text)]
    if "redirect_uris" in values:
        uris = values["redirect_uris"]
        texts = [problem for uri in uris if (problem := redirect_problem(uri, public=public))]
        if len(uris) > MOST_URIS:
            texts.append(f"A client has at most {MOST_URIS} redirect URIs.")
        problems["redirect_uris"] = [Problem("invalid", text) for text in texts]
    if "scopes" in values and (not values["scopes"] or not set(values["scopes"]) <= set(SCOPES)):
        text = f"Give one or more of the scopes {', '.join(SCOPES)}."
        problems["scopes"] = [Problem("invalid_choice", text)]
    return problems
