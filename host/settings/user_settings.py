"""User settings: what each user can choose for themselves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from host.contract.settings import SettingValue
from host.contract.values import User
from host.errors import NotSignedInError
from host.settings.global_settings import Emit
from host.settings.sheet import Description, Sheet
from host.settings.store import SettingStore
from host.settings.tables import of_user
from host.settings.user_definitions import definitions
from host.settings.values import SettingRules
from host.storage.engine import Database


class UserSettings:
    """Reads and writes the settings of users; nobody sees those of others.

    Args:
        database: where values are stored.
        store: reads and writes them.
        emit: stores an event as part of a session's transaction (session, name, data, user id).

    """

    def __init__(self, database: Database, store: SettingStore, *, emit: Emit) -> None:
        self._sheet = Sheet(definitions(), database, store, SettingRules())
        self._emit = emit

    def value(self, user_id: int, key: str) -> SettingValue:
        """Return a user's value as it is now, stored or the default.

        Raises:
            KeyError: there is no such setting.

        """
        return self._sheet.value(of_user(user_id), key)

    def list(self, user: User) -> Sequence[Description]:
        """Describe all settings with the values of one user, in the order of their definition."""
        stored = self._sheet.stored(of_user(user.id))
        return [self._describe(key, stored, user) for key in self._sheet.definitions]

    def get(self, key: str, user: User) -> Description:
        """Describe one setting with the value of one user.

        Raises:
            NotFoundError: there is no such setting.

        """
        self._sheet.definition(key)
        return self._describe(key, self._sheet.stored(of_user(user.id)), user)

    def write(self, key: str, value: object, user: User, *, manual_confirm: object = False) -> Description:
        """Store one user's value and describe the setting as it is now.

        Raises:
            NotFoundError: there is no such setting.
            ConfirmationNeededError: the setting asks for confirmation and ``manual_confirm`` is not true.
            InvalidInputError: the value was refused.
            NotSignedInError: the account was deleted meanwhile.

        """

        def record(session: Session) -> None:
            self._emit(session, "user_setting.changed", {"key": key, "user": user.id}, user.id)

        try:
            self._sheet.change(of_user(user.id), key, value, manual_confirm=manual_confirm, record=record)
        except IntegrityError:
            msg = "This account exists no longer."
            raise NotSignedInError(msg) from None
        return self.get(key, user)

    def _describe(self, key: str, stored: Any, user: User) -> Description:
        return {**self._sheet.describe(key, stored), "typ": "user", "user": user.id}
