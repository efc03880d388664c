"""What an account owns to prove a second time who it is."""

from __future__ import annotations

import pytest
from pyotp import TOTP
from sqlalchemy import delete

from host.accounts.account import USERS
from host.accounts.factors.authenticators import FactorType as Type
from tests.factors.conftest import how_many, new_account, new_key, stored
from tests.factors.software_authenticator import SoftwareAuthenticator


@pytest.fixture
def account(sqlite_database):
    return new_account(sqlite_database)


@pytest.fixture
def add(factors, sqlite_database, account):
    """Add authenticators by their kinds, each a second later than the one before."""

    def add(*kinds: str):
        added = []
        with sqlite_database.write() as session:
            connection = session.connection()
            for kind in kinds:
                if kind == "totp":
                    added.append(factors.add_totp(connection, account.id, factors.totp.new_secret()))
                elif kind == "webauthn":
                    key = new_key(factors, account, SoftwareAuthenticator())
                    added.append(factors.add_key(connection, account.id, key))
                else:
                    added.append(factors.ensure_recovery_codes(connection, account.id))
        return added

    return add


def test_kinds_are_listed_once_and_in_order(factors, sqlite_database, account, add):
    """Clients always get the same order, whatever was made first."""
    add("webauthn", "webauthn", "totp", "recovery_codes")

    with sqlite_database.read() as connection:
        assert factors.types_of(connection, account.id) == ["recovery_codes", "totp", "webauthn"]
        listed = [authenticator.type.value for authenticator in factors.list_of(connection, account.id)]
    assert listed == ["webauthn", "webauthn", "totp", "recovery_codes"]


@pytest.mark.parametrize(
    ("kinds", "needed"),
    [((), False), (("totp",), True), (("webauthn",), True), (("totp", "recovery_codes"), True)],
    ids=repr,
)
def test_an_app_or_a_key_asks_for_a_second_factor(factors, sqlite_database, account, add, kinds, needed):
    """An account without either signs in without."""
    add(*kinds)

    with sqlite_database.read() as connection:
        assert factors.are_needed(connection, account.id) is needed


def test_nothing_fits_an_account_without_authenticators(factors, sqlite_database, account):
    """Any code is wrong."""
    with sqlite_database.write() as session:
        assert factors.check_code(session.connection(), account.id, "123456") is None
    assert how_many(sqlite_database) == 0


def test_codes_of_another_account_do_not_fit(factors, sqlite_database, account, clock):
    """The code that is right for one is wrong for all others."""
    other, secrets = new_account(sqlite_database, "eve"), ["JBSWY3DPEHPK3PXP" * 2, "KRSXG5CTMVRXEZLU" * 2]
    with sqlite_database.write() as session:
        connection = session.connection()
        apps = [
            factors.add_totp(connection, owner.id, secret)
            for owner, secret in zip((account, other), secrets, strict=True)
        ]
        code = TOTP(secrets[0]).at(clock())
        assert factors.check_code(connection, other.id, code) is None
        assert factors.check_code(connection, account.id, code) == apps[0]
    assert stored(sqlite_database, apps[1].id)["last_used"] is None


@pytest.mark.parametrize(
    ("kinds", "removed", "left"),
    [
        pytest.param(("totp", "recovery_codes"), [0], [], id="codes go with the app"),
        pytest.param(("totp", "webauthn", "recovery_codes"), [0], [1, 2], id="codes stay for the key"),
        pytest.param(("webauthn", "webauthn", "recovery_codes"), [0, 1], [], id="codes go with the keys"),
        pytest.param(("totp", "recovery_codes"), [], [0, 1], id="nothing"),
        pytest.param(("totp", "recovery_codes"), [1], [0], id="codes alone"),
    ],
)
def test_recovery_codes_go_with_the_last_of_the_others(factors, sqlite_database, account, add, kinds, removed, left):
    """What was removed is told, what is left is stored."""
    made = add(*kinds)
    with sqlite_database.write() as session:
        gone = factors.remove(session.connection(), account.id, [made[index].id for index in removed])

    with sqlite_database.read() as connection:
        assert factors.list_of(connection, account.id) == [made[index] for index in left]
    assert {one.id for one in gone} == {one.id for index, one in enumerate(made) if index not in left}


def test_nobody_removes_what_another_account_owns(factors, sqlite_database, account, add):
    """Foreign ids are passed over."""
    made = add("totp", "webauthn")
    other = new_account(sqlite_database, "eve")
    with sqlite_database.write() as session:
        assert factors.remove(session.connection(), other.id, [one.id for one in made]) == []
    assert how_many(sqlite_database) == 2


def test_a_removed_account_takes_its_authenticators_along(sqlite_database, account, add):
    """Nothing is left of them."""
    add("totp", "webauthn", "recovery_codes")
    with sqlite_database.write() as session:
        session.connection().execute(delete(USERS).where(USERS.c.id == account.id))
    assert how_many(sqlite_database) == 0


def test_authenticators_are_shown_as_clients_know_them(factors, sqlite_database, account, add, clock):
    """Times are seconds, codes are counted and shown only where they are asked for, and nothing else is secret."""
    app, key, codes = add("totp", "webauthn", "recovery_codes")
    at = clock().timestamp()
    with sqlite_database.write() as session:
        connection = session.connection()
        clock.pass_by(5)
        used = factors.recovery_codes.unused(codes)[0]
        factors.check_code(connection, account.id, used)
        codes = factors.find(connection, account.id, Type.RECOVERY_CODES)

    times = {"created_at": at, "last_used_at": None}
    assert factors.show(app, with_codes=True) == {"type": "totp", **times}
    assert factors.show(key, with_codes=True) == {
        "type": "webauthn",
        "id": key.id,
        "name": "Master key",
        "is_passwordless": False,
        **times,
    }
    counted = {"type": "recovery_codes", "created_at": at, "last_used_at": at + 5}
    counted |= {"total_code_count": 10, "unused_code_count": 9}
    assert factors.show(codes) == counted
    unused = factors.recovery_codes.unused(codes)
    assert factors.show(codes, with_codes=True) == {**counted, "unused_codes": unused}
    assert used not in unused
    assert type(factors.show(app)["type"]) is str


def test_keys_are_named_by_their_number_or_as_their_owner_says(factors, sqlite_database, account, add):
    """Names that were not given are made up; a foreign key cannot be renamed."""
    with sqlite_database.write() as session:
        named = factors.add_key(
            session.connection(), account.id, new_key(factors, account, SoftwareAuthenticator()), "At home"
        )
    others = add("webauthn", "webauthn")
    app = add("totp")[0]
    eve = new_account(sqlite_database, "eve")

    assert [one.name for one in (named, *others)] == ["At home", "Backup key", "Key nr. 3"]
    with sqlite_database.write() as session:
        connection = session.connection()
        renamed = factors.rename_key(connection, account.id, named.id, "On the road")
        assert factors.rename_key(connection, eve.id, named.id, "Mine") is None
        assert factors.rename_key(connection, account.id, app.id, "Mine") is None
    assert renamed.name == "On the road"
    assert stored(sqlite_database, named.id)["name"] == "On the road"
    assert stored(sqlite_database, app.id)["name"] == ""
