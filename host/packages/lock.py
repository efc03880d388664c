"""A lock that all processes on all machines respect: a lease in the database, renewed while its owner lives."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

from sqlalchemy import delete, func, insert, select, update
from sqlalchemy.engine import CursorResult
from sqlalchemy.exc import IntegrityError, SQLAlchemyError
from sqlalchemy.orm import Session
from sqlmodel import Field, col

from host.errors import BusyError
from host.packages.node import is_gone, new_owner
from host.storage.engine import Database
from host.storage.tables import HostTable, UtcDateTime, now

_log = logging.getLogger(__name__)


class LockRecord(HostTable, table=True):
    """Who holds which lock, and until when if they do not renew it."""

    __tablename__ = "host_lock"

    name: str = Field(primary_key=True, max_length=100)
    owner: str = Field(max_length=200)
    expires: datetime = Field(sa_type=UtcDateTime)


class Lease:
    """A lock that is held."""

    def __init__(self, name: str, owner: str) -> None:
        self.name = name
        self.owner = owner

    def confirm(self, session: Session) -> None:
        """Make sure, within a transaction, that the lock is still held; the transaction stands or falls with it.

        Raises:
            BusyError: the lease ran out, and somebody else may have taken it.

        """
        statement = (
            select(col(LockRecord.owner))
            .where(col(LockRecord.name) == self.name, col(LockRecord.owner) == self.owner)
            .with_for_update()
        )
        if session.execute(statement).first() is None:
            raise BusyError(f"The lock '{self.name}' was lost, for this process could not renew it in time. Try again.")


class Locks:
    """The locks in one database.

    Args:
        database: where the leases are kept.
        lifetime: seconds after which a lease that is not renewed has run out.

    """

    def __init__(self, database: Database, *, lifetime: float = 15.0) -> None:
        self._database = database
        self._lifetime = lifetime

    @contextmanager
    def hold(self, name: str, *, wait: float = 0.0, owner: str | None = None, busy: str = "") -> Iterator[Lease]:
        """Hold a lock for the time of a block; at most ``wait`` seconds pass before it is held.

        ``busy`` is what the error says.

        Raises:
            BusyError: somebody else kept it all the time.

        """
        lease = Lease(name, owner or new_owner())
        give_up = time.monotonic() + wait
        while not self._take(lease):
            if time.monotonic() >= give_up:
                raise BusyError(busy or f"Another process holds the lock '{name}'. Try again when it has finished.")
            time.sleep(min(0.1, max(0.0, give_up - time.monotonic())))
        stop = threading.Event()
        heart = threading.Thread(target=self._renew, args=(lease, stop), name=f"lease-{name}", daemon=True)
        heart.start()
        try:
            yield lease
        finally:
            stop.set()
            heart.join()
            self._release(lease)

    def holder(self, name: str) -> str | None:
        """Return the owner of a lock that is held now, else None."""
        with self._database.read() as connection:
            row = connection.execute(
                select(col(LockRecord.owner), col(LockRecord.expires)).where(col(LockRecord.name) == name)
            ).first()
        return None if row is None or row.expires <= now() or is_gone(row.owner) else row.owner

    def _take(self, lease: Lease) -> bool:
        try:
            with self._database.write() as session:
                moment = self._moment(session)
                row = session.execute(
                    select(col(LockRecord.owner), col(LockRecord.expires))
                    .where(col(LockRecord.name) == lease.name)
                    .with_for_update()
                ).first()
                values = {"owner": lease.owner, "expires": moment + timedelta(seconds=self._lifetime)}
                if row is None:
                    session.execute(insert(LockRecord).values(name=lease.name, **values))
                elif row.expires <= moment or is_gone(row.owner):
                    session.execute(update(LockRecord).where(col(LockRecord.name) == lease.name).values(**values))
                else:
                    return False
        except IntegrityError:
            return False  # somebody else made the row first
        return True

    def _renew(self, lease: Lease, stop: threading.Event) -> None:
        while not stop.wait(self._lifetime / 3):
            try:
                with self._database.write() as session:
                    expires = self._moment(session) + timedelta(seconds=self._lifetime)
                    done = session.execute(
                        update(LockRecord)
                        .where(col(LockRecord.name) == lease.name, col(LockRecord.owner) == lease.owner)
                        .values(expires=expires)
                    )
                    if isinstance(done, CursorResult) and done.rowcount == 0:
                        _log.error("The lock %s was lost.", lease.name)
                        return
            except SQLAlchemyError as error:
                _log.warning("The lock %s could not be renewed: %s", lease.name, error)

    def _release(self, lease: Lease) -> None:
        try:
            with self._database.write() as session:
                session.execute(
                    delete(LockRecord).where(col(LockRecord.name) == lease.name, col(LockRecord.owner) == lease.owner)
                )
        except SQLAlchemyError as error:
            _log.warning("The lock %s could not be released and runs out by itself: %s", lease.name, error)

    def _moment(self, session: Session) -> datetime:
        # Machines disagree about the time; the database's clock is the same for all of them.
        if self._database.is_sqlite:
            return now()
        moment: datetime = session.execute(select(func.clock_timestamp())).scalar_one()
        return moment
