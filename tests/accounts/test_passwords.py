"""Password hashes and password rules."""

from __future__ import annotations

import logging
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from host.accounts.digests import VerifiedPasswords
from host.accounts.password_rules import PasswordRules, common_passwords
from host.accounts.passwords import Passwords
from host.errors import UnavailableError
from tests.accounts.conftest import CountedPasswords

OWN = {
    "username": "countess",
    "first_name": "Augusta",
    "last_name": "Lovelace",
    "email": "ada.byron@analytical.example",
}


def codes(password: str, own: dict[str, str] | None = None) -> list[str]:
    return [problem.code for problem in PasswordRules().check(password, own)]


@pytest.mark.parametrize(
    ("password", "expected"),
    [
        pytest.param("", ["required"], id="empty"),
        pytest.param("xk7#qz", ["password_too_short"], id="short"),
        pytest.param("12345678", ["password_too_common", "password_entirely_numeric"], id="common digits"),
        pytest.param("PassWord1", ["password_too_common"], id="common in another case"),
        pytest.param("83920174652", ["password_entirely_numeric"], id="digits"),
        pytest.param("x" * 4097, ["max_length"], id="endless"),
        pytest.param("xk7#qz\x00pw", ["null_characters_not_allowed"], id="null character"),
        pytest.param("xk7#qz\ud800pw", ["invalid"], id="half a character"),
        pytest.param("xk7#qz pw\t!", [], id="good"),
        pytest.param("Grüße aus 東京", [], id="good in any script"),
    ],
)
def test_weak_passwords_are_named(password: str, expected: list[str]):
    """Every broken rule is reported with its code."""
    assert codes(password) == expected


@pytest.mark.parametrize(
    "password", ["countess1", "xLovelace", "analytical", "ADA.BYRON@analytical.example", "augusta99"]
)
def test_a_password_must_not_resemble_its_person(password: str):
    """Username, names, address and parts of it are compared; without a person nothing is."""
    assert "password_too_similar" in codes(password, OWN)
    assert "password_too_similar" not in codes(password)


def test_similarity_needs_data():
    """An account without names and address refuses nothing as similar."""
    assert codes("countess1", {"username": "", "email": ""}) == []


def test_the_common_passwords_are_there():
    """About 20,000 entries come with the host, all in lower case."""
    assert len(common_passwords()) > 19_000
    assert all(entry == entry.lower() for entry in common_passwords())


def test_a_hash_fits_its_password_only():
    """The right password fits, another one, none and one that is no text do not."""
    passwords = CountedPasswords()
    stored = passwords.hash("right")

    assert stored.startswith("$argon2id$")
    assert passwords.check(stored, "right")
    assert not passwords.check(stored, "wrong")
    assert not passwords.check(stored, "\ud800")
    assert not passwords.check(None, "right")


def test_an_account_without_password_costs_the_same_work():
    """Where nothing can fit, one full check is done all the same."""
    passwords = CountedPasswords()

    assert not passwords.check(None, "anything")
    assert passwords.verified == 1


def test_a_hash_of_another_kind_fits_nothing(caplog: pytest.LogCaptureFixture):
    """A stored text that is no argon2 hash is a mismatch, logged without the text."""
    with caplog.at_level(logging.ERROR):
        assert not CountedPasswords().check("pbkdf2_sha256$1$salt$hash", "right")

    assert caplog.records
    assert "pbkdf2" not in caplog.text


def test_other_parameters_ask_for_a_rehash():
    """A hash is renewed when the parameters have changed, and only then."""
    cheap, dear = CountedPasswords(time_cost=1), CountedPasswords(time_cost=2)

    assert dear.needs_rehash(cheap.hash("right"))
    assert not dear.needs_rehash(dear.hash("right"))


def test_the_host_uses_argon2id_with_its_memory():
    """Without arguments the parameters are the recommended ones."""
    assert "$argon2id$v=19$m=65536,t=3,p=4$" in Passwords().hash("right")


def test_checks_wait_for_their_turn():
    """Never more computations run than allowed; who waits too long is told so."""
    passwords = CountedPasswords(concurrent=1, patience=0.01)
    stored = passwords.hash("right")

    with passwords._turn():
        for attempt in (lambda: passwords.check(stored, "right"), lambda: passwords.hash("other")):
            with pytest.raises(UnavailableError, match="Try again"):
                attempt()

    assert passwords.check(stored, "right")


def test_a_flood_of_wrong_passwords_does_not_take_every_thread():
    """Few wait for a turn, the others are sent away at once; equal checks share one, right or wrong."""
    passwords = CountedPasswords(concurrent=1, crowd=2)
    stored, verified = passwords.hash("right"), VerifiedPasswords()
    passwords.verified = 0

    with ThreadPoolExecutor(8) as pool:
        with passwords._turn():
            proof = verified.proof(1, stored, "wrong")
            equal = [pool.submit(passwords.check, stored, "wrong", proof=proof) for _ in range(3)]
            other = pool.submit(passwords.check, None, "other")
            while passwords._waiting._value:
                time.sleep(0.001)
            with pytest.raises(UnavailableError, match="Try again"):
                passwords.check(stored, "right")
            assert not any(one.done() for one in [*equal, other])
        assert [one.result(10) for one in [*equal, other]] == [False] * 4

    assert passwords.verified == 2
    assert passwords.check(stored, "right")
