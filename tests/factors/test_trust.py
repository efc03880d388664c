"""Trusted browsers."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import update

from host.accounts.account import USERS
from host.accounts.factors.authenticators import FactorType as Type
from host.accounts.seals import Seals
from tests.factors.conftest import RP_ID, how_many, new_account, new_key
from tests.factors.software_authenticator import SoftwareAuthenticator

DAYS_14 = 14 * 86_400


@pytest.fixture
def device():
    return SoftwareAuthenticator()


@pytest.fixture
def account(factors, sqlite_database, device):
    """Give an account with an app, a key and recovery codes."""
    account = new_account(sqlite_database)
    with sqlite_database.write() as session:
        connection = session.connection()
        factors.add_totp(connection, account.id, factors.totp.new_secret())
        factors.add_key(connection, account.id, new_key(factors, account, device))
        factors.ensure_recovery_codes(connection, account.id)
    return account


@pytest.fixture
def trusts(factors, sqlite_database):
    def ask(value, user_id):
        with sqlite_database.read() as connection:
            return factors.trust.is_trusted(connection, value, user_id)

    return ask


@pytest.fixture
def trust(factors, sqlite_database):
    def add(user_id, value=None):
        with sqlite_database.read() as connection:
            return factors.trust.add(connection, value, user_id)

    return add


def _change_password(connection, factors, account, clock):
    values = {"password_changed": account.password_changed + timedelta(microseconds=1)}
    connection.execute(update(USERS).where(USERS.c.id == account.id).values(**values))


def _lose_password(connection, factors, account, clock):
    connection.execute(update(USERS).where(USERS.c.id == account.id).values(password_hash=None))


def _replace_app(connection, factors, account, clock):
    app = factors.find(connection, account.id, Type.TOTP)
    factors.remove(connection, account.id, [app.id])
    factors.add_totp(connection, account.id, factors.totp.new_secret())


def _remove_key(connection, factors, account, clock):
    factors.remove(connection, account.id, [key.id for key in factors.keys_of(connection, account.id)])


def _add_key(connection, factors, account, clock):
    factors.add_key(connection, account.id, new_key(factors, account, SoftwareAuthenticator()))


def _renew_codes(connection, factors, account, clock):
    factors.renew_recovery_codes(connection, account.id)


@pytest.mark.parametrize(
    "change", [_change_password, _lose_password, _replace_app, _remove_key, _add_key, _renew_codes]
)
def test_a_change_of_what_protects_an_account_ends_the_trust(
    factors, sqlite_database, account, trust, trusts, clock, change
):
    """A browser that was trusted before is asked again."""
    value = trust(account.id)
    assert trusts(value, account.id)

    with sqlite_database.write() as session:
        change(session.connection(), factors, account, clock)

    assert not trusts(value, account.id)
    assert trusts(trust(account.id, value), account.id)


def test_using_factors_leaves_the_trust(factors, sqlite_database, account, device, trust, trusts):
    """Neither a used recovery code, nor a used key, nor a password that was hashed anew matters."""
    value = trust(account.id)
    with sqlite_database.write() as session:
        connection = session.connection()
        codes = factors.find(connection, account.id, Type.RECOVERY_CODES)
        assert factors.check_code(connection, account.id, factors.recovery_codes.unused(codes)[0])
        options, state = factors.keys.begin_authentication(
            factors.keys_of(connection, account.id), rp_id=RP_ID, user_id=account.id
        )
        assert factors.check_key(connection, state, device.get(options))
        connection.execute(update(USERS).where(USERS.c.id == account.id).values(password_hash="a costlier hash"))

    assert trusts(value, account.id)
    assert how_many(sqlite_database) == 3


@pytest.mark.parametrize(("seconds", "trusted"), [(DAYS_14 - 1, True), (DAYS_14 + 1, False)])
def test_trust_ends_after_14_days(account, trust, trusts, clock, seconds, trusted):
    """It is not renewed by what else the browser does."""
    value = trust(account.id)
    clock.pass_by(seconds)

    assert trusts(value, account.id) is trusted


def test_the_time_of_each_account_counts(sqlite_database, account, trust, trusts, clock):
    """Trust in a second account does not renew that in the first."""
    other = new_account(sqlite_database, "grace")
    value = trust(account.id)
    clock.pass_by(DAYS_14 - 60)
    value = trust(other.id, value)
    assert trusts(value, account.id)
    assert trusts(value, other.id)

    clock.pass_by(120)
    assert not trusts(value, account.id)
    assert trusts(value, other.id)


def test_the_value_is_bounded(sqlite_database, trust, trusts):
    """The newest ten accounts are kept, in what a cookie can hold, and repeating one adds nothing."""
    accounts = [new_account(sqlite_database, f"user{number}") for number in range(12)]
    value = ""
    for account in accounts:
        value = trust(account.id, value)

    assert [trusts(value, account.id) for account in accounts] == [False] * 2 + [True] * 10
    assert len(value) < 1000
    assert len(trust(accounts[5].id, value)) == len(value)


def test_what_nobody_signed_is_not_trusted(account, trust, trusts):
    """Garbage is no error; it is replaced by the next trust."""
    for value in (None, "", "x", "a.b.c", "é", "\0", "." * 5000):
        assert not trusts(value, account.id)
        assert trusts(trust(account.id, value), account.id)


def test_trust_cannot_be_forged(account, sqlite_database, trust, trusts, clock):
    """A changed value, one for another account and one for another purpose are worth nothing."""
    value = trust(account.id)
    other = new_account(sqlite_database, "eve")
    kept = Seals("the secret key of these tests", clock=clock).read("mfa-trust", value, 60)

    assert kept
    assert not trusts(value, other.id)
    assert not trusts(value[:10] + ("A" if value[10] != "A" else "B") + value[11:], account.id)
    assert not trusts(Seals("another key", clock=clock).sign("mfa-trust", kept), account.id)
    assert not trusts(Seals("the secret key of these tests", clock=clock).sign("other", kept), account.id)
