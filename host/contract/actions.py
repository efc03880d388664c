"""Actions: answer ``POST /api/action/`` by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from host.contract.markers import Asked, MaybeAwaitable, hookspec
from host.contract.values import Json, User


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionResult:
    """What an action did: ``result`` says whether it worked, ``info`` is anything else the caller should know."""

    result: Json = None
    info: Json = None
    response: Json = None
    """Sent as the whole answer where it is given, instead of ``{"action", "result", "info"}``."""


class ActionHooks:
    """Hooks of plugins that perform actions."""

    key = "action"
    human_name = "Actions"

    @hookspec(asked=Asked.ONCE, returns=str, many=True)
    def action_names(self) -> MaybeAwaitable[Sequence[str]]:
        """Name the actions that this plugin performs.

        When: once, as the plugin is loaded. A plugin that has ``perform_action`` but not this hook answers to its key.
        Return: the names, compared exactly. Where two plugins share a name, the one with the smaller key is asked
        first.
        Failure: the plugin is not loaded and the registry status says why.
        Since: 0.1.
        """
        raise NotImplementedError

    @hookspec(asked=Asked.FIRST, returns=ActionResult, optional=True)
    def perform_action(self, action: str, data: Json, user: User) -> MaybeAwaitable[ActionResult | None]:
        """Perform one of the actions that ``action_names`` offered.

        When: a client posts to ``/api/action/``. ``data`` is what it sent, untouched; ``None`` where it sent nothing.
        Return: what was done, or ``None`` to leave the action to the next plugin of that name.
        Failure: an error report is written and the next plugin of that name is asked; without one, the caller gets 404.
        Since: 0.1.
        """
        raise NotImplementedError
