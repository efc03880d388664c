"""What values of global settings must look like."""

from __future__ import annotations

import pytest

from host import SettingError
from host.settings.checks import Bounds, currency_codes, file_endings, mail_domains, names, not_empty


@pytest.mark.parametrize(
    ("check", "value"),
    [
        pytest.param(Bounds(7, 9), 7, id="the least"),
        pytest.param(Bounds(7, 9), 9, id="the most"),
        pytest.param(not_empty, "a", id="some text"),
        pytest.param(currency_codes, "EUR, USD", id="codes with blanks"),
        pytest.param(mail_domains, "", id="no domain"),
        pytest.param(mail_domains, "@example.org, works.example", id="domains with and without sign"),
        pytest.param(mail_domains, "@müller.example", id="domain beyond ASCII"),
        pytest.param(file_endings, "pdf, .PNG, tar.gz", id="endings with and without dot"),
    ],
)
def test_good_values_pass(check, value):
    """Nothing is raised."""
    check(value)


@pytest.mark.parametrize(
    ("check", "value", "named"),
    [
        pytest.param(Bounds(7, 9), 6, "7 to 9", id="too little"),
        pytest.param(Bounds(7, 9), 2**63 - 1, "7 to 9", id="too much"),
        pytest.param(not_empty, "", "not empty", id="nothing"),
        pytest.param(currency_codes, ",", "EUR,USD", id="no code"),
        pytest.param(currency_codes, "EUR,usd,dollar", "dollar, usd", id="no codes"),
        pytest.param(currency_codes, "EUR,USD,EUR", "EUR", id="a code twice"),
        pytest.param(mail_domains, "@example.org;@works.example", "@example.org;", id="another separator"),
        pytest.param(mail_domains, "ada@example.org", "ada@", id="an address"),
        pytest.param(mail_domains, "-a.example", "-a.example", id="a hyphen first"),
        pytest.param(mail_domains, "a" * 1900 + ".", "aaaa", id="endless"),
        pytest.param(file_endings, "tar gz", "tar gz", id="a blank"),
        pytest.param(file_endings, "../sh", "../sh", id="a path"),
    ],
)
def test_the_refusal_of_a_bad_value_says_what_to_write(check, value, named):
    """The text names the bounds, or what was wrong."""
    with pytest.raises(SettingError) as error:
        check(value)

    assert named in str(error.value)


def test_lists_are_separated_by_commas():
    """Blanks and empty members do not count."""
    assert names(" a, b,,c ") == ("a", "b", "c")
