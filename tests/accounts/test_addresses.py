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
