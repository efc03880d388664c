"""Mistakes in hook implementations are found before anything is called, and explained."""

# ruff: noqa: ARG004, ARG005 - only the signatures of these functions matter
from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any

import pytest

from host.contract.actions import ActionResult
from host.contract.markers import hookimpl
from host.contract.plugin import Plugin
from host.plugins.validation import hooks_of, mixins_of, unmarked_hooks, validate

EXPECTED = "perform_action(action: str, data: Json, user: User) -> ActionResult | None"


class Right(Plugin):
    """As it should be; nothing of it may run."""

    def __init__(self) -> None:
        raise AssertionError("must not be constructed")

    @property
    def explosive(self) -> str:
        """Must not be read."""
        raise AssertionError("must not be read")

    @hookimpl
    def perform_action(self, action: str) -> ActionResult | None:  # type: ignore[override]  # as pluggy allows
        """Take fewer arguments."""

    @hookimpl
    async def locate_item(self, item_id: int, user: Any) -> None:
        """Be asynchronous."""

    @staticmethod
    @hookimpl
    def ui_panels(context: Any) -> list[Any]:
        """Need no instance."""
        return []

    @hookimpl
    @classmethod
    def plugin_settings(cls) -> list[Any]:
        """Need the class alone."""
        return []

    @hookimpl(specname="stop")
    def shut_down(self) -> None:
        """Have another name."""

    @hookimpl(optionalhook=True)
    def of_a_later_host(self, anything: Any) -> None:
        """Be for another version of the host."""


RIGHT_HOOKS = ("stop", "perform_action", "locate_item", "ui_panels", "plugin_settings")


def module() -> types.ModuleType:
    """Return a plugin that is a module."""
    made = types.ModuleType("lamp")
    for name, function in {"perform_action": lambda action: None, "on_event": lambda event: None}.items():
        function.__name__ = name
        setattr(made, name, hookimpl(function))
    return made


@pytest.mark.parametrize(
    ("plugin", "hooks"),
    [
        pytest.param(Right, RIGHT_HOOKS, id="a class"),
        pytest.param(object.__new__(Right), RIGHT_HOOKS, id="an instance"),
        pytest.param(module(), ("perform_action", "on_event"), id="a module"),
        pytest.param(Plugin, (), id="without hooks"),
    ],
)
def test_right_plugins_have_no_problems(plugin, hooks):
    """Classes, instances and modules are understood without running any of their code."""
    assert validate(plugin, "lamp") == []
    assert hooks_of(plugin) == hooks


def plugin_with(name: str, function: Any) -> type:
    """Return a plugin class with one attribute."""
    return type("Lamp", (), {name: function})


def fresh(function: Any) -> Any:
    """Return a copy, since the mark is left on the function itself."""
    return types.FunctionType(function.__code__, globals(), function.__name__)


def decorate_carelessly(function: Callable[..., Any]) -> Callable[..., Any]:
    """Hide the signature."""

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return wrapper


def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
    """Keep the signature."""
    return functools.wraps(function)(decorate_carelessly(function))


def perform(self: Any, action: Any) -> None:
    """Be right."""


def perform_wrongly(self, akshun, data):
    """Misspell an argument."""


def yielding(self: Any, action: Any) -> Any:
    """Be a generator."""
    yield action


async def yielding_async(self: Any, action: Any) -> Any:
    """Be an asynchronous generator."""
    yield action


class Callable_:  # noqa: N801 - the name is taken
    """An object that can be called, with a mark."""

    plugyard_impl = {"specname": None}  # noqa: RUF012

    def __call__(self) -> None:
        """Do nothing."""


@pytest.mark.parametrize(
    ("attribute", "function", "problem"),
    [
        pytest.param(
            "perform_acton",
            hookimpl(fresh(perform)),
            "unknown hook perform_acton; did you mean perform_action?",
            id="misspelt",
        ),
        pytest.param(
            "zzz",
            hookimpl(lambda self: None),
            "unknown hook zzz; see the list of hooks, or mark it optionalhook=True",
            id="unknown",
        ),
        pytest.param(
            "anything",
            hookimpl(specname="locate_itm")(fresh(perform)),
            "unknown hook locate_itm; did you mean locate_item?",
            id="a misspelt specname",
        ),
        pytest.param(
            "perform_action",
            hookimpl(fresh(perform_wrongly)),
            "hook perform_action has the wrong signature, nothing is passed for akshun; "
            f"expected {EXPECTED}, found perform_action(akshun, data)",
            id="a misspelt argument",
        ),
        pytest.param(
            "perform_action",
            hookimpl(lambda action: None),
            "hook perform_action has the wrong signature, it lacks self; "
            f"expected {EXPECTED}, found perform_action(action)",
            id="no self",
        ),
        pytest.param(
            "stop",
            hookimpl(lambda: None),
            "hook stop has the wrong signature, it lacks self; expected stop() -> None, found stop()",
            id="no parameter at all",
        ),
        pytest.param(
            "perform_action",
            hookimpl(lambda self, *, wanted: None),
            "hook perform_action has the wrong signature, nothing is passed for wanted; "
            f"expected {EXPECTED}, found perform_action(*, wanted)",
            id="an unknown keyword-only argument",
        ),
        pytest.param(
            "perform_action",
            hookimpl(lambda self, **kwargs: None),
            "hook perform_action has the wrong signature, **kwargs would get nothing: name the arguments that are "
            f"wanted (and wrap with functools.wraps where a decorator hides them); expected {EXPECTED}, "
            "found perform_action(**kwargs)",
            id="any keyword",
        ),
        pytest.param(
            "perform_action",
            hookimpl(decorate_carelessly(perform)),
            "hook perform_action has the wrong signature, *args would get nothing: name the arguments that are "
            f"wanted (and wrap with functools.wraps where a decorator hides them); expected {EXPECTED}, "
            "found perform_action(*args: Any, **kwargs: Any) -> Any",
            id="a careless decorator",
        ),
        pytest.param(
            "perform_action",
            hookimpl(wrapper=True)(fresh(yielding)),
            "hook perform_action is a wrapper; the host asks each plugin by itself and knows no wrappers",
            id="a wrapper",
        ),
        pytest.param(
            "perform_action",
            hookimpl(hookwrapper=True)(fresh(yielding)),
            "hook perform_action is a wrapper; the host asks each plugin by itself and knows no wrappers",
            id="an old wrapper",
        ),
        pytest.param(
            "perform_action",
            hookimpl(fresh(yielding)),
            "hook perform_action is a generator; return a list instead of using yield",
            id="a generator",
        ),
        pytest.param(
            "perform_action",
            hookimpl(fresh(yielding_async)),
            "hook perform_action is a generator; return a list instead of using yield",
            id="an asynchronous generator",
        ),
        pytest.param(
            "perform_action",
            property(hookimpl(lambda self: None)),
            "perform_action is marked with @hookimpl but is no function or method",
            id="a property",
        ),
        pytest.param(
            "perform_action",
            functools.cached_property(hookimpl(lambda self: None)),
            "perform_action is marked with @hookimpl but is no function or method",
            id="a cached property",
        ),
        pytest.param(
            "perform_action",
            functools.partial(hookimpl(fresh(perform)), action=1),
            "perform_action is marked with @hookimpl but is no function or method",
            id="a partial",
        ),
        pytest.param(
            "perform_action",
            hookimpl(type("Inner", (), {})),
            "perform_action is marked with @hookimpl but is no function or method",
            id="a class",
        ),
        pytest.param(
            "perform_action",
            Callable_(),
            "perform_action is marked with @hookimpl but is no function or method",
            id="a callable object",
        ),
    ],
)
def test_mistakes_are_explained(attribute, function, problem):
    """The message names plugin and hook and says what is wrong, for the class as for an instance."""
    plugin = plugin_with(attribute, function)

    assert validate(plugin, "lamp") == [f"plugin 'lamp': {problem}"]
    assert validate(plugin(), "lamp") == [f"plugin 'lamp': {problem}"]


@pytest.mark.parametrize(
    "function",
    [
        pytest.param(hookimpl(decorate(perform)), id="a careful decorator"),
        pytest.param(hookimpl(lambda self, action, extra=5: None), id="an own argument with a default"),
        pytest.param(hookimpl(lambda this, action: None), id="another name for self"),
        pytest.param(staticmethod(hookimpl(lambda action: None)), id="a static method"),
    ],
)
def test_harmless_liberties_are_fine(function):
    """What the host can call is not refused."""
    assert validate(plugin_with("perform_action", function), "lamp") == []


def test_all_problems_are_found_at_once():
    """An author need not try again for each of them."""
    plugin = type("Lamp", (), {"stopp": hookimpl(fresh(perform)), "perform_action": hookimpl(fresh(perform_wrongly))})

    assert len(validate(plugin, "lamp")) == 2


def test_mixins_are_the_families_of_the_hooks():
    """Base is always there; unknown hooks count for nothing."""
    assert mixins_of(["perform_action", "ui_panels", "ui_features", "nonsense"]) == {
        "base": "Base",
        "action": "Actions",
        "ui": "User interface",
    }
    assert mixins_of([]) == {"base": "Base"}


def test_forgotten_marks_are_noticed():
    """Functions named like a hook but not marked are told apart from those that are."""

    class Forgetful:
        def perform_action(self) -> None:
            """Lack the mark."""

        @hookimpl
        def stop(self) -> None:
            """Have it."""

        models = ()

    assert unmarked_hooks(Forgetful) == ("perform_action",)
    assert unmarked_hooks(Forgetful()) == ("perform_action",)
