"""What administrators do with plugins: switch them on and off, and remove their records."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from sqlalchemy.orm import Session

from host.contract.values import Json, User
from host.errors import HostError, InvalidInputError
from host.plugins.building import Candidate
from host.plugins.convergence import Convergence
from host.plugins.manifest import Failure
from host.plugins.records import unknown
from host.plugins.registry import Registry
from host.plugins.registry_errors import add_error, forget_errors
from host.plugins.reloading import Registries

Emit = Callable[[Session, str, dict[str, Json], int | None], object]
"""Sends an event as part of a session's transaction: session, name, data, id of the user who caused it."""

Forget = Callable[[Session, str], object]
"""Removes what is stored of a plugin elsewhere, as its settings: session, key."""


class PluginInUseError(HostError):
    """A plugin's record cannot be deleted while the plugin is active or because it is mandatory."""


class Plugins:
    """Switches plugins and keeps their records.

    Args:
        registries: holds the registry.
        convergence: this process's view of the common generation.
        emit: sends ``plugin.activated``, ``plugin.deactivated`` and ``plugin.deleted``.
        forget: removes a plugin's settings with its record.

    """

    def __init__(self, *, registries: Registries, convergence: Convergence, emit: Emit, forget: Forget) -> None:
        self._registries = registries
        self._records = registries.records
        self._convergence = convergence
        self._database = convergence.database
        self._emit = emit
        self._forget = forget

    def activate(self, key: str, *, active: bool = True, by: User | None = None) -> bool:
        """Switch a plugin on or off, and return how it is then.

        A plugin is loaded first; one that cannot be loaded stays off, and the registry's errors say why. Switching on
        what is on already loads it again where it is not loaded. Ends a quarantine.

        Raises:
            NotFoundError: there is no such plugin.
            InvalidInputError: it is mandatory and shall be switched off, or it cannot be loaded.

        """
        with self._registries.exclusive():
            # Another process may have installed or switched something.
            self._registries.catch_up()
            stored = self._records.get(key)
            registry = self._registries.current
            if not active and stored.is_mandatory:
                raise InvalidInputError.of(f"Plugin '{key}' is mandatory and cannot be deactivated.")
            if stored.active == active and not stored.quarantined and (not active or key in registry.plugins):
                return active
            if key not in registry.known:
                self._store_only(key, active=active)
                return active
            danger = self._registries.rehearse(key) if active else None
            if danger is not None:
                self._refuse(key, danger)
            candidate = self._registries.attempt(key, active=active)
            obstacle = _obstacle(key, candidate, registry) if active else None
            if obstacle is not None:
                self._registries.abandon(candidate)
                self._refuse(key, obstacle)
            self._registries.adopt(candidate, lambda session: self._store(session, key, candidate, active, by))
        return active

    def delete(self, key: str, *, by: User | None = None) -> None:
        """Remove the record of a plugin with its settings.

        A plugin that is installed comes back at the next reload, switched off, with a new id.

        Raises:
            NotFoundError: there is no such plugin.
            PluginInUseError: it is active or mandatory.

        """
        with self._registries.exclusive(), self._database.write() as session:
            self._convergence.lock(session)
            stored = self._records.get(key, session)
            if stored.is_mandatory:
                raise PluginInUseError(f"Plugin '{key}' is mandatory and cannot be deleted.")
            if stored.active:
                raise PluginInUseError(f"Plugin '{key}' is active. Deactivate it first.")
            self._forget(session, key)
            self._records.delete(session, key)
            self._emit(session, "plugin.deleted", {"key": key}, by.id if by else None)

    def metadata(self, key: str) -> dict[str, Any]:
        """Return the metadata of a plugin's record.

        Raises:
            NotFoundError: there is no such plugin.

        """
        return self._records.metadata(key)

    def set_metadata(self, key: str, data: object, *, merge: bool) -> dict[str, Any]:
        """Replace the metadata of a plugin's record, or merge its top level, and return them.

        Raises:
            NotFoundError: there is no such plugin.
            InvalidInputError: the data are no object.

        """
        if not isinstance(data, Mapping):
            raise InvalidInputError({"metadata": ["This must be an object."]})
        return self._records.set_metadata(key, data, merge=merge)

    def _store_only(self, key: str, *, active: bool) -> None:
        with self._database.write() as session:
            self._convergence.lock(session)
            self._records.set_active(session, key, active=active)

    def _store(self, session: Session, key: str, candidate: Candidate, active: bool, by: User | None) -> None:  # noqa: FBT001
        self._records.set_active(session, key, active=active)
        forget_errors(session, key)
        for failure in candidate.errors:
            add_error(session, failure)
        event = "plugin.activated" if active else "plugin.deactivated"
        self._emit(session, event, {"key": key, "active": active}, by.id if by else None)

    def _refuse(self, key: str, obstacle: Failure) -> NoReturn:
        with self._database.write() as session:
            self._convergence.lock(session)
            add_error(session, obstacle)
        raise InvalidInputError.of(f"Plugin '{key}' cannot be loaded ({obstacle.stage}): {obstacle.message}")


def _obstacle(key: str, candidate: Candidate, current: Registry) -> Failure | None:
    """Find out why a plugin cannot be switched on: its own failure, or that another plugin would fail through it."""
    if key in candidate.registry.plugins:
        lost = {other for other in current.plugins if other not in candidate.registry.plugins}
        other = next((failure for failure in candidate.errors if failure.name in lost), None)
        return Failure("init", key, f"Plugin '{other.name}' would end. {other.message}") if other else None
    if key not in candidate.registry.known:
        raise unknown(key)
    return next((failure for failure in candidate.errors if failure.name == key), None)
