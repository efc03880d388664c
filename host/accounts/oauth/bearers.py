"""Access tokens in use: who calls with one, and what it allows."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Row, bindparam

from host.accounts.digests import token_digest
from host.accounts.oauth.known import read_token, select_token
from host.accounts.oauth.scopes import STAFF
from host.accounts.oauth.tables import TOKENS
from host.accounts.oauth.work import ACCESS_PREFIX
from host.contract.values import User
from host.errors import NotSignedInError
from host.storage.engine import Database
from host.storage.tables import now

_FORM = re.compile(rf"{ACCESS_PREFIX}[\w-]{{43}}", re.ASCII)
# Built once: making a statement costs as much as running it, and this one runs with every request of a client.
_BY_DIGEST: Final = select_token().where(TOKENS.c.access_digest == bindparam("digest"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Bearer:
    """Whom a bearer token stands for."""

    user: User
    scopes: frozenset[str] | None = None
    """What it allows; ``None`` for everything that the account may do."""


class Bearers:
    """Finds the account behind an access token.

    Args:
        database: where the tokens are.
        clock: the present moment.

    """

    def __init__(self, database: Database, clock: Callable[[], datetime] = now) -> None:
        self._database = database
        self._clock = clock

    def find(self, text: str) -> Bearer | None:
        """Return whom a token stands for; ``None`` when the text is no access token of this server at all.

        The account has its rights as a member of the staff only with the scope for that, and never more of them than
        the owner of the client has.

        Raises:
            NotSignedInError: the token is unknown, over or revoked, or its account switched off.

        """
        if not _FORM.fullmatch(text):
            return None
        with self._database.read() as connection:
            row = connection.execute(_BY_DIGEST, {"digest": token_digest(text)}).first()
        if row is None:
            raise NotSignedInError("This access token is unknown. Ask for a new one.")
        token = read_token(row, "access_token", self._clock())
        if token.is_expired() or token.is_revoked() or token.user is None:
            raise NotSignedInError("This access token is over or was revoked. Ask for a new one.")
        scopes = frozenset(token.scopes)
        return Bearer(user=_held_to(row, token.user, staff=STAFF in scopes), scopes=scopes)


def _held_to(row: Row[Any], user: User, *, staff: bool) -> User:
    if not staff:
        return replace(user, is_staff=False, is_superuser=False)
    if row.owner_id is None:
        return user
    return replace(
        user,
        is_staff=(user.is_staff or user.is_superuser) and (row.owner_is_staff or row.owner_is_superuser),
        is_superuser=user.is_superuser and row.owner_is_superuser,
    )
