"""Plugins that a test defines, ready to be asked; with short deadlines."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from time import monotonic, sleep
from typing import Any

from host.contract.actions import ActionResult
from host.contract.markers import hookimpl
from host.contract.values import User
from host.plugins.budget import ErrorBudget
from host.plugins.calls import Answer, Calls, Implementation
from host.plugins.specs import new_manager

USER = User(id=7, username="ada")
DEADLINE = 0.15
PATIENCE = 10.0


class Asking:
    """Asks plugins, which are given as ``key=object``, in this order."""

    def __init__(self, plugins: Mapping[str, object], **options: Any) -> None:
        self.reports: list[tuple[str, str, str]] = []
        options = {"deadlines": {"default": DEADLINE}, "budget": ErrorBudget(limit=10_000), **options}
        self.calls = Calls(lambda *report: self.reports.append(report), **options)
        manager = new_manager()
        for key, plugin in plugins.items():
            manager.register(plugin, name=key)
        self.table = self.calls.table(manager, list(plugins))

    def one(self, hook: str = "perform_action") -> Implementation:
        """Return the only implementation of a hook."""
        (implementation,) = self.table[hook]
        return implementation

    def act(self) -> Answer | None:
        """Ask for an action."""
        return self.calls.ask_first(self.table["perform_action"], action="blink", data=None, user=USER)

    def act_all(self) -> list[tuple[str, Any]]:
        """Ask everybody for an action; return who answered what."""
        answers = self.calls.ask_all(self.table["perform_action"], action="blink", data=None, user=USER)
        return [(answer.plugin, answer.value.result) for answer in answers]

    @property
    def reported(self) -> list[tuple[str, str]]:
        """Paths and messages of the error reports so far."""
        return [(path, info) for path, info, _ in self.reports]


def acting(function: Callable[[], Any]) -> object:
    """Return a plugin that performs every action with this function; what it returns is the result."""

    class Acting:
        @hookimpl
        def perform_action(self) -> ActionResult:
            return ActionResult(result=function())

    return Acting()


def acting_async(function: Callable[[], Any]) -> object:
    """Return a plugin that performs every action with this coroutine function."""

    class Acting:
        @hookimpl
        async def perform_action(self) -> ActionResult:
            return ActionResult(result=await function())

    return Acting()


def until(condition: Callable[[], object]) -> None:
    """Wait until something is so."""
    give_up = monotonic() + PATIENCE
    while not condition():
        assert monotonic() < give_up, "it never came about"
        sleep(0.005)
