"""Implementations are asked in registry order, and bound by the names of their arguments."""

from __future__ import annotations

from typing import Any

import pytest

from host.contract.actions import ActionResult
from host.contract.markers import hookimpl
from host.plugins.calls import Calls
from host.plugins.implementations import Gate, Implementation
from host.plugins.specs import new_manager, specs
from host.plugins.watched import Statistics


class Plain:
    """Without wishes."""

    @hookimpl
    def perform_action(self) -> ActionResult:
        """Answer."""
        return ActionResult()


class First:
    """Wants to be asked first."""

    @hookimpl(tryfirst=True)
    def perform_action(self) -> ActionResult:
        """Answer."""
        return ActionResult()


class Last:
    """Wants to be asked last."""

    @hookimpl(trylast=True)
    def perform_action(self) -> ActionResult:
        """Answer."""
        return ActionResult()


@pytest.mark.parametrize("backwards", [False, True], ids=["registered in order", "registered backwards"])
def test_order_is_tryfirst_then_the_registry_then_trylast(backwards):
    """The order of registration makes no difference; within each group the registry's order holds."""
    plugins = {"e": Last(), "a": Plain(), "d": First(), "b": Plain(), "f": Last(), "c": First(), "unknown": Plain()}
    manager = new_manager()
    for key in sorted(plugins, reverse=backwards):
        manager.register(plugins[key], name=key)

    table = Calls(lambda *_report: None).table(manager, ["a", "b", "d", "c", "f", "e"])

    assert [item.plugin for item in table["perform_action"]] == ["d", "c", "a", "b", "unknown", "f", "e"]


def test_the_table_has_every_hook():
    """Hooks that nobody implements are there, without implementations."""
    table = Calls(lambda *_report: None).table(new_manager(), [])

    assert set(table) == set(specs())
    assert not any(table.values())


def test_deadlines_are_given_per_family():
    """``default`` serves the families that are not named."""
    manager = new_manager()
    manager.register(Plain(), name="a")

    named = Calls(lambda *_report: None, {"action": 3.0, "default": 4.0}).table(manager, ["a"])
    default = Calls(lambda *_report: None, {"default": 4.0}).table(manager, ["a"])
    none = Calls(lambda *_report: None).table(manager, ["a"])

    assert [table["perform_action"][0].deadline for table in (named, default, none)] == [3.0, 4.0, 10.0]


def _of(function: Any) -> Implementation:
    return Implementation(
        "lamp",
        specs()["perform_action"],
        function,
        deadline=1,
        gate=Gate(),
        statistics=Statistics(),
        on_stuck=lambda _call: None,
    )


def no_arguments() -> Any:
    return ()


def one(user: Any) -> Any:
    return (user,)


def two(user: Any, action: Any) -> Any:
    return user, action


def three(user: Any, action: Any, data: Any) -> Any:
    return user, action, data


def with_a_default(action: Any, data: Any = "default") -> Any:
    return action, data


def keyword_only(*, data: Any, user: Any = 9) -> Any:
    return data, user


def positional_only(data: Any, /, user: Any) -> Any:
    return data, user


def with_own_extra(extra: Any = 5, action: Any = 6) -> Any:
    return extra, action


@pytest.mark.parametrize(
    ("function", "answer"),
    [
        (no_arguments, ()),
        (one, (3,)),
        (two, (3, 1)),
        (three, (3, 1, 2)),
        (with_a_default, (1, 2)),
        (keyword_only, (2, 3)),
        (positional_only, (2, 3)),
        (with_own_extra, (5, 1)),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_arguments_are_passed_by_name(function, answer):
    """Whatever its parameters look like, each gets the argument of its name."""
    assert _of(function).invoke({"action": 1, "data": 2, "user": 3}) == answer


def test_an_implementation_says_whose_it_is():
    """Logs and debuggers show hook and plugin."""
    assert repr(_of(one)) == "<perform_action of plugin 'lamp'>"
    assert _of(one).argnames == ("user",)
