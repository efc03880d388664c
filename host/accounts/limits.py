"""Rate limits, kept in the database: all processes and nodes count together."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

from sqlalchemy import Column, Connection, bindparam, delete, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import SQLAlchemyError
from sqlmodel import Field

from host.accounts.client_address import counted_address
from host.accounts.rates import Per, Rate, read_rates
from host.accounts.seals import Seals
from host.accounts.usernames import fold_username
from host.errors import HostError
from host.storage.engine import Database
from host.storage.tables import HostTable, JsonColumn, UtcDateTime, now

_LOG = logging.getLogger("plugyard.accounts")

_PURGE_SECONDS = 60
_PURGED_AT_ONCE = 10_000


class AccountLimit(HostTable, table=True):
    """When something was done lately, by one client, account or typed name."""

    __tablename__ = "account_limit"

    bucket: str = Field(max_length=64, primary_key=True)
    """A digest: whose bucket it is cannot be read from the database."""
    times: list[float] = Field(sa_column=Column(JsonColumn, nullable=False))
    """Seconds since 1970."""
    expires: datetime = Field(sa_column=Column(UtcDateTime, nullable=False, index=True))
    """When the last of them counts no more."""


LIMITS = HostTable.metadata.tables["account_limit"]

_Buckets = Mapping[str, Sequence[Rate]]


class TooManyError(HostError):
    """Something was done too often; trying again later can succeed."""

    def __init__(self, action: str) -> None:
        self.action = action
        super().__init__("There were too many tries in a short time. Wait a while, then try again.")


class Limits:
    """Counts what people do, and refuses what they do too often.

    Who acts is told by keyword: ``address``, the client's; ``user_id``, the account; ``key``, what was typed to name
    one, be it a username, an e-mail address or a phone number, whose case does not count. Give all that is known, and
    the same to each method. What an action is counted by and is not given, is counted by the address instead.

    Every call that writes has a transaction of its own, so none may stand within one; but for ``consume_within``.

    Args:
        database: where it is counted.
        overrides: rates in place of the default ones, as ``read_rates`` takes them.
        secret: the host's key.
        clock: the present moment.

    Raises:
        ValueError: the overrides are wrong.

    """

    def __init__(
        self,
        database: Database,
        overrides: Mapping[str, Any] | Literal[False],
        *,
        secret: str,
        clock: Callable[[], datetime] = now,
    ) -> None:
        self._database = database
        self._rates = read_rates(overrides)
        self._seals = Seals(secret)
        self._clock = clock
        self._lock = threading.Lock()
        self._next_purge = 0.0

    def consume(self, action: str, *, address: str = "", user_id: int | None = None, key: str = "") -> None:
        """Count one time, or refuse; what is refused is not counted.

        Raises:
            TooManyError: one of the action's rates is exhausted.
            ValueError: there is no such action.

        """
        buckets = self._buckets(action, address, user_id, key)
        if not buckets:
            return
        # Refusals write nothing: a flood of them does not keep others from the database.
        if not self._all_open(buckets):
            raise TooManyError(action)
        with self._database.write() as session:
            moment = self._count(session.connection(), action, buckets)
        self._purge_now_and_then(moment)

    def consume_within(
        self, connection: Connection, action: str, *, address: str = "", user_id: int | None = None, key: str = ""
    ) -> None:
        """Do so as the last thing that the caller's own transaction locks; what is rolled back is not counted.

        Raises:
            TooManyError: one of the action's rates is exhausted.
            ValueError: there is no such action.

        """
        if buckets := self._buckets(action, address, user_id, key):
            self._count(connection, action, buckets)

    def is_open(self, action: str, *, address: str = "", user_id: int | None = None, key: str = "") -> bool:
        """Tell whether it could be done now; counts nothing.

        Raises:
            ValueError: there is no such action.

        """
        return self._all_open(self._buckets(action, address, user_id, key))

    def take_back(self, action: str, *, address: str = "", user_id: int | None = None, key: str = "") -> None:
        """Undo one count, as when what was counted beforehand proved no failure.

        Raises:
            ValueError: there is no such action.

        """
        buckets = self._buckets(action, address, user_id, key)
        if not buckets:
            return
        held = select(LIMITS.c.bucket, LIMITS.c.times).where(LIMITS.c.bucket.in_(list(buckets)))
        with self._database.write() as session:
            connection = session.connection()
            rows = connection.execute(held.order_by(LIMITS.c.bucket).with_for_update()).all()
            moment = self._clock().timestamp()
            _store(
                connection,
                ({"held": row.bucket, **_row(sorted(row.times)[:-1], buckets[row.bucket], moment)} for row in rows),
            )

    def clear(self, action: str, *, address: str = "", user_id: int | None = None, key: str = "") -> None:
        """Forget what was counted for exactly what is given; other counts of the action stay.

        Raises:
            ValueError: there is no such action.

        """
        given = _given(address, user_id, key)
        rates = self._rates_of(action)
        buckets = sorted(self._bucket(action, per, given[per]) for per in {rate.per for rate in rates} & given.keys())
        if not buckets:
            return
        with self._database.write() as session:
            for bucket in buckets:  # one by one, in the order in which all others lock them
                session.connection().execute(delete(LIMITS).where(LIMITS.c.bucket == bucket))

    def purge(self) -> int:
        """Delete what counts no more, and return how many rows that were; done by itself now and then."""
        old = select(LIMITS.c.bucket).where(LIMITS.c.expires < self._clock()).limit(_PURGED_AT_ONCE)
        with self._database.write() as session:
            statement = delete(LIMITS).where(LIMITS.c.bucket.in_(old.with_for_update(skip_locked=True)))
            return session.connection().execute(statement).rowcount

    def _count(self, connection: Connection, action: str, buckets: _Buckets) -> float:
        logs = _hold(connection, buckets, self._clock())
        moment = self._clock().timestamp()
        if not _open(buckets, logs, moment):
            raise TooManyError(action)
        _store(
            connection,
            ({"held": bucket, **_row([*logs[bucket], moment], rates, moment)} for bucket, rates in buckets.items()),
        )
        return moment

    def _rates_of(self, action: str) -> tuple[Rate, ...]:
        try:
            return self._rates[action]
        except KeyError:
            raise ValueError(f"There is no rate limit named {action!r}.") from None

    def _buckets(self, action: str, address: str, user_id: int | None, key: str) -> dict[str, list[Rate]]:
        """Return the rates of each bucket; in one order everywhere, so that no two wait for each other."""
        given = _given(address, user_id, key)
        instead = f"address {counted_address(address)}"
        by_bucket: dict[str, list[Rate]] = {}
        for rate in self._rates_of(action):
            by_bucket.setdefault(self._bucket(action, rate.per, given.get(rate.per, instead)), []).append(rate)
        return dict(sorted(by_bucket.items()))

    def _bucket(self, action: str, per: Per, value: str) -> str:
        return self._seals.digest("rate limits", action, per, value)

    def _all_open(self, buckets: _Buckets) -> bool:
        if not buckets:
            return True
        stored = select(LIMITS.c.bucket, LIMITS.c.times).where(LIMITS.c.bucket.in_(list(buckets)))
        with self._database.read() as connection:
            logs = {row.bucket: row.times for row in connection.execute(stored)}
        return _open(buckets, logs, self._clock().timestamp())

    def _purge_now_and_then(self, moment: float) -> None:
        with self._lock:
            if moment < self._next_purge:
                return
            self._next_purge = moment + _PURGE_SECONDS
        try:
            self.purge()
        except SQLAlchemyError:
            _LOG.exception("Old counts of rate limits could not be deleted; a later try will.")


def _given(address: str, user_id: int | None, key: str) -> dict[Per, str]:
    given: dict[Per, str] = {}
    if address:
        given["ip"] = f"address {counted_address(address)}"
    if user_id is not None:
        given["user"] = f"user {user_id}"
    if key:
        given["key"] = f"key {fold_username(key)}"
    return given


def _open(buckets: _Buckets, logs: Mapping[str, Collection[float]], moment: float) -> bool:
    return all(
        len(_young(logs.get(bucket, ()), rate.seconds, moment)) < rate.amount
        for bucket, rates in buckets.items()
        for rate in rates
    )


def _young(times: Iterable[float], seconds: int, moment: float) -> list[float]:
    # A clock that was set back leaves times in the future; they must not count for longer than others.
    return [time for time in times if abs(moment - time) < seconds]


def _row(times: Iterable[float], rates: Iterable[Rate], moment: float) -> dict[str, Any]:
    longest = max(rate.seconds for rate in rates)
    young = _young(times, longest, moment)
    last = datetime.fromtimestamp(max(young, default=moment), UTC)
    return {"times": young, "expires": last + timedelta(seconds=longest)}


def _hold(connection: Connection, buckets: _Buckets, moment: datetime) -> dict[str, list[float]]:
    """Lock the buckets, make those that are missing, and return what is in them."""
    insert = sqlite.insert if connection.dialect.name == "sqlite" else postgresql.insert
    rows = [{"bucket": bucket, "times": [], "expires": moment} for bucket in buckets]
    statement = insert(LIMITS).values(rows)
    # Updating nothing locks a row that is there already, and returns it also when it came a moment ago.
    kept = statement.on_conflict_do_update(index_elements=[LIMITS.c.bucket], set_={"expires": LIMITS.c.expires})
    found = connection.execute(kept.returning(LIMITS.c.bucket, LIMITS.c.times))
    return {row.bucket: row.times for row in found}


def _store(connection: Connection, rows: Iterable[Mapping[str, Any]]) -> None:
    if changes := list(rows):
        connection.execute(update(LIMITS).where(LIMITS.c.bucket == bindparam("held")), changes)
