"""A sheet of settings: their definitions, and what reads, describes and changes their values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from sqlalchemy.orm import Session

from host.contract.settings import Setting, SettingValue
from host.contract.values import Json
from host.errors import NotFoundError
from host.settings.store import Scope, SettingStore, Values
from host.settings.texts import to_text
from host.settings.values import SettingRules, Stored, confirm, is_mask
from host.storage.engine import Database

Description: TypeAlias = dict[str, Json]
Record: TypeAlias = Callable[[Session], None]
"""Writes down, as part of the transaction, that a value was changed."""

_EMPTY: Mapping[str, SettingValue] = {"boolean": False, "integer": 0, "float": 0.0, "string": ""}


class Sheet:
    """Reads, describes and changes the values of the host's own settings.

    Args:
        definitions: in the order to show them.
        database: where values are stored.
        store: reads and writes them.
        rules: check and describe them.
        fixed: values that the configuration fixes, as they would be stored.

    """

    def __init__(
        self,
        definitions: Sequence[Setting],
        database: Database,
        store: SettingStore,
        rules: SettingRules,
        fixed: Mapping[str, str] | None = None,
    ) -> None:
        self.definitions: Mapping[str, Setting] = {one.key: one for one in definitions}
        self._database = database
        self._store = store
        self._rules = rules
        self._fixed = fixed or {}

    def definition(self, key: str) -> Setting:
        """Return the definition of a setting.

        Raises:
            NotFoundError: there is no such setting.

        """
        try:
            return self.definitions[key]
        except KeyError:
            msg = f"Not found. There is no setting '{key}'."
            raise NotFoundError(msg) from None

    def is_fixed(self, key: str) -> bool:
        """Tell whether the configuration fixes a value."""
        return key in self._fixed

    def value(self, scope: Scope, key: str, *, from_memory: bool = True) -> SettingValue:
        """Return a value, from memory where that is fresh: fixed, else stored, else the default."""
        definition = self.definitions[key]
        text = self._fixed.get(key)
        if text is None:
            values = self._store.cached(scope) if from_memory else self._store.read(scope)
            stored = values.get(key)
            text = stored.text if stored else None
        value = self._rules.typed(definition, text)
        return _EMPTY[definition.type] if value is None else value

    def stored(self, scope: Scope) -> Values:
        """Return what is stored, as the database has it now."""
        return self._store.read(scope)

    def describe(self, key: str, stored: Values) -> Description:
        """Return one setting as clients see it."""
        definition, present = self.definition(key), stored.get(key)
        described = self._rules.describe(definition, present)
        if key in self._fixed:
            shown = self._rules.describe(definition, Stored(0, self._fixed[key]))
            described["value"] = shown["value"]
        return described

    def settle(self, scope: Scope, key: str) -> None:
        """Store the default, unless there is a value already; of several processes that do so, one wins."""
        definition = self.definition(key)
        if key in self._fixed or key in self._store.read(scope):
            return
        with self._database.write() as session:
            self._store.write_first(session, scope, key, to_text(self._rules.default(definition)))

    def change(
        self, scope: Scope, key: str, value: object, *, manual_confirm: object = False, record: Record | None = None
    ) -> None:
        """Check and store a value; without effect where the configuration fixes it.

        Raises:
            NotFoundError: there is no such setting.
            ConfirmationNeededError: the setting asks for confirmation and ``manual_confirm`` is not true.
            InvalidInputError: the value was refused.

        """
        definition = self.definition(key)
        if key in self._fixed or is_mask(definition, value):
            return
        confirm(definition, confirmed=manual_confirm)
        checked = self._rules.check(definition, value)
        self._rules.before_save(definition, checked.value)
        with self._database.write() as session:
            self._store.write(session, scope, key, checked.text)
            if record is not None:
                record(session)
        self._rules.after_save(definition, checked.value)
