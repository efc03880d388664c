"""What a plugin declares once."""

from __future__ import annotations

from typing import Any

import pytest

from host import ModelType, Setting, State, StatusSet
from host.plugins.declarations import DeclarationError, checked


@pytest.mark.parametrize(
    ("members", "named"),
    [
        pytest.param({"name": "\ud800"}, "name of A", id="name with half a surrogate pair"),
        pytest.param({"name": 5}, "name of A", id="name that is no text"),
        pytest.param({"description": None}, "description of A", id="no description"),
        pytest.param({"default": "\ud800"}, "default of A", id="default with half a surrogate pair"),
        pytest.param({"model_filters": {1: 2}}, "model_filters", id="filters whose keys are no texts"),
        pytest.param({"model_filters": {"a": {1}}}, "model_filters", id="filters that hold a set"),
        pytest.param({"validators": print}, "validators of A", id="one function in place of a list"),
        pytest.param({"validators": ["print"]}, "validators of A", id="a validator that is no function"),
        pytest.param({"choices": {"a": "A"}}, "choices of A", id="choices in a dictionary"),
        pytest.param({"choices": "abc"}, "choices of A", id="choices in a text"),
        pytest.param({"choices": [("a", "A", "b")]}, "choices of A", id="a choice of three parts"),
    ],
)
def test_a_setting_that_could_not_be_shown_is_refused(members: dict[str, Any], named: str):
    """The author learns which member of which setting is wrong, before the plugin is used."""
    odd = Setting(**{"key": "A", "name": "a", **members})

    with pytest.raises(DeclarationError, match=named):
        checked("plugin_settings", [odd])


def test_settings_of_every_kind_are_taken():
    """Functions for defaults and choices are asked later."""
    settings = [
        Setting(key="A", name="a", default=str, choices=lambda: [("a", "A")], validators=(print,)),
        Setting(key="B", name="b", choices=[("a", "A"), ["b", "B"]], model="a.b", model_filters={"x": [1]}),  # type: ignore[list-item]
        Setting(key="C", name="c", type="float", default=1.5),
    ]

    assert checked("user_settings", settings) == tuple(settings)


@pytest.mark.parametrize(
    ("states", "named"),
    [
        pytest.param([State(2**63, "A", "a")], "key of Lights.A", id="key of more than 64 bits"),
        pytest.param([State("1", "A", "a")], "key of Lights.A", id="text as key"),  # type: ignore[arg-type]
        pytest.param([State(True, "A", "a")], "key of Lights.A", id="truth as key"),
        pytest.param([State(1, "A", object())], "label are text", id="label that is no text"),  # type: ignore[arg-type]
        pytest.param([State(1, "A", "\ud800")], "label are text", id="label with half a surrogate pair"),
        pytest.param([State(1, "A", "a", "pink")], "colors primary", id="unknown color"),  # type: ignore[arg-type]
        pytest.param(iter(()), "list or tuple", id="states that can be read once"),
    ],
)
def test_a_status_set_that_could_not_be_shown_is_refused(states: Any, named: str):
    """One odd state would spoil the answer that holds all sets."""
    with pytest.raises(DeclarationError, match=named):
        checked("status_sets", [StatusSet(name="Lights", states=states)])


@pytest.mark.parametrize("name", ["custom", "a/b", "", "Two words", "L" * 251])
def test_a_status_set_that_could_not_be_asked_for_is_refused(name: str):
    """Its name is a part of an address."""
    with pytest.raises(DeclarationError, match="name"):
        checked("status_sets", [StatusSet(name=name)])


@pytest.mark.parametrize("member", ["label", "app_label", "role", "api_url"])
def test_a_model_type_that_could_not_be_shown_is_refused(member: str):
    """The author learns which members must be text."""
    odd: dict[str, Any] = {"name": "lamp", "label": "Lamp", member: 5}

    with pytest.raises(DeclarationError, match="of lamp must be text"):
        checked("model_types", [ModelType(**odd)])
