"""One-time codes of authenticator apps."""

from __future__ import annotations

import base64
from datetime import UTC, datetime

import pytest
from pyotp import TOTP
from sqlalchemy import update

from host.accounts.factors.authenticators import AUTHENTICATORS, get_only, list_of
from host.accounts.factors.authenticators import FactorType as Type
from host.accounts.factors.totp import Totp
from host.accounts.seals import Seals
from tests.factors.conftest import RACERS, how_many, new_account, options_of, race, stored

SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"


def code(clock, offset: int = 0) -> str:
    return TOTP(SECRET).at(clock(), counter_offset=offset)


@pytest.fixture
def added(factors, sqlite_database):
    account = new_account(sqlite_database)
    with sqlite_database.write() as session:
        return factors.add_totp(session.connection(), account.id, SECRET)


def test_a_new_secret_has_20_bytes(factors):
    """Secrets are as long as the interface says, and no two are equal."""
    secrets = {factors.totp.new_secret() for _ in range(20)}

    assert len(secrets) == 20
    assert {len(base64.b32decode(secret)) for secret in secrets} == {20}


@pytest.mark.parametrize(
    ("options", "label", "issuer", "expected"),
    [
        pytest.param({}, "ada@example.org", "Plugyard", f"ada@example.org?secret={SECRET}&issuer=Plugyard", id="plain"),
        pytest.param({}, "a/b c", "My & Yard", f"a%2Fb%20c?secret={SECRET}&issuer=My%20%26%20Yard", id="quoted"),
        pytest.param(
            {"mfa_totp_digits": 8, "mfa_totp_period": 60},
            "ada",
            "P",
            f"ada?secret={SECRET}&issuer=P&digits=8&period=60",
            id="other than apps assume",
        ),
    ],
)
def test_the_url_is_what_apps_read(factors_with, options, label, issuer, expected):
    """Label and issuer are quoted, and only what differs from the format's defaults is said."""
    url = factors_with(**options).totp.url(SECRET, label=label, issuer=issuer)

    assert url == f"otpauth://totp/{expected}"


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [(59, "94287082"), (1111111109, "07081804"), (1234567890, "89005924"), (20000000000, "65353130")],
)
def test_codes_are_those_of_the_standard(seconds, expected):
    """The test vectors of RFC 6238 verify, and give their period."""
    totp = Totp(options_of(mfa_totp_digits=8), Seals("secret"), lambda: datetime.fromtimestamp(seconds, UTC))

    assert totp.verify(base64.b32encode(b"12345678901234567890").decode(), expected) == seconds // 30


@pytest.mark.parametrize(
    ("tolerance", "offset", "accepted"),
    [(0, 0, True), (0, -1, False), (0, 1, False), (1, -1, True), (1, 1, True), (1, -2, False), (1, 2, False)],
)
def test_the_tolerance_says_which_periods_count(factors_with, clock, tolerance, offset, accepted):
    """A clock that is wrong by no more than the tolerance does not matter."""
    totp = factors_with(mfa_totp_tolerance=tolerance).totp
    present = int(clock().timestamp()) // 30

    assert totp.verify(SECRET, code(clock, offset)) == (present + offset if accepted else None)


@pytest.mark.parametrize(
    "spelling",
    [
        pytest.param(lambda text: text[:-1], id="a digit short"),
        pytest.param(lambda text: text + "0", id="a digit more"),
        pytest.param(lambda text: text.translate({48 + n: 0xFF10 + n for n in range(10)}), id="full width"),
        pytest.param(lambda text: text.translate({48 + n: 0x660 + n for n in range(10)}), id="arabic"),
        pytest.param(lambda _: "", id="nothing"),
        pytest.param(lambda _: "\0" * 6, id="null"),
        pytest.param(lambda _: "\ud800" * 6, id="surrogates"),
        pytest.param(lambda _: "9" * 100_000, id="endless"),
    ],
)
def test_a_code_has_one_spelling(factors, clock, spelling):
    """Nothing but the very digits fits."""
    assert factors.totp.verify(SECRET, spelling(code(clock))) is None


def test_blanks_do_not_matter(factors, clock):
    """Apps show codes in two groups."""
    digits = code(clock)

    assert factors.totp.verify(SECRET, f" {digits[:3]} {digits[3:]} ") is not None


def test_each_code_serves_once_and_none_that_is_older(factors_with, factors, sqlite_database, clock, added):
    """What was accepted is refused from then on, and so is everything before it; the next period's is welcome."""
    tolerant = factors_with(mfa_totp_tolerance=1)
    outcomes = []
    for offset in (0, 0, -1, 1, 0):
        with sqlite_database.write() as session:
            app = get_only(session.connection(), added.user_id, Type.TOTP)
            outcomes.append(tolerant.totp.use(session.connection(), app, code(clock, offset)))

    assert outcomes == [True, False, False, True, False]
    row = stored(sqlite_database, added.id)
    assert row["last_step"] == int(clock().timestamp()) // 30 + 1
    assert row["last_used"] == clock()


def test_the_code_that_proved_the_secret_serves_once_more(factors, sqlite_database, clock, added):
    """Setting an app up marks nothing: the same code signs in, once."""
    assert stored(sqlite_database, added.id)["last_step"] is None

    with sqlite_database.write() as session:
        used = [factors.check_code(session.connection(), added.user_id, code(clock)) for _ in range(2)]

    assert used[0] is not None
    assert used[0].id == added.id
    assert used[1] is None


def test_a_wrong_code_changes_nothing(factors, sqlite_database, clock, added):
    """The right code fits after any number of wrong ones."""
    with sqlite_database.write() as session:
        assert not factors.totp.use(session.connection(), added, code(clock, 5))
    assert stored(sqlite_database, added.id)["last_step"] is None
    assert stored(sqlite_database, added.id)["last_used"] is None


def test_there_is_no_second_app(factors, sqlite_database):
    """The first stays as it is, and the transaction goes on."""
    account = new_account(sqlite_database)
    with sqlite_database.write() as session:
        first = factors.add_totp(session.connection(), account.id, SECRET)
        second = factors.add_totp(session.connection(), account.id, factors.totp.new_secret())
        codes = factors.ensure_recovery_codes(session.connection(), account.id)

    assert second is None
    with sqlite_database.read() as connection:
        assert list_of(connection, account.id) == [first, codes]


def test_the_secret_is_sealed_for_its_owner(factors, sqlite_database, clock, added):
    """The database does not show it, and in another account's row it is worth nothing."""
    row = stored(sqlite_database, added.id)
    assert SECRET not in str(row)
    assert "data" not in repr(added)

    other = new_account(sqlite_database, "eve")
    with sqlite_database.write() as session:
        foreign = factors.add_totp(session.connection(), other.id, factors.totp.new_secret())
        stolen = update(AUTHENTICATORS).where(AUTHENTICATORS.c.id == foreign.id).values(data=row["data"])
        session.connection().execute(stolen)
        assert factors.check_code(session.connection(), other.id, code(clock)) is None
    assert stored(sqlite_database, foreign.id)["last_step"] is None


def test_of_32_uses_of_one_code_one_succeeds(factors, database, clock):
    """Racing transactions share one success; so do those that set an app up."""
    account = new_account(database)

    added = race(database, lambda connection, _: factors.add_totp(connection, account.id, SECRET))
    used = race(database, lambda connection, _: factors.check_code(connection, account.id, code(clock)))

    assert len(added) == len(used) == RACERS
    assert how_many(database) == 1
    (app,) = (app for app in added if app)
    assert [authenticator.id for authenticator in used if authenticator] == [app.id]
    assert stored(database, app.id)["last_step"] == int(clock().timestamp()) // 30
