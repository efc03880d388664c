"""What a plugin declares once."""

from __future__ import annotations

from typing import Any

import pytest

from host import Setting
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
