"""Actions: find the plugin that performs an action, and let it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from host.contract.actions import ActionResult
from host.contract.values import Json, User
from host.errors import NotFoundError
from host.plugins.calls import Calls
from host.plugins.current import Registries
from host.plugins.plain import plain


@dataclass(frozen=True, slots=True)
class ActionOutcome:
    """What an action did: the plugin that performed it, and the whole answer for the client."""

    plugin: str
    body: Json


class Actions:
    """Performs actions by name."""

    def __init__(self, registries: Registries, calls: Calls, report: Callable[[str, str, str], None]) -> None:
        self._registries = registries
        self._calls = calls
        self._report = report

    def perform(self, name: Json, data: Json, user: User) -> ActionOutcome:
        """Let the first plugin that performs the action do so.

        Names are compared exactly, so a name that is no text belongs to nobody. A plugin that fails, or answers
        something that JSON cannot say, is passed over with an error report.

        Raises:
            NotFoundError: no active plugin performed an action of that name.

        """
        registry = self._registries.current
        keys = registry.actions.get(name, ()) if isinstance(name, str) else ()
        for implementation in registry.hooks.get("perform_action", ()):
            if implementation.plugin not in keys:
                continue
            answer = self._calls.ask_first((implementation,), action=name, data=data, user=user)
            if answer is None or not isinstance(answer.value, ActionResult):
                continue
            try:
                return ActionOutcome(answer.plugin, _body(name, answer.value))
            except TypeError as error:
                self._report(f"plugin.{answer.plugin}.perform_action", f"the answer is not JSON: {error}", "")
        failed = "could perform" if keys else "performs"
        msg = f"No active plugin {failed} the action {name!r}." + (" An error report says why." if keys else "")
        raise NotFoundError(msg)


def _body(name: Json, result: ActionResult) -> Json:
    if result.response is not None:
        return plain(result.response)
    return {"action": name, "result": plain(result.result), "info": plain(result.info)}
