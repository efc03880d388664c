"""Hook implementations, ready to be called."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import pluggy

from host.contract.markers import HookInfo
from host.plugins.specs import Spec, specs
from host.plugins.watched import Call, Statistics, Watched

_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


class Answer(NamedTuple):
    """What one plugin answered."""

    plugin: str
    value: Any


class Gate:
    """Whether a plugin may be asked; shared by all of its implementations."""

    __slots__ = ("shut",)

    def __init__(self, *, shut: bool = False) -> None:
        self.shut = shut


@dataclass(frozen=True, slots=True)
class ImplementationStatistics:
    """A row of the status page."""

    plugin: str
    hook: str
    calls: int
    failures: int
    seconds: float
    """Time spent in all calls together."""
    slowest: float
    """Time of the slowest call, in seconds."""
    busy: bool
    """A call was given up and has not come back; the implementation is not asked until it does."""


class Implementation(Watched):
    """A plugin's implementation of one hook.

    It may take fewer arguments than the specification, in any order; an argument that it gives a default is passed all
    the same.
    """

    __slots__ = ("argnames", "exact", "function", "gate", "info", "invoke", "is_async", "may_be_none", "spec")

    def __init__(
        self,
        plugin: str,
        spec: Spec,
        function: Callable[..., Any],
        *,
        deadline: float,
        gate: Gate,
        statistics: Statistics,
        on_stuck: Callable[[Call], None],
    ) -> None:
        super().__init__(plugin, spec.name, deadline, statistics, on_stuck)
        self.spec = spec
        self.info: HookInfo = spec.info
        self.function = function
        self.gate = gate
        self.is_async = inspect.iscoroutinefunction(function)
        self.argnames, self.invoke = _binding(function, spec.argnames)
        self.exact = None if spec.info.many else spec.info.returns
        """Answers of exactly this class need no further check."""
        self.may_be_none = spec.info.optional or spec.info.returns is None

    def __repr__(self) -> str:
        return f"<{self.hook} of plugin '{self.plugin}'>"


def in_order(found: Iterable[pluggy.HookImpl], order: Mapping[str, int]) -> Sequence[pluggy.HookImpl]:
    """Sort implementations: those marked ``tryfirst``, then the others, then ``trylast``, each in registry order."""

    def place(implementation: pluggy.HookImpl) -> tuple[int, int, str]:
        group = 0 if implementation.tryfirst else 2 if implementation.trylast else 1
        return group, order.get(implementation.plugin_name, len(order)), implementation.plugin_name

    # pluggy lists the newest registration last; a stable sort keeps that order within one plugin.
    return sorted(found, key=place)


def implementations_of(manager: pluggy.PluginManager, order: Sequence[str]) -> dict[str, Sequence[pluggy.HookImpl]]:
    """Return hook name → implementations as pluggy keeps them, in the order to ask them."""
    places = {key: place for place, key in enumerate(order)}
    return {name: in_order(getattr(manager.hook, name).get_hookimpls(), places) for name in specs()}


def _binding(function: Callable[..., Any], known: tuple[str, ...]) -> tuple[tuple[str, ...], Callable[[Any], Any]]:
    parameters = inspect.signature(function).parameters
    names = tuple(name for name in parameters if name in known)
    if tuple(parameters)[: len(names)] == names and not any(
        parameters[name].kind is inspect.Parameter.KEYWORD_ONLY for name in names
    ):
        return names, _by_position(function, names)
    named = tuple(name for name in names if parameters[name].kind in _NAMED)
    return named, lambda given: function(**{name: given[name] for name in named})


def _by_position(function: Callable[..., Any], names: tuple[str, ...]) -> Callable[[Any], Any]:
    # One closure per number of arguments: building a list first would double the cost of the call.
    match names:
        case ():
            return lambda _given: function()
        case (a,):
            return lambda given: function(given[a])
        case (a, b):
            return lambda given: function(given[a], given[b])
        case (a, b, c):
            return lambda given: function(given[a], given[b], given[c])
        case _:
            return lambda given: function(*[given[name] for name in names])
