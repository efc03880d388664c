"""Usernames."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from host.accounts.usernames import MAX_FOLDED_LENGTH, clean_username, fold_username, username_problems


@pytest.mark.parametrize("name", ["ada", "Ada.Lovelace", "a@b+c-d_e", "Ζωή", "名前", "x" * 150, "42"])
def test_letters_digits_and_five_signs_are_allowed(name: str):
    """Letters and digits of any script and the signs @ . + - _ make a username."""
    assert username_problems(name) == []


@pytest.mark.parametrize(
    ("name", "codes"),
    [
        pytest.param("", ["required"], id="empty"),
        pytest.param("a b", ["invalid"], id="blank inside"),
        pytest.param("a/b", ["invalid"], id="slash"),
        pytest.param("a\x00b", ["invalid"], id="null character"),
        pytest.param("a\n", ["invalid"], id="line break at the end"),
        pytest.param("\ud800", ["invalid"], id="half a character"),
        pytest.param("x" * 151, ["max_length"], id="too long"),
        pytest.param("!" * 151, ["invalid", "max_length"], id="wrong and too long"),
    ],
)
def test_other_usernames_are_refused(name: str, codes: list[str]):
    """Each fault has its code, and all faults are named at once."""
    assert [problem.code for problem in username_problems(name)] == codes


@pytest.mark.parametrize(
    ("one", "other"), [("Ada", "aDA"), ("straße", "STRASSE"), ("é", "É"), ("ﬁ", "FI"), (" ada ", "ada")]
)
def test_spellings_of_one_name_fold_to_the_same(one: str, other: str):
    """Case and Unicode form do not make another username."""
    assert fold_username(one) == fold_username(other)


@given(st.text(max_size=200))
@example("ΐ" * 150)
def test_folding_settles(text: str):
    """Folding again, cleaning first or folding another case changes nothing."""
    folded = fold_username(text)

    assert fold_username(folded) == folded
    assert fold_username(clean_username(text)) == folded
    assert fold_username(text.casefold()) == folded


@given(st.text(max_size=200))
def test_cleaning_settles(text: str):
    """A cleaned username stays as it is."""
    assert clean_username(clean_username(text)) == clean_username(text)


@given(st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=150).map(clean_username))
@example(clean_username("ΐ" * 150))
def test_an_accepted_username_fits_its_columns(name: str):
    """What passes the check can be stored, and so can its folded form."""
    if not username_problems(name):
        assert len(name) <= 150
        assert 0 < len(fold_username(name)) <= MAX_FOLDED_LENGTH
        name.encode()
