"""Notifications: what the host and its plugins tell people, each with a message of their own to read."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    Connection,
    ForeignKey,
    Index,
    Text,
    UniqueConstraint,
    bindparam,
    delete,
    false,
    select,
    update,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session
from sqlmodel import Field

from host.accounts.account import USERS
from host.contract.services import Audience
from host.contract.values import User
from host.errors import NotFoundError
from host.storage.engine import Database
from host.storage.listing import Listing, by_boolean, by_text
from host.storage.tables import HostTable, UtcDateTime, now

_LOG = logging.getLogger("plugyard.notifications")

NAME_LENGTH: Final = 250
MESSAGE_LENGTH: Final = 4000
LINK_LENGTH: Final = 2000
MOST_KEPT: Final = 1000
"""So many notifications each account keeps; beyond them the oldest go, so that no flood of them fills the disk."""
_IDS_AT_ONCE: Final = 500


class Notification(HostTable, table=True):
    """Something that one account is told."""

    __tablename__ = "notification"
    __table_args__ = (
        # As long as one is unread, an equal one renews it; `unread_key` is null once it is read.
        UniqueConstraint("user_id", "unread_key"),
        Index("ix_notification_user_id_creation", "user_id", "creation"),
        Index("ix_notification_user_id_category", "user_id", "category"),
    )

    id: int | None = Field(default=None, primary_key=True)
    user_id: int = Field(sa_column=Column(ForeignKey(USERS.c.id, ondelete="CASCADE"), nullable=False))
    category: str = Field(max_length=NAME_LENGTH)
    name: str = Field(max_length=NAME_LENGTH)
    message: str = Field(sa_column=Column(Text, nullable=False))
    creation: datetime = Field(sa_column=Column(UtcDateTime, nullable=False, index=True))
    read: bool = False
    unread_key: str | None = Field(default=None, max_length=64)
    target_name: str = Field(default="", max_length=NAME_LENGTH)
    target_model: str = Field(default="", max_length=100)
    target_id: int | None = Field(default=None, sa_column=Column(BigInteger, nullable=True))
    target_link: str = Field(default="", max_length=LINK_LENGTH)


NOTIFICATIONS: Final = HostTable.metadata.tables["notification"]


def _own(user: User | None) -> ColumnElement[bool]:
    return false() if user is None else NOTIFICATIONS.c.user_id == user.id


_C: Final = NOTIFICATIONS.c

OWN_NOTIFICATIONS: Final = Listing(
    table=NOTIFICATIONS,
    key=_C.id,
    view=_own,
    members={
        "pk": _C.id,
        "user": _C.user_id,
        **{name: _C[name] for name in ("category", "name", "message", "creation", "read")},
        "moment": _C.creation,
        **{name: _C[name] for name in ("target_name", "target_model", "target_id", "target_link")},
    },
    filters={"category": by_text(_C.category), "read": by_boolean(_C.read)},
    ordering={name: _C[name] for name in ("category", "name", "read", "creation", "message")},
    default_order=("-creation",),
    search=(_C.category, _C.name, _C.message),
)
"""What the caller was told; ``moment`` is the creation as it is stored, to reckon with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What a notification is about."""

    name: str = ""
    """As people call it."""
    model: str = ""
    """Name of the model, where it is a record."""
    id: int | None = None
    link: str = ""
    """A path of this host, or a whole http address."""


_NOTHING: Final = Target()


class Notifications:
    """Tells people things, and lets them read that.

    Args:
        database: where the rows are.
        clock: gives the time.
        most: how many notifications each account keeps.

    """

    def __init__(self, database: Database, clock: Callable[[], datetime] = now, *, most: int = MOST_KEPT) -> None:
        self._database = database
        self._clock = clock
        self._most = most

    def send(
        self,
        session: Session,
        to: Audience,
        *,
        category: str,
        name: str,
        message: str = "",
        target: Target = _NOTHING,
    ) -> int:
        """Tell people something as part of the session's transaction, and return how many are told.

        Whoever has an unread notification of the same category, name and target gets that one renewed instead of
        another one. Ids that no active account has are passed over; texts that are too long are cut. Of very many that
        one account has, the oldest go.

        Raises:
            ValueError: the link is neither a path nor an http address.

        """
        if not is_safe_link(target.link):
            msg = f"the link {target.link!r} must begin with / or http:// or https://"
            raise ValueError(msg)
        connection = session.connection()
        active = select(USERS.c.id).where(USERS.c.is_active)
        found = (connection.execute(active.where(part)).scalars() for part in _audience(to))
        # In the same order everywhere, so that no two transactions wait for each other's rows.
        users = sorted({user for part in found for user in part})
        if not users:
            return 0
        common = self._values(category, name, message, target)
        insert: Callable[..., Any] = postgresql.insert if connection.dialect.name == "postgresql" else sqlite.insert
        statement = insert(NOTIFICATIONS)
        renewed = {key: statement.excluded[key] for key in ("message", "creation", "target_name", "target_link")}
        statement = statement.on_conflict_do_update(index_elements=["user_id", "unread_key"], set_=renewed)
        connection.execute(statement, [{"user_id": user, **common} for user in users])
        self._trim(connection, users)
        return len(users)

    def tell(self, to: Audience, *, category: str, name: str, message: str = "", target: Target = _NOTHING) -> None:
        """Tell people something in a transaction of its own; where that fails, only the log says so."""
        try:
            with self._database.write() as session:
                self.send(session, to, category=category, name=name, message=message, target=target)
        except SQLAlchemyError:
            _LOG.exception("nobody could be told: %s", name)

    def mark(self, key: int, user: User, *, read: bool) -> None:
        """Mark one notification of an account as read or unread.

        Raises:
            NotFoundError: the account has no such notification.

        """
        mine = update(NOTIFICATIONS).where(_C.id == key, _C.user_id == user.id)
        with self._database.write() as session:
            if not session.connection().execute(mine.values(_marked(read=read))).rowcount:
                msg = f"There is no notification {key}."
                raise NotFoundError(msg)

    def mark_all(self, user: User) -> int:
        """Mark everything that an account was told as read, and return how much of it was not."""
        unread = update(NOTIFICATIONS).where(_C.user_id == user.id, _C.read.is_(False))
        with self._database.write() as session:
            return session.connection().execute(unread.values(_marked(read=True))).rowcount

    def delete(self, key: int, user: User) -> None:
        """Delete one notification of an account.

        Raises:
            NotFoundError: the account has no such notification.

        """
        with self._database.write() as session:
            mine = delete(NOTIFICATIONS).where(_C.id == key, _C.user_id == user.id)
            if not session.connection().execute(mine).rowcount:
                msg = f"There is no notification {key}."
                raise NotFoundError(msg)

    def forget(self, before: datetime) -> int:
        """Delete what people were told before a moment, and return how much."""
        with self._database.write() as session:
            return session.connection().execute(delete(NOTIFICATIONS).where(_C.creation < before)).rowcount

    def _trim(self, connection: Connection, users: Sequence[int]) -> None:
        mine = _C.user_id == bindparam("owner")
        last = select(_C.creation).where(mine).order_by(_C.creation.desc()).offset(self._most).limit(1)
        surplus = delete(NOTIFICATIONS).where(mine, _C.creation <= last.scalar_subquery())
        connection.execute(surplus, [{"owner": user} for user in users])

    def _values(self, category: str, name: str, message: str, target: Target) -> Mapping[str, Any]:
        said = "\0".join((category, name, target.model, str(target.id), "" if target.id else target.link))
        return {
            "category": _sayable(category, NAME_LENGTH),
            "name": _sayable(name, NAME_LENGTH),
            "message": _sayable(message, MESSAGE_LENGTH),
            "creation": self._clock(),
            "read": False,
            "unread_key": hashlib.sha256(said.encode("utf-8", "replace")).hexdigest(),
            "target_name": _sayable(target.name, NAME_LENGTH),
            "target_model": target.model,
            "target_id": target.id,
            "target_link": target.link,
        }


def is_safe_link(link: str) -> bool:
    """Tell whether a client may follow a link: empty, a path of this host, or an http address."""
    if len(link) > LINK_LENGTH or not link.isprintable():
        return False
    return (
        not link
        or link.startswith(("http://", "https://"))
        or (link.startswith("/") and link[1:2] not in "/\\")
        or link == "/"
    )


def _marked(*, read: bool) -> Mapping[str, Any]:
    # One that is marked as unread again stands beside later ones; it is not renewed by them.
    return {"read": read, "unread_key": None}


def _audience(to: Audience) -> Iterator[ColumnElement[bool]]:
    """Return conditions, each of which some of the accounts fulfil."""
    if to == "staff":
        yield USERS.c.is_staff | USERS.c.is_superuser
    elif to == "superusers":
        yield USERS.c.is_superuser
    else:
        ids = [id for id in to if 0 < id < 2**31]
        for start in range(0, len(ids), _IDS_AT_ONCE):
            yield USERS.c.id.in_(ids[start : start + _IDS_AT_ONCE])


def _sayable(text: str, length: int) -> str:
    text = text.replace("\0", "").encode("utf-8", "replace").decode()
    return text if len(text) <= length else text[: length - 1] + "…"
