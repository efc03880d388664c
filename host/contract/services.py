"""What the host gives to a plugin that it has loaded."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

from host.contract.mail import MailAccess
from host.contract.settings import SettingValue
from host.contract.values import Identity, Json

if TYPE_CHECKING:
    from sqlmodel import Session

Audience: TypeAlias = Sequence[int] | Literal["staff", "superusers"]
"""Whom a notification is for: ids of accounts, everybody of the staff, or every superuser."""


class SettingsAccess(Protocol):
    """Read and write the plugin's own settings."""

    def get(self, key: str) -> SettingValue | None:
        """Return the value of a setting: what is stored, else its default.

        Raises:
            KeyError: the plugin declares no such setting.

        """

    def set(self, key: str, value: SettingValue) -> None:
        """Store a value, after the checks of the definition.

        Raises:
            KeyError: the plugin declares no such setting.
            SettingError: the value was refused.

        """

    def get_for_user(self, key: str, user_id: int) -> SettingValue | None:
        """Return one user's value of a user setting: what is stored, else its default.

        Raises:
            KeyError: the plugin declares no such user setting.

        """

    def set_for_user(self, key: str, user_id: int, value: SettingValue) -> None:
        """Store one user's value, after the checks of the definition.

        Raises:
            KeyError: the plugin declares no such user setting.
            SettingError: the value was refused.

        """


class Services(Protocol):
    """The host, as one plugin sees it."""

    @property
    def identity(self) -> Identity:
        """Who the plugin is, as the host understood it."""

    @property
    def settings(self) -> SettingsAccess:
        """The plugin's own settings."""

    @property
    def mail(self) -> MailAccess:
        """Hand in mail that has come in, and tell what became of mail that left."""

    @property
    def log(self) -> logging.Logger:
        """A logger named ``plugyard.plugin.<key>``."""

    def session(self) -> AbstractContextManager[Session]:
        """Open a database session in a transaction: committed at the end, rolled back when the block raises."""

    def emit(self, name: str, data: dict[str, Json] | None = None, *, user_id: int | None = None) -> None:
        """Send an event ``<key>.<name>`` to every plugin that wants it.

        The event is stored at once and delivered soon after.
        """

    def notify(self, to: Audience, name: str, message: str = "", *, link: str = "") -> None:
        """Tell people something, which they find among their notifications in the category of the plugin's key.

        As long as somebody has not read one of the same name and link, it is renewed instead of sent again. Inside a
        session's block it is sent as part of that transaction.

        Raises:
            TypeError: the name, the message or the link is no text, or ``to`` holds something else than ids.
            ValueError: the name is empty, there is no such audience, or the link is neither a path nor an http address.

        """

    def static_url(self, path: str) -> str:
        """Return the path under which a client finds a file of the plugin's static folder."""
