"""E-mail addresses."""

from __future__ import annotations

import pytest

from host.accounts.addresses import clean_email, email_problems


@pytest.mark.parametrize("address", ["ada@example.org", "a.b+c@sub.example.org", "x@localhost", "x@bücher.example"])
def test_usual_addresses_are_accepted(address: str):
    """Plain, tagged, local and international addresses are well formed."""
    assert email_problems(clean_email(address)) == []


@pytest.mark.parametrize(
    "address",
    [
        "ada",
        "@example.org",
        "ada@",
        "ada@example",
        "a b@example.org",
        "ada@exa mple.org",
        "ada@-x.org",
        "ada@a_b.org",
        "ada@example.org.",
        "a..b@example.org",
        "ada@example.org\nBcc: x@example.org",
        "x" * 65 + "@example.org",
        "ada\x00@example.org",
    ],
)
def test_malformed_addresses_are_refused(address: str):
    """Everything that is no address has the code invalid."""
    assert [problem.code for problem in email_problems(address)] == ["invalid"]


def test_an_address_fits_its_column():
    """At most 254 characters are accepted."""
    address = "a@" + ".".join(["x" * 60] * 5)

    assert [problem.code for problem in email_problems(address)] == ["max_length"]


def test_addresses_are_kept_in_lower_case():
    """Case and blanks around do not make another address."""
    assert clean_email(" Ada@Example.ORG ") == "ada@example.org"


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        pytest.param("\uff21\uff24\uff21\uff20example.org", "ada@example.org", id="full width"),
        pytest.param("\u212aate@example.org", "kate@example.org", id="kelvin sign"),
        pytest.param("o\ufb03ce@example.org", "office@example.org", id="ligature"),
        pytest.param("x@BU\u0308CHER.example", "x@bücher.example", id="combining mark"),
        pytest.param("x@STRASSE.example", "x@strasse.example", id="no folding"),
        pytest.param("x@stra\u00dfe.example", "x@stra\u00dfe.example", id="sharp s is another domain"),
    ],
)
def test_addresses_that_look_alike_are_one(typed: str, kept: str):
    """One Unicode form is kept, and cleaning it again changes nothing."""
    assert clean_email(typed) == clean_email(clean_email(typed)) == kept
    assert email_problems(kept) == []
