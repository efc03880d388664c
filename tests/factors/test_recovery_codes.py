"""Recovery codes."""

from __future__ import annotations

import hashlib
import hmac

import pytest
from sqlalchemy import update

from host.accounts.factors.authenticators import AUTHENTICATORS
from host.accounts.factors.authenticators import FactorType as Type
from host.accounts.factors.factors import Factors
from host.accounts.seals import Seals
from tests.factors.conftest import RACERS, how_many, new_account, options_of, race, stored


@pytest.fixture
def account(factors, sqlite_database):
    """Give an account that has an app, hence something to recover from."""
    return _account(factors, sqlite_database)


@pytest.fixture
def made(factors, sqlite_database, account):
    with sqlite_database.write() as session:
        return factors.ensure_recovery_codes(session.connection(), account.id)


def _account(factors, database):
    account = new_account(database)
    with database.write() as session:
        factors.add_totp(session.connection(), account.id, factors.totp.new_secret())
    return account


@pytest.mark.parametrize(("count", "digits"), [(10, 8), (1, 16), (100, 6)])
def test_a_set_has_as_many_codes_as_the_options_say(factors_with, sqlite_database, account, count, digits):
    """All of them differ, and a set stays as it is when the options change."""
    factors = factors_with(mfa_recovery_code_count=count, mfa_recovery_code_digits=digits)
    with sqlite_database.write() as session:
        made = factors.ensure_recovery_codes(session.connection(), account.id)

    codes = factors.recovery_codes.unused(made)
    assert len(set(codes)) == count
    assert {len(code) for code in codes} == {digits}
    assert all(code.isdigit() for code in codes)
    assert factors_with(mfa_recovery_code_count=7).recovery_codes.unused(made) == codes


def test_equal_numbers_are_left_out(factors_with, sqlite_database, account, monkeypatch):
    """A set is as large as it should be, also where a seed gives the same number twice."""
    seed = next(f"{n:040x}" for n in range(1000) if _has_doubles(n))
    monkeypatch.setattr("host.accounts.factors.recovery_codes.secrets.token_hex", lambda _: seed)
    factors = factors_with(mfa_recovery_code_count=100, mfa_recovery_code_digits=6)
    with sqlite_database.write() as session:
        made = factors.ensure_recovery_codes(session.connection(), account.id)

    assert len(set(factors.recovery_codes.unused(made))) == 100


def test_each_code_serves_once(factors, sqlite_database, account, made, clock):
    """A used code is refused and no longer listed; the others go on."""
    first, second, *rest = factors.recovery_codes.unused(made)
    with sqlite_database.write() as session:
        used = [
            factors.check_code(session.connection(), account.id, code)
            for code in (second, second, f" {first[:4]}-{first[4:]} ", first)
        ]

    assert [bool(codes) for codes in used] == [True, False, True, False]
    assert factors.recovery_codes.unused(used[2]) == rest
    row = stored(sqlite_database, made.id)
    assert row["data"]["used"] == [0, 1]
    assert row["last_used"] == clock()


def test_what_is_no_code_is_refused(factors, sqlite_database, account, made):
    """Nothing is used up by it, and the digits of other scripts are none."""
    codes = factors.recovery_codes.unused(made)
    arabic = codes[0].translate({48 + digit: 0x660 + digit for digit in range(10)})
    with sqlite_database.write() as session:
        for code in ("", "0", codes[0][:-1], codes[0] + "0", "\0", "\ud800", arabic, "9" * 100_000):
            assert factors.check_code(session.connection(), account.id, code) is None
    assert stored(sqlite_database, made.id)["data"]["used"] == []


def test_codes_are_not_to_be_found_in_the_database(factors, sqlite_database, account, made):
    """Neither they nor their seed are stored, and the sealed seed is worth nothing to another account."""
    row = str(stored(sqlite_database, made.id))
    codes = factors.recovery_codes.unused(made)
    assert not any(code in row for code in codes)

    other = new_account(sqlite_database, "eve")
    with sqlite_database.write() as session:
        connection = session.connection()
        factors.add_totp(connection, other.id, factors.totp.new_secret())
        foreign = factors.ensure_recovery_codes(connection, other.id)
        stolen = update(AUTHENTICATORS).where(AUTHENTICATORS.c.id == foreign.id).values(data=made.data)
        connection.execute(stolen)
        assert factors.check_code(connection, other.id, codes[0]) is None
        assert factors.recovery_codes.unused(factors.find(connection, other.id, Type.RECOVERY_CODES)) == []


def test_another_secret_key_opens_nothing(sqlite_database, account, made, caplog):
    """Who changes the instance's key is told so, and the codes are refused rather than half the service."""
    changed = Factors(options_of(), Seals("another key"))
    with sqlite_database.write() as session:
        assert changed.check_code(session.connection(), account.id, "12345678") is None
    assert f"The secret of authenticator {made.id} (recovery_codes) of account {account.id}" in caplog.text
    assert stored(sqlite_database, made.id)["data"]["used"] == []


def test_a_new_set_makes_the_old_one_void(factors, sqlite_database, account, made):
    """None of the old codes fits any more; all of the new ones are there."""
    old = factors.recovery_codes.unused(made)
    with sqlite_database.write() as session:
        renewed = factors.renew_recovery_codes(session.connection(), account.id)
        assert [factors.check_code(session.connection(), account.id, code) for code in old] == [None] * 10

    new = factors.recovery_codes.unused(renewed)
    assert not set(old) & set(new)
    assert how_many(sqlite_database) == 2
    assert stored(sqlite_database, renewed.id)["data"]["used"] == []


def test_there_are_none_without_something_to_recover_from(factors, sqlite_database):
    """An account without app and key gets no codes."""
    account = new_account(sqlite_database)
    with sqlite_database.write() as session:
        assert factors.ensure_recovery_codes(session.connection(), account.id) is None
        assert factors.renew_recovery_codes(session.connection(), account.id) is None
    assert how_many(sqlite_database) == 0


def test_codes_that_exist_are_kept(factors, sqlite_database, account, made):
    """Ensuring makes no second set."""
    with sqlite_database.write() as session:
        assert factors.ensure_recovery_codes(session.connection(), account.id) is None
        assert factors.find(session.connection(), account.id, Type.RECOVERY_CODES) == made


def test_of_32_uses_of_one_code_one_succeeds(factors_with, database):
    """Racing transactions share one success; and where each has a code of its own, no use is forgotten."""
    factors = factors_with(mfa_recovery_code_count=RACERS)
    account = _account(factors, database)
    with database.write() as session:
        made = factors.ensure_recovery_codes(session.connection(), account.id)
    codes = factors.recovery_codes.unused(made)

    used = race(database, lambda connection, _: factors.check_code(connection, account.id, codes[3]))
    assert len(used) == RACERS
    assert [one.id for one in used if one] == [made.id]
    assert stored(database, made.id)["data"]["used"] == [3]

    used = race(database, lambda connection, number: factors.check_code(connection, account.id, codes[number]))
    assert [bool(one) for one in used] == [number != 3 for number in range(RACERS)]
    assert stored(database, made.id)["data"]["used"] == list(range(RACERS))


def test_renewals_at_the_same_time_leave_one_set(factors, database):
    """Everybody who renews is shown a set, and the last one is what is stored."""
    account = _account(factors, database)

    made = race(database, lambda connection, _: factors.renew_recovery_codes(connection, account.id), 8)

    assert all(made)
    assert how_many(database) == 2
    with database.read() as connection:
        assert factors.find(connection, account.id, Type.RECOVERY_CODES) in made


def _has_doubles(number: int) -> bool:
    seed = number.to_bytes(20, "big")
    digests = [hmac.new(seed, str(index).encode(), hashlib.sha256).digest() for index in range(100)]
    return len({int.from_bytes(digest) % 10**6 for digest in digests}) < 100
