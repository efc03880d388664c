"""The rules for setting values."""

from __future__ import annotations

import pytest

from host import Setting, SettingError
from host.errors import InvalidInputError
from host.settings.values import (
    ConfirmationNeededError,
    SettingRules,
    Stored,
    confirm,
    is_mask,
)

TEXT = Setting(key="TEXT", name="Text")
FLAG = Setting(key="FLAG", name="Flag", type="boolean")
COUNT = Setting(key="COUNT", name="Count", type="integer")
RATIO = Setting(key="RATIO", name="Ratio", type="float")


def fail(*_: object) -> object:
    msg = "broken"
    raise RuntimeError(msg)


def _broken_check(_value: object) -> None:
    fail()


@pytest.fixture
def failures() -> list[str]:
    return []


@pytest.fixture
def rules(failures) -> SettingRules:
    return SettingRules(failed=lambda what, _error: failures.append(what))


@pytest.mark.parametrize(
    ("setting", "value", "text", "converted"),
    [
        pytest.param(TEXT, "  a\tb\r\nc\x00\u2028d ", "abcd", "abcd", id="text is cleaned"),
        pytest.param(TEXT, "a < b & c", "a < b & c", "a < b & c", id="comparison is no HTML"),
        pytest.param(TEXT, None, "", "", id="null is the empty text"),
        pytest.param(TEXT, True, "True", "True", id="boolean as text"),
        pytest.param(TEXT, 5.0, "5", "5", id="number as text"),
        pytest.param(TEXT, {"a": [1]}, '{"a":[1]}', '{"a":[1]}', id="object as text"),
        pytest.param(FLAG, True, "True", True, id="true"),
        pytest.param(FLAG, " YES ", "True", True, id="yes"),
        pytest.param(FLAG, 1, "True", True, id="one"),
        pytest.param(FLAG, "off", "False", False, id="off"),
        pytest.param(FLAG, "rubbish", "False", False, id="unreadable is false"),
        pytest.param(FLAG, None, "False", False, id="null is false"),
        pytest.param(COUNT, "-12", "-12", -12, id="integer as text"),
        pytest.param(COUNT, 3.0, "3", 3, id="whole float"),
        pytest.param(COUNT, "+007", "7", 7, id="integer in an odd form"),
        pytest.param(RATIO, "1e3", "1000", 1000.0, id="float as text"),
        pytest.param(RATIO, 0.25, "0.25", 0.25, id="float"),
        pytest.param(RATIO, 2, "2", 2.0, id="integer for a float"),
    ],
)
def test_a_value_is_cleaned_and_converted(rules, setting, value, text, converted):
    """What is stored is text; what the plugin sees has the type of the setting."""
    checked = rules.check(setting, value)

    assert (checked.text, checked.value) == (text, converted)
    assert type(checked.value) is type(converted)


@pytest.mark.parametrize(
    ("setting", "value", "field"),
    [
        pytest.param(COUNT, "1.5", "non_field_errors", id="float for an integer"),
        pytest.param(COUNT, "", "non_field_errors", id="nothing for an integer"),
        pytest.param(COUNT, "1_000", "non_field_errors", id="underscore"),
        pytest.param(COUNT, 2**63, "non_field_errors", id="beyond 64 bits"),
        pytest.param(COUNT, 10**5000, "non_field_errors", id="endless number"),
        pytest.param(COUNT, True, "non_field_errors", id="boolean for an integer"),
        pytest.param(RATIO, "nan", "non_field_errors", id="nan"),
        pytest.param(RATIO, "inf", "non_field_errors", id="infinite"),
        pytest.param(RATIO, "x", "non_field_errors", id="text for a float"),
        pytest.param(TEXT, "<b>bold</b>", "value", id="HTML"),
        pytest.param(TEXT, "<!-- x", "value", id="comment"),
        pytest.param(TEXT, "x" * 2001, "value", id="too long"),
    ],
)
def test_a_value_that_does_not_fit_is_refused(rules, setting, value, field):
    """The error stands where clients look for it."""
    with pytest.raises(InvalidInputError) as caught:
        rules.check(setting, value)

    assert list(caught.value.fields) == [field]


def test_the_longest_text_fits(rules):
    """2000 characters are allowed, after cleaning."""
    assert len(rules.check(TEXT, " " + "x" * 2000 + " ").text) == 2000


@pytest.mark.parametrize(
    ("setting", "good", "bad"),
    [
        (Setting(key="C", name="", choices=[("a", "A"), ("b", "B")]), "b", "c"),
        (Setting(key="C", name="", type="integer", choices=[(1, "One"), (2, "Two")]), "2", 3),
        (Setting(key="C", name="", type="float", choices=[(1, "One"), (0.5, "Half")]), "1.0", 2),
        (Setting(key="C", name="", choices=lambda: [("a", "A")]), "a", ""),
    ],
    ids=["text", "integer", "float", "callable"],
)
def test_only_choices_are_taken(rules, setting, good, bad):
    """A value must be one of the choices, compared in the type of the setting."""
    rules.check(setting, good)
    with pytest.raises(InvalidInputError) as caught:
        rules.check(setting, bad)

    assert list(caught.value.fields) == ["value"]


def test_choices_that_fail_are_none_for_readers_and_a_refusal_for_writers(rules, failures):
    """A list of settings survives broken choices; writing unchecked is not allowed."""
    setting = Setting(key="C", name="", choices=fail)  # type: ignore[arg-type]

    assert rules.describe(setting, None)["choices"] == []
    with pytest.raises(InvalidInputError):
        rules.check(setting, "a")
    assert failures == ["C.choices", "C.choices"]


@pytest.mark.parametrize(
    "choices",
    [["ab", "c"], [("a",)], [(object(), "x")], [5]],
    ids=["texts", "a single", "an object", "a number"],
)
def test_choices_of_a_wrong_shape_are_none(rules, failures, choices):
    """What are no pairs of value and label is reported, and the setting is shown without choices."""
    described = rules.describe(Setting(key="C", name="", choices=lambda: choices), None)

    assert described["choices"] in ([], [{"value": "a", "display_name": "b"}])
    assert failures == ["C.choices"]


def test_validators_get_the_converted_value_and_refuse(rules):
    """The text of a SettingError is for the person who sets the value; of a very long one the beginning."""
    seen: list[object] = []

    def even(value: object) -> None:
        seen.append(value)
        if value == 3:
            msg = "Give an even number." + 5000 * " "
            raise SettingError(msg)

    setting = Setting(key="N", name="", type="integer", validators=[even])
    rules.check(setting, "4")
    with pytest.raises(InvalidInputError) as caught:
        rules.check(setting, "3")

    assert seen == [4, 3]
    (message,) = caught.value.fields["value"]
    assert message.strip() == "Give an even number."
    assert len(message) == 2000


def test_a_validator_that_breaks_refuses_and_is_reported(rules, failures):
    """Any other exception is a refusal too, without its text."""
    with pytest.raises(InvalidInputError) as caught:
        rules.check(Setting(key="N", name="", validators=[_broken_check]), "x")

    assert list(caught.value.fields) == ["value"]
    assert "broken" not in str(caught.value)
    assert failures == ["N.validators"]


@pytest.mark.parametrize(
    ("setting", "stored", "shown"),
    [
        pytest.param(TEXT, None, "", id="unset text"),
        pytest.param(COUNT, None, "", id="unset integer"),
        pytest.param(FLAG, None, False, id="unset boolean"),
        pytest.param(Setting(key="A", name="", default="x"), None, "x", id="default"),
        pytest.param(Setting(key="A", name="", type="integer", default=lambda: 4), None, 4, id="callable default"),
        pytest.param(Setting(key="A", name="", type="float", default=1), None, 1.0, id="float default"),
        pytest.param(COUNT, "5", 5, id="integer"),
        pytest.param(COUNT, "once text", "", id="text that fits no more"),
        pytest.param(RATIO, "0.5", 0.5, id="float"),
        pytest.param(FLAG, "True", True, id="boolean"),
        pytest.param(Setting(key="A", name="", protected=True), "secret", "***", id="protected"),
        pytest.param(Setting(key="A", name="", protected=True), "", "", id="protected and empty"),
        pytest.param(Setting(key="A", name="", protected=True, default="d"), None, "***", id="protected default"),
        pytest.param(Setting(key="A", name="", model="app.part", type="integer"), "5", "5", id="reference"),
        pytest.param(Setting(key="A", name="", model="app.part"), None, "", id="unset reference"),
    ],
)
def test_the_value_is_shown_in_its_type(rules, setting, stored, shown):
    """Clients see a JSON boolean, number or text, the default while unset, and never a protected value."""
    value = rules.describe(setting, None if stored is None else Stored(1, stored))["value"]

    assert value == shown
    assert type(value) is type(shown)


def test_a_default_that_fails_is_none(rules, failures):
    """The list of settings survives it."""
    described = rules.describe(Setting(key="A", name="", default=fail), None)  # type: ignore[arg-type]

    assert described["value"] == ""
    assert failures == ["A.default"]


def test_a_description_has_every_member(rules):
    """The members that do not depend on the owner of the setting."""
    setting = Setting(
        key="PART",
        name="Part",
        description="Which",
        units="pcs",
        required=True,
        model="app.part",
        model_filters={"active": True},
        api_url="/api/part/",
        confirm=True,
        confirm_text="Sure?",
    )

    assert rules.describe(setting, Stored(3, "8")) == {
        "pk": 3,
        "key": "PART",
        "value": "8",
        "name": "Part",
        "description": "Which",
        "type": "related field",
        "units": "pcs",
        "required": True,
        "choices": [],
        "model_name": "app.part",
        "model_filters": {"active": True},
        "api_url": "/api/part/",
        "confirm": True,
        "confirm_text": "Sure?",
    }


@pytest.mark.parametrize(
    ("setting", "name"), [(TEXT, "string"), (RATIO, "string"), (COUNT, "integer"), (FLAG, "boolean")]
)
def test_the_type_is_one_of_four_names(rules, setting, name):
    """A float is a string with a numeric value."""
    assert rules.describe(setting, None)["type"] == name


@pytest.mark.parametrize("confirmed", [True, "true", 1, "YES"])
def test_a_confirmed_change_goes_through(confirmed):
    """True is true in any of its forms."""
    confirm(Setting(key="A", name="", confirm=True), confirmed=confirmed)


@pytest.mark.parametrize("confirmed", [False, None, "", "no", 0])
def test_an_unconfirmed_change_is_refused_with_a_text(confirmed):
    """The text that asks is the answer."""
    with pytest.raises(ConfirmationNeededError) as caught:
        confirm(Setting(key="A", name="", confirm=True, confirm_text="Sure?"), confirmed=confirmed)

    assert caught.value.text == "Sure?"


def test_only_a_protected_setting_has_a_mask():
    """Sending back what was shown must not replace the secret."""
    assert is_mask(Setting(key="A", name="", protected=True), "***")
    assert not is_mask(TEXT, "***")


def test_saving_calls_both_hooks_and_survives_the_second(rules, failures):
    """A before_save may refuse; whatever else fails is reported only."""
    seen: list[object] = []

    def refuse(_value: object) -> None:
        msg = "not now"
        raise SettingError(msg)

    rules.before_save(Setting(key="A", name="", before_save=seen.append), 5)
    rules.before_save(Setting(key="B", name="", before_save=fail), 5)  # type: ignore[arg-type]
    rules.after_save(Setting(key="C", name="", after_save=fail), 5)  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match="not now"):
        rules.before_save(Setting(key="D", name="", before_save=refuse), 5)

    assert seen == [5]
    assert failures == ["B.before_save", "C.after_save"]
