"""Imports: ask plugins about rows of files, and let them store records in a transaction of the host."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

from sqlalchemy.exc import DataError, IntegrityError, SQLAlchemyError
from sqlalchemy.orm import Session

from host.contract.imports import ImportRecord, ImportTarget
from host.contract.values import Json
from host.errors import HostError
from host.plugins.calls import Calls
from host.plugins.current import Registries
from host.plugins.transactions import transaction
from host.storage.engine import Database

T = TypeVar("T")

Faults: TypeAlias = dict[str, list[str]]
"""What is wrong with one row, by field."""

BATCH = 500
"""Most rows that a plugin is asked about at once."""
_SECONDS = 30.0
_LONGEST = 900.0
_TEXT_LENGTH = 500
_MOST_TEXTS = 20
_MOST_IDS = 5
_LARGEST = 2**63 - 1


class PluginTarget:
    """A kind of record that one plugin imports.

    Args:
        plugin: its key.
        spec: what it has declared.
        calls: calls its functions, each under a deadline.
        database: the host's.

    """

    def __init__(self, plugin: str, spec: ImportTarget, calls: Calls, database: Database) -> None:
        self.plugin = plugin
        self.spec = spec
        self._calls = calls
        self._database = database

    def validate(self, records: Sequence[ImportRecord]) -> list[Faults]:
        """Return what is wrong with each record. Not within a transaction.

        Raises:
            PluginFailedError: the plugin failed to say.

        """
        validate = self.spec.validate
        if validate is None:
            return [{} for _ in records]
        return self._call("validate", lambda: [_faults(one) for one in _as_many(validate(records), records)])

    def lookup(self, field: str, by: str, texts: Sequence[str], filters: Mapping[str, Json]) -> dict[str, list[int]]:
        """Return the ids of the records that texts mean, at most a few of each. Not within a transaction.

        Raises:
            PluginFailedError: the plugin failed to say.

        """
        lookup = self.spec.lookup
        if lookup is None:
            return {}

        def found() -> dict[str, list[int]]:
            answer = lookup(field, by, texts, filters)
            return {text: [_id(one) for one in list(answer.get(text, ()))[:_MOST_IDS]] for text in texts}

        return self._call("lookup", found)

    def save(self, session: Session, records: Sequence[ImportRecord]) -> list[int | Faults]:
        """Store records, and return the id of each or what is wrong with it; within :meth:`run` only.

        Raises:
            PluginFailedError: the plugin failed; nothing may be kept of the transaction.
            IntegrityError: the database refused a record; likewise ``DataError``.

        """

        def saved() -> list[int | Faults]:
            answer = _as_many(self.spec.save(records), records)
            session.flush()
            return [_id(one) if isinstance(one, int) else _faults(one) for one in answer]

        return self._call("save", saved, expected=(IntegrityError, DataError))

    def run(self, work: Callable[[Session], T]) -> T:
        """Do work in a transaction that sessions of the plugin are a part of, and return what it returns.

        Raises:
            PluginFailedError: the plugin held it up for too long.
            Exception: whatever the work raised.

        """

        def job() -> T:
            with transaction(self._database, self.plugin) as session:
                return work(session)

        expected = (HostError, SQLAlchemyError, OSError)
        name = f"import({self.spec.model_type})"
        return self._calls.call(self.plugin, name, job, expected=expected, seconds=_LONGEST)

    def _call(self, what: str, function: Callable[[], T], expected: tuple[type[Exception], ...] = ()) -> T:
        # What the answer is worth is found out in there too: its classes may be the plugin's.
        name = f"import({self.spec.model_type}).{what}"
        return self._calls.call(self.plugin, name, function, expected=expected, seconds=_SECONDS)


class ImportPlugins:
    """Knows what the active plugins import.

    Args:
        registries: gives the registry in force.
        calls: calls their functions.
        database: the host's.

    """

    def __init__(self, registries: Registries, calls: Calls, database: Database) -> None:
        self._registries = registries
        self._calls = calls
        self._database = database

    def targets(self) -> dict[str, PluginTarget]:
        """Return what can be imported at present: model type → target."""
        return {
            spec.model_type: PluginTarget(key, spec, self._calls, self._database)
            for key, plugin in self._registries.current.plugins.items()
            for spec in plugin.import_targets
        }


def _as_many(answer: object, records: Sequence[ImportRecord]) -> Sequence[Any]:
    if not isinstance(answer, (list, tuple)) or len(answer) != len(records):
        msg = f"returned {type(answer).__name__}, expected a list with one answer for each of {len(records)} records"
        raise TypeError(msg)
    return answer


def _id(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= _LARGEST:
        msg = f"an id must be a whole number of at most 64 bits, not {type(value).__name__}"
        raise TypeError(msg)
    return int(value)


def _faults(value: Mapping[str, Sequence[str]] | None) -> Faults:
    found: Faults = {}
    for name, texts in dict(value or {}).items():
        many = [texts] if isinstance(texts, str) else list(texts)
        found[_text(name)] = [_text(text) for text in many[:_MOST_TEXTS]]
    return {name: texts for name, texts in found.items() if texts}


def _text(value: object) -> str:
    # It is stored, on databases that take neither null characters nor halves of surrogate pairs.
    return str(value).replace("\0", "").encode("utf-8", "replace").decode()[:_TEXT_LENGTH]
