"""What hooks return is compared with what they promise."""

from __future__ import annotations

import pytest

from host.contract.markers import Asked, HookInfo
from host.plugins.results import check, expected, is_right


def info(returns: type | None, *, many: bool = False, optional: bool = False) -> HookInfo:
    """Return what is known of a hook."""
    return HookInfo("0.1", Asked.ALL, returns, many, optional)


class Loud:
    """Must not be shown by its own means."""

    def __repr__(self) -> str:
        raise AssertionError("its code must not run outside of a deadline")


@pytest.mark.parametrize(
    ("hook", "value", "used", "problem"),
    [
        pytest.param(info(str), "a", "a", "", id="right"),
        pytest.param(info(str), 5, None, "returned 5, expected str", id="wrong"),
        pytest.param(info(str), None, None, "returned None, expected str", id="None where it must not be"),
        pytest.param(info(str, optional=True), None, None, "", id="None where it may be"),
        pytest.param(info(str), Loud(), None, "returned {here}.Loud, expected str", id="no code of the plugin runs"),
        pytest.param(info(int), True, True, "", id="a subclass"),
        pytest.param(info(None), "anything", None, "", id="nothing is promised"),
        pytest.param(info(str, many=True), ["a", "b"], ["a", "b"], "", id="a list"),
        pytest.param(info(str, many=True), ("a",), ("a",), "", id="a tuple"),
        pytest.param(info(str, many=True), [], [], "", id="an empty list"),
        pytest.param(info(str, many=True), "ab", None, "returned 'ab', expected a list or tuple of str", id="no list"),
        pytest.param(
            info(str, many=True),
            ["a", 1, None],
            ["a"],
            "returned a list with 1, None, expected a list or tuple of str; these items are left out",
            id="wrong items",
        ),
        pytest.param(
            info(str, many=True),
            list(range(7)),
            [],
            "returned a list with 0, 1, 2, 3, 4 and 2 more, expected a list or tuple of str; these items are left out",
            id="many wrong items",
        ),
        pytest.param(info(object, many=True), [1, "a"], [1, "a"], "", id="any items"),
        pytest.param(info(type, many=True), [str], [str], "", id="classes"),
    ],
)
def test_an_answer_is_used_as_far_as_it_is_right(hook, value, used, problem):
    """The usable part stays, and the message says what came and what was expected."""
    checked = check(hook, value)

    assert checked.value == used
    assert checked.problem == problem.format(here=__name__)
    assert is_right(hook, value) == (not problem and not (hook.returns is None and value is not None))


def test_long_values_are_shortened():
    """A huge text does not fill the error report."""
    assert len(check(info(int), "x" * 10_000).problem) < 300


@pytest.mark.parametrize(
    ("hook", "words"),
    [
        (info(None), "nothing"),
        (info(object), "any value"),
        (info(object, many=True), "a list or tuple of any values"),
        (info(str, optional=True), "str or None"),
    ],
    ids=str,
)
def test_the_expectation_is_told_in_words(hook, words):
    """Documentation and messages use the same words."""
    assert expected(hook) == words
