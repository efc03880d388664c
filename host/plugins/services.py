"""What a loaded plugin gets from the host."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Protocol, cast

from sqlalchemy.orm import Session as AnySession
from sqlmodel import Session

from host.contract.services import Audience
from host.contract.settings import Setting, SettingError, SettingValue
from host.contract.values import Identity, Json
from host.errors import InvalidInputError
from host.mail.inbox import Inbox
from host.plugins.mail import PluginMail
from host.plugins.plain import plain
from host.plugins.settings import Definitions, Emit, PluginSettings
from host.plugins.sources import static_url
from host.plugins.transactions import open_session, transaction
from host.storage.engine import Database


class Notify(Protocol):
    """Tells people something as part of a session's transaction."""

    def __call__(
        self, session: AnySession, to: Audience, /, *, category: str, name: str, message: str, link: str
    ) -> object:
        """Tell them.

        Raises:
            ValueError: the link is neither a path nor an http address.

        """


class PluginSettingsAccess:
    """The settings as one plugin sees them; implements :class:`host.SettingsAccess`."""

    def __init__(self, settings: PluginSettings, key: str, declared: tuple[Definitions, Definitions]) -> None:
        self._settings = settings
        self._key = key
        self._declared = declared

    def get(self, key: str) -> SettingValue | None:
        """Return the value of a setting: what the configuration fixes, else what is stored, else its default."""
        definition = self._definition(0, key)
        return self._settings.value(self._key, None, definition, open_session(self._key))

    def set(self, key: str, value: SettingValue) -> None:
        """Store a value, after the checks of the definition; without effect where the configuration fixes it."""
        definition = self._definition(0, key)
        if not self._settings.is_fixed(self._key, key):
            self._store(None, definition, value)

    def get_for_user(self, key: str, user_id: int) -> SettingValue | None:
        """Return one user's value of a user setting: what is stored, else its default."""
        definition = self._definition(1, key)
        return self._settings.value(self._key, user_id, definition, open_session(self._key))

    def set_for_user(self, key: str, user_id: int, value: SettingValue) -> None:
        """Store one user's value, after the checks of the definition."""
        self._store(user_id, self._definition(1, key), value)

    def _store(self, user_id: int | None, definition: Setting, value: SettingValue) -> None:
        try:
            self._settings.store_value(self._key, user_id, definition, value)
        except InvalidInputError as error:
            raise SettingError(" ".join(text for texts in error.fields.values() for text in texts)) from None

    def _definition(self, which: int, key: str) -> Setting:
        if key not in self._declared[which]:
            kind = "user setting" if which else "setting"
            msg = f"plugin '{self._key}' declares no {kind} '{key}'"
            raise KeyError(msg)
        return self._declared[which][key]


class PluginServices:
    """The host, as one plugin sees it; implements :class:`host.Services`.

    Args:
        identity: who the plugin is.
        declared: the settings that the plugin declares.
        declared_for_users: the user settings that it declares.
        database: the host's database.
        settings: the settings of all plugins; the plugin gets to see its own.
        emit: sends an event as part of a session's transaction (session, name, data, user id).
        notify: tells people something as part of a session's transaction.
        inbox: keeps mail that plugins hand in.

    """

    def __init__(
        self,
        identity: Identity,
        declared: Definitions,
        declared_for_users: Definitions,
        /,
        *,
        database: Database,
        settings: PluginSettings,
        emit: Emit,
        notify: Notify,
        inbox: Callable[[], Inbox],
    ) -> None:
        self._identity = identity
        self._notify = notify
        self._database = database
        self._settings = PluginSettingsAccess(settings, identity.key, (declared, declared_for_users))
        self._mail = PluginMail(identity.key, database, inbox)
        self._emit = emit
        self._log = logging.getLogger(f"plugyard.plugin.{identity.key}")

    @property
    def identity(self) -> Identity:
        """Who the plugin is, as the host understood it."""
        return self._identity

    @property
    def settings(self) -> PluginSettingsAccess:
        """The plugin's own settings."""
        return self._settings

    @property
    def mail(self) -> PluginMail:
        """Hand in mail that has come in, and tell what became of mail that left."""
        return self._mail

    @property
    def log(self) -> logging.Logger:
        """A logger named ``plugyard.plugin.<key>``."""
        return self._log

    def session(self) -> AbstractContextManager[Session]:
        """Open a database session in a transaction: committed at the end, rolled back when the block raises.

        Inside a block of an open session it is a savepoint in that one. Events and settings that are written within
        the block are kept or rolled back with it.
        """
        return transaction(self._database, self._identity.key)

    def emit(self, name: str, data: dict[str, Json] | None = None, *, user_id: int | None = None) -> None:
        """Send an event ``<key>.<name>`` to every plugin that wants it.

        Raises:
            ValueError: the name is empty.
            TypeError: the data hold something that JSON cannot say.

        """
        if not name:
            msg = "an event needs a name"
            raise ValueError(msg)
        content = cast("dict[str, Json]", plain(dict(data or {})))
        with transaction(self._database, self._identity.key) as session:
            self._emit(session, f"{self._identity.key}.{name}", content, user_id)

    def notify(self, to: Audience, name: str, message: str = "", *, link: str = "") -> None:
        """Tell people something, which they find among their notifications in the category of the plugin's key.

        Raises:
            TypeError: the name, the message or the link is no text, or what it is for holds something else than ids.
            ValueError: the name is empty, there is no such audience, or the link is neither a path nor an http address.

        """
        _check_notification(to, name, message, link)
        key = self._identity.key
        with transaction(self._database, key) as session:
            self._notify(session, to, category=key, name=name, message=message, link=link)

    def static_url(self, path: str) -> str:
        """Return the path under which a client finds a file of the plugin's static folder.

        Raises:
            ValueError: the path is empty or leads out of the folder.

        """
        return static_url(self._identity.key, path)


def _check_notification(to: object, name: object, message: object, link: object) -> None:
    if not all(isinstance(text, str) for text in (name, message, link)):
        msg = "the name, the message and the link of a notification must be text"
        raise TypeError(msg)
    if not name:
        msg = "a notification needs a name"
        raise ValueError(msg)
    audience = "a notification is for 'staff', 'superusers' or a list of account ids"
    if isinstance(to, str):
        if to not in {"staff", "superusers"}:
            msg = f"{audience}, not {to[:100]!r}"
            raise ValueError(msg)
    elif not isinstance(to, (list, tuple, set, frozenset)) or not all(type(one) is int for one in to):
        raise TypeError(audience)
