"""Models: own tables, model types and status sets."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from host.contract.markers import Asked, MaybeAwaitable, hookspec

if TYPE_CHECKING:
    from sqlmodel import SQLModel

Color: TypeAlias = Literal["primary", "secondary", "success", "danger", "warning", "info", "dark"]

_MODEL_NAME = re.compile(r"[a-z][a-z0-9_]{0,99}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelType:
    """A kind of record that attachments, states and content types may name.

    ``exists`` tells whether a record of that id exists; without it every id is accepted. ``role`` names the rule set
    that grants rights on it.
    """

    name: str
    label: str
    app_label: str = ""
    """Empty means the plugin's key."""
    role: str = ""
    api_url: str | None = None
    exists: Callable[[int], MaybeAwaitable[bool]] | None = None
    attachments: bool = True

    def __post_init__(self) -> None:
        """Refuse a name that is not lower case.

        Raises:
            ValueError: the name has other characters than lower case letters, digits and ``_``.

        """
        if not _MODEL_NAME.fullmatch(self.name):
            msg = f"model type {self.name!r} must be lower case letters, digits and _"
            raise ValueError(msg)


@dataclass(frozen=True, slots=True)
class State:
    """One state of a status set."""

    key: int
    name: str
    label: str
    color: Color = "secondary"


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusSet:
    """A named set of states; keys and names are unique in it."""

    name: str
    states: Sequence[State] = ()

    def __post_init__(self) -> None:
        """Refuse a set in which a key or a name stands twice.

        Raises:
            ValueError: naming the doubled key or name.

        """
        for member in ("key", "name"):
            seen = [getattr(state, member) for state in self.states]
            doubled = {value for value in seen if seen.count(value) > 1}
            if doubled:
                msg = f"status set {self.name}: {member} {sorted(doubled)} stands more than once"
                raise ValueError(msg)


class ModelHooks:
    """Hooks of plugins that bring records of their own."""

    key = "app"
    human_name = "App registration"

    @hookspec(asked=Asked.ONCE, returns=type, many=True)
    def models(self) -> MaybeAwaitable[Sequence[type[SQLModel]]]:
        """Give the plugin's SQLModel tables.

        When: once, as the plugin is loaded. The host creates missing tables and adds missing columns; it never drops
        anything. Derive the tables from :func:`host.table_base`, which keeps them apart from every other plugin's.
        Return: the table classes.
        Failure: the plugin is not loaded and the registry status says why.
        Since: 0.1.
        """
        raise NotImplementedError

    @hookspec(asked=Asked.ONCE, returns=ModelType, many=True)
    def model_types(self) -> MaybeAwaitable[Sequence[ModelType]]:
        """Give the kinds of record that attachments, states and content types may name.

        When: once, as the plugin is loaded.
        Return: the model types. A name that an earlier plugin took is refused.
        Failure: the plugin is not loaded and the registry status says why.
        Since: 0.1.
        """
        raise NotImplementedError

    @hookspec(asked=Asked.ONCE, returns=StatusSet, many=True)
    def status_sets(self) -> MaybeAwaitable[Sequence[StatusSet]]:
        """Give status sets.

        When: once, as the plugin is loaded.
        Return: the sets. A name is an identifier other than ``custom``; one that an earlier plugin took is refused.
        Failure: the plugin is not loaded and the registry status says why.
        Since: 0.1.
        """
        raise NotImplementedError
