"""The optional base class of plugins, and the hooks that every plugin may have."""

from __future__ import annotations

import logging
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from host.contract.accounts import AccountHooks
from host.contract.actions import ActionHooks
from host.contract.admin import AdminHooks
from host.contract.currency import CurrencyHooks
from host.contract.events import EventHooks
from host.contract.exports import ExportHooks
from host.contract.icons import IconHooks
from host.contract.imports import ImportHooks
from host.contract.locate import LocateHooks
from host.contract.mail import MailHooks
from host.contract.markers import Asked, MaybeAwaitable, hookspec
from host.contract.models import ModelHooks
from host.contract.routes import RouteHooks
from host.contract.schedules import ScheduleHooks
from host.contract.services import Audience, Services, SettingsAccess
from host.contract.settings import SettingsHooks, UserSettingsHooks
from host.contract.ui import UIHooks
from host.contract.values import Identity, Json

if TYPE_CHECKING:
    from sqlmodel import Session


class BaseHooks:
    """Hooks that any plugin may have."""

    key = "base"
    human_name = "Base"

    @hookspec(asked=Asked.ONCE)
    def start(self, services: Services) -> MaybeAwaitable[None]:
        """Take what the host gives to the plugin, and get ready.

        When: once in every process that loads the plugin, after its tables were made and before anything else is asked
        of it; and beforehand, as the plugin is activated, in a process of its own without database or events, to see
        that it survives. A plugin derived from :class:`Plugin` needs this hook only to do work of its own.
        Return: nothing.
        Failure: the plugin is not loaded and the registry status says why.
        Since: 0.1.
        """
        raise NotImplementedError

    @hookspec(asked=Asked.ONCE)
    def stop(self) -> MaybeAwaitable[None]:
        """Let go of what ``start`` took.

        When: the plugin was deactivated, replaced by a reload, or the host stops. Requests that began before may
        still be running.
        Return: nothing.
        Failure: an error report is written.
        Since: 0.1.
        """
        raise NotImplementedError


FAMILIES: tuple[type, ...] = (
    BaseHooks,
    ActionHooks,
    LocateHooks,
    UIHooks,
    SettingsHooks,
    UserSettingsHooks,
    AdminHooks,
    RouteHooks,
    EventHooks,
    ScheduleHooks,
    ModelHooks,
    MailHooks,
    AccountHooks,
    CurrencyHooks,
    IconHooks,
    ExportHooks,
    ImportHooks,
)
"""Every hook family; ``mixins`` in the API lists those of which a plugin implements a hook."""

if TYPE_CHECKING:

    class _Hooks(
        BaseHooks,
        ActionHooks,
        LocateHooks,
        UIHooks,
        SettingsHooks,
        UserSettingsHooks,
        AdminHooks,
        RouteHooks,
        EventHooks,
        ScheduleHooks,
        ModelHooks,
        MailHooks,
        AccountHooks,
        CurrencyHooks,
        IconHooks,
        ExportHooks,
        ImportHooks,
    ):
        """Lets a type checker compare a plugin's methods with the specifications."""

        key = ""
        human_name = ""
else:
    _Hooks = object


class Plugin(_Hooks):
    """A convenient base for plugins.

    Deriving from it is optional. It gives typed access to what the host offers, and lets a type checker compare the
    signatures of hook implementations with their specifications. The attributes below win over the metadata of the
    distribution where they are set.
    """

    title: str = ""
    description: str = ""
    website: str = ""
    published: str | None = None
    """Date of publication, ISO 8601."""

    __services: Services | None = None

    @property
    def services(self) -> Services:
        """What the host offers to this plugin.

        Raises:
            RuntimeError: used in the constructor, before the host has loaded the plugin.

        """
        if self.__services is None:
            msg = (
                f"{type(self).__name__} is not loaded yet: use settings, log and the like in start() or in a hook, "
                "not in the constructor"
            )
            raise RuntimeError(msg)
        return self.__services

    def bind(self, services: Services) -> None:
        """Take the host's services; the host calls this once, before :meth:`start`."""
        self.__services = services

    @property
    def identity(self) -> Identity:
        """Who this plugin is: key, title, version and so on."""
        return self.services.identity

    @property
    def settings(self) -> SettingsAccess:
        """The settings that this plugin declares."""
        return self.services.settings

    @property
    def log(self) -> logging.Logger:
        """The plugin's logger."""
        return self.services.log

    def session(self) -> AbstractContextManager[Session]:
        """Open a database session in a transaction."""
        return self.services.session()

    def emit(self, name: str, data: dict[str, Json] | None = None, *, user_id: int | None = None) -> None:
        """Send an event named ``<key>.<name>``."""
        self.services.emit(name, data, user_id=user_id)

    def notify(self, to: Audience, name: str, message: str = "", *, link: str = "") -> None:
        """Tell people something, which they find among their notifications."""
        self.services.notify(to, name, message, link=link)

    def static_url(self, path: str) -> str:
        """Return the path under which a client finds a file of the plugin's static folder."""
        return self.services.static_url(path)
