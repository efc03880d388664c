"""Global settings: what the staff can change of the whole host while it runs, in all its processes at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from sqlalchemy.orm import Session

from host.contract.settings import Setting, SettingValue
from host.contract.values import Json, User
from host.errors import InvalidInputError
from host.settings.global_definitions import ChoicesOf, definitions
from host.settings.sheet import Description, Sheet
from host.settings.store import SettingStore
from host.settings.tables import GLOBAL
from host.settings.texts import to_text
from host.settings.values import SettingRules
from host.storage.engine import Database

Emit = Callable[[Session, str, Mapping[str, Json], int | None], None]

_APP = "ENABLE_PLUGINS_APP"


def _emit_nothing(session: Session, name: str, data: Mapping[str, Json], user_id: int | None) -> None:
    del session, name, data, user_id


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """What the configuration says of settings."""

    fixed: Mapping[str, object] = field(default_factory=dict)
    """Values that options of their own fix; ``read_only`` for clients."""
    overrides: Mapping[str, object] = field(default_factory=dict)
    """Further values to fix, by key, unchecked so far."""
    defaults: Mapping[str, Callable[[], SettingValue]] = field(default_factory=dict)
    """Other defaults than those of the definitions, where they are known only as the host runs."""


class GlobalSettings:
    """Reads and writes the global settings.

    Args:
        database: where values are stored.
        store: reads and writes them.
        given: what the configuration says of them.
        choices: what can be chosen, where that depends on groups or plugins.
        reload: takes up a change of what is only read as plugins are loaded.
        emit: stores an event as part of a session's transaction (session, name, data, user id).
        report: writes an error report (path, message).

    Raises:
        ValueError: an override cannot be used; the text names it.

    """

    def __init__(
        self,
        database: Database,
        store: SettingStore,
        *,
        given: Given | None = None,
        choices: ChoicesOf | None = None,
        reload: Callable[[], None] | None = None,
        emit: Emit = _emit_nothing,
        report: Callable[[str, str], Any] = lambda _path, _message: None,
    ) -> None:
        self._emit = emit
        self._report = report
        given = given or Given()
        made = definitions(choices or {}, self.text)
        for key, default in given.defaults.items():
            made = [replace(one, default=default) if one.key == key else one for one in made]
        if reload is not None:
            made = [replace(one, after_save=lambda _: reload()) if one.key == _APP else one for one in made]
        rules = SettingRules(failed=self._failed)
        texts = _checked(made, rules, given.overrides) | {key: to_text(value) for key, value in given.fixed.items()}
        self._sheet = Sheet(made, database, store, rules, texts)

    # -- for the host ---------------------------------------------------------------------------------------------

    def value(self, key: str) -> SettingValue:
        """Return a value as it is now, fixed, stored or the default; cheap enough for each request.

        Raises:
            KeyError: there is no such setting.

        """
        return self._sheet.value(GLOBAL, key)

    def flag(self, key: str) -> bool:
        """Return the value of a boolean setting."""
        return bool(self.value(key))

    def number(self, key: str) -> int:
        """Return the value of a setting that is a whole number."""
        return int(self.value(key))

    def text(self, key: str) -> str:
        """Return the value of a setting that is a text."""
        return str(self.value(key))

    def flag_now(self, key: str) -> bool:
        """Return the value of a boolean setting as the database has it, also where another machine just changed it."""
        return bool(self._sheet.value(GLOBAL, key, from_memory=False))

    def flag_of(self, key: str) -> Callable[[], bool]:
        """Return what tells the value of a boolean setting whenever it is asked."""
        return partial(self.flag, key)

    def number_of(self, key: str) -> Callable[[], int]:
        """Return what tells the value of a setting that is a whole number whenever it is asked."""
        return partial(self.number, key)

    def text_of(self, key: str) -> Callable[[], str]:
        """Return what tells the value of a setting that is a text whenever it is asked."""
        return partial(self.text, key)

    def settle(self) -> None:
        """Store what each machine would otherwise make up for itself: the identifier of the instance."""
        self._sheet.settle(GLOBAL, "INVENTREE_INSTANCE_ID")

    # -- for clients ----------------------------------------------------------------------------------------------

    def list(self) -> Sequence[Description]:
        """Describe all settings, in the order of their definition."""
        stored = self._sheet.stored(GLOBAL)
        return [self._describe(key, stored) for key in self._sheet.definitions]

    def get(self, key: str) -> Description:
        """Describe one setting.

        Raises:
            NotFoundError: there is no such setting.

        """
        self._sheet.definition(key)
        return self._describe(key, self._sheet.stored(GLOBAL))

    def write(self, key: str, value: object, *, manual_confirm: object = False, by: User | None = None) -> Description:
        """Store a value and describe the setting as it is now; without effect where the configuration fixes the value.

        Raises:
            NotFoundError: there is no such setting.
            ConfirmationNeededError: the setting asks for confirmation and ``manual_confirm`` is not true.
            InvalidInputError: the value was refused.

        """

        def record(session: Session) -> None:
            self._emit(session, "setting.changed", {"key": key}, by.id if by else None)

        self._sheet.change(GLOBAL, key, value, manual_confirm=manual_confirm, record=record)
        return self.get(key)

    def _describe(self, key: str, stored: Any) -> Description:
        return {**self._sheet.describe(key, stored), "typ": "inventree", "read_only": self._sheet.is_fixed(key)}

    def _failed(self, what: str, error: Exception) -> None:
        self._report(f"settings.{what}", f"{type(error).__name__}: {error}")


def _checked(made: Sequence[Setting], rules: SettingRules, overrides: Mapping[str, object]) -> dict[str, str]:
    known = {one.key: one for one in made}
    texts: dict[str, str] = {}
    for key, value in overrides.items():
        if key not in known:
            msg = f"PLUGYARD_GLOBAL_SETTINGS: there is no setting '{key}'."
            raise ValueError(msg)
        try:
            # Choices depend on what is stored, which nobody can read yet.
            texts[key] = rules.check(replace(known[key], choices=()), value).text
        except InvalidInputError as error:
            msg = f"PLUGYARD_GLOBAL_SETTINGS: {key}: {error}"
            raise ValueError(msg) from None
    return texts
