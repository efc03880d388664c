"""What files can be imported into, and who may do so."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from sqlalchemy.orm import Session

from host.accounts.rights import Rights
from host.contract.imports import ImportField, ImportRecord, ImportTarget
from host.contract.values import Json, User
from host.errors import InvalidInputError, NotAllowedError
from host.importing.custom_states import CustomStates
from host.plugins.current import Registries
from host.plugins.imports import Faults, ImportPlugins
from host.records.states import States

T = TypeVar("T")

ID_FIELD = "id"
"""Names the record that a row changes."""


class Target(Protocol):
    """A kind of record that rows can become."""

    @property
    def spec(self) -> ImportTarget:
        """What it is called, and its fields."""

    def validate(self, records: Sequence[ImportRecord]) -> list[Faults]:
        """Return what is wrong with each record. Not within a transaction."""

    def lookup(self, field: str, by: str, texts: Sequence[str], filters: Mapping[str, Json]) -> dict[str, list[int]]:
        """Return the ids of the records that texts mean. Not within a transaction."""

    def save(self, session: Session, records: Sequence[ImportRecord]) -> list[int | Faults]:
        """Store records, and return the id of each or what is wrong with it; within :meth:`run` only."""

    def run(self, work: Callable[[Session], T]) -> T:
        """Do work in a transaction that what is saved is a part of."""


class Targets:
    """Knows the targets that there are at present: the host's own, and those of active plugins.

    Args:
        plugins: knows what plugins import.
        registries: gives the registry in force.
        states: keeps custom states, which only the staff may import.
        rights: knows what accounts may do.

    """

    def __init__(self, plugins: ImportPlugins, registries: Registries, states: States, rights: Rights) -> None:
        self._plugins = plugins
        self._registries = registries
        self._states = states
        self._rights = rights

    def all(self) -> dict[str, Target]:
        """Return every target by its model type."""
        own = CustomStates(self._states)
        return {**self._plugins.targets(), own.spec.model_type: own}

    def find(self, model_type: str) -> Target | None:
        """Return the target of a model type, if there is one at present."""
        return self.all().get(model_type)

    def require(self, model_type: str) -> Target:
        """Return the target of a model type.

        Raises:
            InvalidInputError: there is none at present.

        """
        found = self.all()
        if model_type not in found:
            names = ", ".join(sorted(found))
            message = f'"{model_type[:100]}" is not a valid choice. What can be imported at present: {names}.'
            raise InvalidInputError({"model_type": [message]})
        return found[model_type]

    def choices(self) -> list[tuple[str, str]]:
        """Return the model types with their labels."""
        return sorted((name, self.label(one)) for name, one in self.all().items())

    def models(self) -> list[dict[str, str | None]]:
        """Describe every target for clients."""
        return [
            {
                "serializer": "".join(word.capitalize() for word in self.label(one).split()),
                "model_type": name,
                "api_url": self._api_url(one),
            }
            for name, one in sorted(self.all().items())
        ]

    def label(self, target: Target) -> str:
        """Return what people call the records."""
        known = self._registries.current.model_types.get(target.spec.model_type)
        return target.spec.label or (known.label if known is not None else "") or target.spec.model_type

    def may_write(self, user: User, model_type: str) -> bool:
        """Tell whether an account may import into a target: with the right to change such records.

        Custom states are the staff's. What no role covers, and what is not there at present, is for superusers.
        """
        if user.is_superuser:
            return True
        target = self.find(model_type)
        if target is None:
            return False
        if isinstance(target, CustomStates):
            return user.is_staff
        known = self._registries.current.model_types.get(model_type)
        role = target.spec.role or (known.role if known is not None else "")
        return "change" in self._rights.of(user).actions.get(role, frozenset())

    def demand(self, user: User, model_type: str) -> None:
        """Make sure that an account may import into a target. Not within a transaction.

        Raises:
            NotAllowedError: it may not.

        """
        if not self.may_write(user, model_type):
            raise NotAllowedError(
                f"You may not import '{model_type}': that needs the right to change such records. Ask an administrator "
                "to put you into a group that has it."
            )

    def _api_url(self, target: Target) -> str | None:
        known = self._registries.current.model_types.get(target.spec.model_type)
        return target.spec.api_url or (known.api_url if known is not None else None)


def described(target: Target, *, update: bool) -> dict[str, Any]:
    """Describe the fields as forms need it; with ``update`` the id of the record comes first, alone required."""
    found: dict[str, Any] = {}
    if update:
        found[ID_FIELD] = {
            "type": "integer",
            "required": True,
            "read_only": False,
            "label": "ID",
            "help_text": "Existing database identifier for the record",
        }
    for field in target.spec.fields:
        found[field.name] = _info(field, required=field.required and not update)
    return found


def label_of(field: ImportField) -> str:
    """Return what people call a field."""
    return field.label or field.name.replace("_", " ").capitalize()


def _info(field: ImportField, *, required: bool) -> dict[str, Any]:
    info: dict[str, Any] = {
        "type": field.type,
        "required": required,
        "read_only": False,
        "label": label_of(field),
        "help_text": field.help_text,
        "default": field.default,
        "max_length": field.max_length,
        "min_value": field.minimum,
        "max_value": field.maximum,
    }
    info = {name: value for name, value in info.items() if value is not None and value != ""}
    if field.type == "choice":
        info["choices"] = [{"value": value, "display_name": label} for value, label in field.choices]
    if field.type == "related field":
        info |= {"model": field.model, "api_url": field.api_url, "pk_field": "pk", "filters": {}}
        info["lookup_fields"] = list(field.lookup_fields)
    return info
