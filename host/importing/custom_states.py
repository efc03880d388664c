"""Custom states as something that can be imported."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeVar

from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from host.contract.imports import ImportField, ImportRecord, ImportTarget
from host.contract.values import Json
from host.errors import InvalidInputError, NotFoundError
from host.plugins.imports import Faults
from host.records.state_table import COLORS, TEXT_LENGTH
from host.records.states import States

T = TypeVar("T")

MODEL_TYPE: Final = "inventreecustomuserstatemodel"
_TAKEN: Final = "Another state has the same key or name."


class CustomStates:
    """Lets rows become custom states."""

    def __init__(self, states: States) -> None:
        self._states = states
        self._models: frozenset[str] = frozenset()
        self.spec = ImportTarget(
            model_type=MODEL_TYPE,
            label="Custom State",
            fields=_fields(states.sets.names),
            save=lambda records: self.run(lambda session: self.save(session, records)),
            lookup=self.lookup,
            api_url="/api/generic/status/custom/",
        )

    def validate(self, records: Sequence[ImportRecord]) -> list[Faults]:
        """Return what is wrong with each state."""
        return self._states.faults([(one.id, _completed(one)) for one in records])

    def lookup(self, field: str, by: str, texts: Sequence[str], filters: Mapping[str, Json]) -> dict[str, list[int]]:
        """Return the content types that texts mean: the only thing that states refer to."""
        del field, filters
        return self._states.models_called(texts, by_name=by != "id")

    def save(self, session: Session, records: Sequence[ImportRecord]) -> list[int | Faults]:
        """Store states, and return the id of each or what is wrong with it; within :meth:`run` only."""
        return [self._saved(session, one) for one in records]

    def run(self, work: Callable[[Session], T]) -> T:
        """Do work in a transaction."""
        self._models = self._states.known_models()
        with self._states.transaction() as session:
            return work(session)

    def _saved(self, session: Session, record: ImportRecord) -> int | Faults:
        try:
            with session.begin_nested():
                if record.id is None:
                    return self._states.create_within(session, _completed(record), self._models)
                self._states.change_within(session, record.id, record.values, self._models)
                return record.id
        except InvalidInputError as error:
            return error.fields
        except NotFoundError as error:
            return {"id": [str(error)]}
        except IntegrityError:
            return {"non_field_errors": [_TAKEN]}


def _completed(record: ImportRecord) -> dict[str, object]:
    return dict(record.values) if record.id is not None else {"color": "secondary", **record.values}


def _fields(sets: Sequence[str]) -> Sequence[ImportField]:
    return (
        ImportField(name="key", type="integer", label="Value", required=True, help_text="Number of the state."),
        ImportField(name="name", required=True, max_length=TEXT_LENGTH, help_text="Name of the state"),
        ImportField(name="label", required=True, max_length=TEXT_LENGTH, help_text="Label that people see"),
        ImportField(
            name="color",
            type="choice",
            choices=[(color, color.title()) for color in COLORS],
            default="secondary",
        ),
        ImportField(
            name="logical_key",
            type="integer",
            required=True,
            label="Logical Key",
            help_text="Built-in state of the set that this state equals",
        ),
        ImportField(
            name="model",
            type="related field",
            required=True,
            model="contenttype",
            api_url="/api/contenttype/",
            lookup_fields=("model",),
            help_text="Model the state belongs to",
        ),
        ImportField(
            name="reference_status",
            type="choice",
            required=True,
            label="Reference Status Set",
            choices=[(name, name) for name in sets] or [("", "")],
            help_text="Name of the status set",
        ),
    )
