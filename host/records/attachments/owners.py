"""The records that something can be attached to: which kinds there are, who may do so, and whether one exists."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from inspect import isawaitable
from typing import Any, Final

from host.accounts.rights import Granted, Rights
from host.accounts.roles import Action
from host.contract.markers import MaybeAwaitable
from host.contract.models import ModelType
from host.contract.values import User
from host.errors import InvalidInputError, NotAllowedError
from host.plugins.calls import Calls
from host.plugins.current import Registries

_SHOWN: Final = 100


class Owners:
    """Knows the kinds of record that plugins bring.

    Args:
        registries: gives the registry in force.
        calls: asks plugins whether a record exists.
        rights: knows what accounts may do.

    """

    def __init__(self, registries: Registries, calls: Calls, rights: Rights) -> None:
        self._registries = registries
        self._calls = calls
        self._rights = rights

    def choices(self) -> list[tuple[str, str]]:
        """Return the names of the model types that take attachments at present, with their labels."""
        known = self._registries.current.model_types
        return [(name, one.label or name) for name, one in sorted(known.items()) if one.attachments]

    def check_type(self, name: str) -> None:
        """Make sure that records of a model type take attachments.

        Raises:
            InvalidInputError: there is no such model type at present.

        """
        known = self._registries.current.model_types.get(name)
        if known is None or not known.attachments:
            names = ", ".join(name for name, _ in self.choices())
            message = f'"{name[:_SHOWN]}" is not a valid choice. There are: {names}.'
            raise InvalidInputError({"model_type": [message]})

    def check_exists(self, model_type: str, model_id: int) -> None:
        """Make sure that a record exists, where the plugin of its model type can tell. Not within a transaction.

        Raises:
            InvalidInputError: it does not exist.
            PluginFailedError: the plugin failed to tell.

        """
        registry = self._registries.current
        known = registry.model_types.get(model_type)
        if known is None or known.exists is None:
            return
        plugin = next((key for key, one in registry.plugins.items() if _brings(one.model_types, known)), "")
        if not self._calls.call(plugin, f"exists({model_type})", _truth_of(known.exists), model_id):
            message = f"There is no {known.label or model_type} with the id {model_id}. Attach to one that exists."
            raise InvalidInputError({"model_id": [message]})

    def rights_of(self, user: User) -> Granted:
        """Return what an account may do. Ask before a transaction is opened."""
        return self._rights.of(user)

    def demand(self, user: User, action: Action, model_types: Iterable[str]) -> None:
        """Make sure that an account may do something to records of all these model types.

        Raises:
            NotAllowedError: it lacks the right for one of them.

        """
        missing = lacking(self.rights_of(user), action, model_types)
        if missing:
            raise NotAllowedError(missing)

    def may_anything(self, user: User, action: Action = "change") -> bool:
        """Tell whether an account may attach something to records of any kind, or may delete it."""
        granted = self.rights_of(user)
        return granted.is_superuser or any(granted.may(name, action) for name, _ in self.choices())


def lacking(granted: Granted, action: Action, model_types: Iterable[str]) -> str:
    """Say for which of these model types a right is missing; nothing where there is none."""
    names = sorted({name for name in model_types if not granted.may(name, action)})
    if not names:
        return ""
    verb = "delete" if action == "delete" else "change"
    return (
        f"You may not {verb} attachments of {', '.join(names)[:_SHOWN]}: that needs the right to {action} such "
        "records. Ask an administrator to put you into a group that has it."
    )


def _truth_of(exists: Callable[[int], MaybeAwaitable[bool]]) -> Callable[[int], Any]:
    # What the answer is worth as a truth value is for the plugin's code to say, so that is asked where that runs.
    async def awaited(answer: Awaitable[bool]) -> bool:
        return bool(await answer)

    def asked(key: int) -> Any:
        answer = exists(key)
        return awaited(answer) if isawaitable(answer) else bool(answer)

    return asked


def _brings(model_types: Iterable[ModelType], wanted: ModelType) -> bool:
    return any(one is wanted for one in model_types)
