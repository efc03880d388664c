"""Rate limits: what is admitted, what is refused, and what is stored of it."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from itertools import cycle
from typing import Any

import pytest
from sqlalchemy import event, select

from host.accounts.limits import LIMITS, Limits, TooManyError
from host.accounts.seals import Seals
from host.storage.engine import Database

_HERE, _THERE = "192.0.2.1", "192.0.2.2"

Make = Callable[..., Limits]


class Moment:
    def __init__(self) -> None:
        self.now = datetime(2030, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def pass_by(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


@pytest.fixture
def moment() -> Moment:
    return Moment()


@pytest.fixture
def limits_with(sqlite_database: Database, moment: Moment) -> Make:
    def make(**overrides: object) -> Limits:
        return Limits(sqlite_database, overrides, secret="secret", clock=moment)

    return make


def _admitted(limits: Limits, action: str, tries: int, **who: Any) -> int:
    return sum(_is_admitted(limits, action, **who) for _ in range(tries))


def _is_admitted(limits: Limits, action: str, **who: Any) -> bool:
    try:
        limits.consume(action, **who)
    except TooManyError:
        return False
    return True


def _stored(database: Database) -> dict[str, int]:
    with database.read() as connection:
        return {row.bucket: len(row.times) for row in connection.execute(select(LIMITS))}


def _bucket(action: str, per: str, value: str) -> str:
    return Seals("secret").digest("rate limits", action, per, value)


def test_the_window_slides(limits_with: Make, sqlite_database: Database, moment: Moment):
    """A time counts until it is as old as the window; what is refused is not stored."""
    limits = limits_with(login="2/m/ip")

    assert _admitted(limits, "login", 1, address=_HERE) == 1
    moment.pass_by(30)
    assert _admitted(limits, "login", 5, address=_HERE) == 1
    assert _stored(sqlite_database) == {_bucket("login", "ip", f"address {_HERE}"): 2}
    moment.pass_by(29.999)
    assert not limits.is_open("login", address=_HERE)
    assert _admitted(limits, "login", 1, address=_HERE) == 0
    moment.pass_by(0.001)
    assert limits.is_open("login", address=_HERE)
    assert _admitted(limits, "login", 5, address=_HERE) == 1
    assert sum(_stored(sqlite_database).values()) == 2


@pytest.mark.parametrize(
    ("action", "first", "other"),
    [
        pytest.param("login", {"address": _HERE}, {"address": _THERE}, id="addresses"),
        pytest.param("login", {"address": "2001:db8:0:1::1"}, {"address": "2001:db8:0:2::1"}, id="IPv6 networks"),
        pytest.param("change_phone", {"user_id": 1}, {"user_id": 2}, id="accounts"),
        pytest.param("confirm_email", {"key": "a@example.org"}, {"key": "b@example.org"}, id="keys"),
        pytest.param("change_phone", {"address": _HERE}, {"address": _THERE}, id="addresses in place of accounts"),
        pytest.param("change_phone", {"user_id": 1}, {"address": "user 1"}, id="an account and what looks like it"),
    ],
)
def test_each_has_a_count_of_its_own(limits_with: Make, sqlite_database: Database, action, first, other):
    """What one does takes nothing from another."""
    limits = limits_with(login="1/m/ip")

    assert _admitted(limits, action, 2, **first) == 1
    assert _admitted(limits, action, 2, **other) == 1
    assert list(_stored(sqlite_database).values()) == [1, 1]


@pytest.mark.parametrize(
    ("action", "first", "same"),
    [
        pytest.param("login", {"address": _HERE}, {"address": f"::ffff:{_HERE}"}, id="IPv4 within IPv6"),
        pytest.param("login", {"address": "2001:db8::1"}, {"address": "2001:db8::ffff:2"}, id="one IPv6 network"),
        pytest.param("login", {"address": _HERE, "user_id": 1}, {"address": _HERE, "key": "x"}, id="the address alone"),
        pytest.param("login", {}, {"address": "testclient"}, id="clients without an address"),
        pytest.param("confirm_email", {"key": "Ada@Example.org"}, {"key": " ada@example.ORG"}, id="case of a key"),
        pytest.param("confirm_email", {"key": "straße"}, {"key": "STRA\uff33\uff33E"}, id="spellings of a username"),
        pytest.param("confirm_email", {"key": "\ud800"}, {"key": "\ud800"}, id="what has no UTF-8"),
    ],
)
def test_other_spellings_are_no_way_around(limits_with: Make, sqlite_database: Database, action, first, same):
    """Whatever finds the same account, or comes from the same place, is counted together."""
    limits = limits_with(login="1/m/ip")

    assert _admitted(limits, action, 1, **first) == 1
    assert _admitted(limits, action, 1, **same) == 0
    assert list(_stored(sqlite_database).values()) == [1]


def test_a_refusal_by_one_rate_consumes_nothing_of_the_others(limits_with: Make, sqlite_database: Database):
    """The address keeps what the exhausted key did not use."""
    limits = limits_with(login_failed="4/m/ip,1/m/key")

    assert _admitted(limits, "login_failed", 9, address=_HERE, key="ada") == 1
    assert _stored(sqlite_database) == {
        _bucket("login_failed", "ip", f"address {_HERE}"): 1,
        _bucket("login_failed", "key", "key ada"): 1,
    }
    assert [_admitted(limits, "login_failed", 1, address=_HERE, key=name) for name in "abcd"] == [1, 1, 1, 0]
    assert _bucket("login_failed", "key", "key d") not in _stored(sqlite_database)


def test_two_rates_of_one_kind_count_once(limits_with: Make, sqlite_database: Database, moment: Moment):
    """The short window and the long one look at the same log, and a rate written twice is one."""
    limits = limits_with(login="2/m/ip,3/h/ip", login_failed="2/m,2/m")

    assert _admitted(limits, "login_failed", 9, address=_HERE) == 2
    assert _admitted(limits, "login", 9, address=_HERE) == 2
    moment.pass_by(60)
    assert _admitted(limits, "login", 9, address=_HERE) == 1
    assert _stored(sqlite_database)[_bucket("login", "ip", f"address {_HERE}")] == 3
    moment.pass_by(3540)
    assert _admitted(limits, "login", 9, address=_HERE) == 2


def test_a_lifted_limit_admits_all(limits_with: Make, sqlite_database: Database):
    """Nothing is stored for it either, and an action that nobody knows is a mistake."""
    limits = limits_with(login=None, signup=False)

    assert _admitted(limits, "login", 50, address=_HERE) == 50
    limits.take_back("signup", address=_HERE)
    limits.clear("signup", address=_HERE)
    assert limits.is_open("signup", address=_HERE)
    assert _stored(sqlite_database) == {}
    for method in (limits.consume, limits.is_open, limits.take_back, limits.clear):
        with pytest.raises(ValueError, match="no rate limit named 'logn'"):
            method("logn", address=_HERE)


def test_a_clock_set_back_locks_nobody_out(limits_with: Make, moment: Moment):
    """Times of the future count for no longer than the window either."""
    limits = limits_with(login="1/m/ip")
    assert _admitted(limits, "login", 2, address=_HERE) == 1

    moment.pass_by(-30)
    assert not limits.is_open("login", address=_HERE)
    moment.pass_by(-3600)
    assert _admitted(limits, "login", 2, address=_HERE) == 1


def test_a_refusal_takes_no_lock(limits_with: Make, sqlite_database: Database):
    """A flood of refused requests does not keep others from writing."""
    limits = limits_with(login="1/m/ip")
    limits.consume("login", address=_HERE)
    begun = []
    event.listen(
        sqlite_database.engine, "before_cursor_execute", lambda _one, _two, statement, *_: begun.append(statement)
    )

    for _ in range(3):
        with pytest.raises(TooManyError, match="Wait a while") as refusal:
            limits.consume("login", address=_HERE)
        assert refusal.value.action == "login"
    assert len(begun) == 3
    assert all(statement.startswith("SELECT") for statement in begun)


def test_counts_are_taken_back_and_cleared(database: Database, moment: Moment):
    """A success undoes the count made before it, and clearing forgets one key but not the address."""
    limits = Limits(database, {"login_failed": "4/m/ip,2/300s/key"}, secret="secret", clock=moment)
    ada: dict[str, Any] = {"address": _HERE, "key": "ada"}
    by_address, by_key = _bucket("login_failed", "ip", f"address {_HERE}"), _bucket("login_failed", "key", "key ada")

    limits.take_back("login_failed", **ada)  # nothing was counted yet
    assert _admitted(limits, "login_failed", 3, **ada) == 2
    limits.take_back("login_failed", **ada)
    assert _stored(database) == {by_address: 1, by_key: 1}
    assert _admitted(limits, "login_failed", 3, **ada) == 1
    limits.clear("login_failed", key="ADA")
    assert _stored(database) == {by_address: 2}
    limits.clear("login_failed", user_id=1, key="bob")  # neither is counted
    assert _admitted(limits, "login_failed", 5, **ada) == 2
    limits.clear("login_failed", address=_HERE)
    assert _stored(database) == {by_key: 2}


def test_old_counts_are_deleted(database: Database, moment: Moment):
    """By itself, and only what counts no more; whose they were cannot be read from the database."""
    limits = Limits(database, {}, secret="secret", clock=moment)
    limits.consume("confirm_email", key="ada@example.org")
    limits.consume("signup", address=_HERE)
    assert len(_stored(database)) == 2
    assert all(len(bucket) == 64 for bucket in _stored(database))
    with database.read() as connection:
        assert sorted(connection.execute(select(LIMITS.c.expires)).scalars()) == [
            moment.now + timedelta(seconds=60),
            moment.now + timedelta(seconds=180),
        ]

    moment.pass_by(61)
    limits.consume("login", address=_HERE)  # and purges
    assert _stored(database) == {
        _bucket("confirm_email", "key", "key ada@example.org"): 1,
        _bucket("login", "ip", f"address {_HERE}"): 1,
    }
    moment.pass_by(59)
    assert limits.purge() == 0
    moment.pass_by(180)
    assert limits.purge() == 2
    assert _stored(database) == {}


@pytest.mark.parametrize("old", [False, True], ids=["new bucket", "bucket in use"])
def test_many_at_once_are_admitted_exactly_as_often(database: Database, tables_url: str, open_database, old):
    """Threads of two processes share one count: 32 tries of 7 give 7, and all of them are stored."""
    one, other = (
        Limits(each, {"login_failed": "7/h/ip,7/h/key"}, secret="secret")
        for each in (database, open_database(tables_url))
    )
    if old:
        one.consume("login_failed", address=_HERE, key="ada")

    with ThreadPoolExecutor(32) as pool:
        tries = [
            pool.submit(_is_admitted, limits, "login_failed", address=_HERE, key="ada")
            for limits, _ in zip(cycle([one, other]), range(32), strict=False)
        ]
        admitted = sum(each.result() for each in tries)

    assert admitted == 7 - old
    assert list(_stored(database).values()) == [7, 7]


def test_crossing_counts_do_not_wait_for_each_other(database: Database):
    """Counting, taking back, clearing and purging of overlapping buckets all end, and the counts are right."""
    limits = Limits(database, {"login_failed": "99/h/ip,99/h/key"}, secret="secret")
    people = [{"address": address, "key": key} for address in (_HERE, _THERE) for key in ("ada", "bob")] * 4

    def work(who: dict[str, Any]) -> None:
        limits.consume("login_failed", **who)
        limits.purge()
        limits.consume("login_failed", **who)
        limits.take_back("login_failed", **who)
        limits.clear("login_failed", address="192.0.2.9", key="eve")

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(work, people))

    assert list(_stored(database).values()) == [8, 8, 8, 8]


def test_what_is_counted_within_a_transaction_goes_with_it(sqlite_database, limits_with):
    """What is committed counts like any other; what is rolled back does not."""
    limits = limits_with(confirm_email="1/180s/key")

    def count(*, fail: bool) -> None:
        with sqlite_database.write() as session:
            limits.consume_within(session.connection(), "confirm_email", address=_HERE, key="a@example.org")
            if fail:
                raise LookupError

    with pytest.raises(LookupError):
        count(fail=True)
    assert limits.is_open("confirm_email", address=_HERE, key="A@example.org")
    count(fail=False)

    assert not _is_admitted(limits, "confirm_email", address=_HERE, key="a@example.org")
    with pytest.raises(TooManyError):
        count(fail=False)
    assert _is_admitted(limits, "confirm_email", address=_HERE, key="b@example.org")
    assert sum(_stored(sqlite_database).values()) == 2
