"""Custom states: further states for the status sets that plugins bring, each with the meaning of a built-in one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Final

from sqlalchemy import Connection, delete, insert, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from host.accounts.events import Emit, emit_nothing
from host.contract.values import User
from host.errors import InvalidInputError, NotFoundError
from host.plugins.current import Registries
from host.records.content_types import CONTENT_TYPES, ContentTypes, model_of
from host.records.state_rules import rule_faults
from host.records.state_table import STATES
from host.records.status_sets import StatusSets
from host.storage.engine import Database

_RULED: Final = ("reference_status", "name", "key", "logical_key")
"""Members that the status set has a say in."""


class States:
    """Keeps the states that were added to status sets.

    A status set is there while the plugin that brings it is active. States that were added to it stay stored without
    it and come back with it; meanwhile they can be relabelled, moved to another set and deleted.

    Args:
        database: where the states are.
        registries: gives the registry in force.
        content_types: knows what a state can belong to.
        emit: sends ``state.created``, ``state.changed`` and ``state.deleted``.

    """

    def __init__(
        self,
        database: Database,
        registries: Registries,
        content_types: ContentTypes,
        *,
        emit: Emit = emit_nothing,
    ) -> None:
        self._database = database
        self._registries = registries
        self._content_types = content_types
        self._emit = emit
        self.sets = StatusSets(database, registries)
        """The status sets themselves."""

    def create(self, values: Mapping[str, Any], *, by: User | None = None) -> int:
        """Add a state to a status set and return its id.

        Raises:
            InvalidInputError: naming each member that breaks a rule.

        """
        models = self._content_types.present()
        try:
            with self._database.write() as session:
                return self.create_within(session, values, models, by=by)
        except IntegrityError as error:
            raise self._clash(values) from error

    def create_within(
        self, session: Session, values: Mapping[str, Any], models: frozenset[str], *, by: User | None = None
    ) -> int:
        """Add a state as part of the session's transaction, and return its id.

        Args:
            session: the caller's.
            values: of the state.
            models: what :meth:`ContentTypes.present` gave before the transaction began.
            by: who adds it.

        Raises:
            InvalidInputError: naming each member that breaks a rule.
            IntegrityError: another state has the same key or name for a moment.

        """
        wanted = {"color": "secondary", **values}
        connection = session.connection()
        self._check(connection, wanted, models, set(wanted))
        found = connection.execute(insert(STATES).values(**wanted).returning(STATES.c.id)).scalar_one()
        self._emit(session, "state.created", _told(found, wanted), _id_of(by))
        return int(found)

    def change(self, state_id: int, values: Mapping[str, Any], *, by: User | None = None) -> None:
        """Change members of a state. What stays as it is is not judged again.

        Raises:
            NotFoundError: there is no such state.
            InvalidInputError: naming each member that breaks a rule.

        """
        models = self._content_types.present()
        try:
            with self._database.write() as session:
                self.change_within(session, state_id, values, models, by=by)
        except IntegrityError as error:
            with self._database.read() as connection:
                wanted = {**_find(connection, state_id, lock=False), **values}
            raise self._clash(wanted) from error

    def change_within(
        self,
        session: Session,
        state_id: int,
        values: Mapping[str, Any],
        models: frozenset[str],
        *,
        by: User | None = None,
    ) -> None:
        """Change members of a state as part of the session's transaction; see :meth:`change` and create_within.

        Raises:
            NotFoundError: there is no such state.
            InvalidInputError: naming each member that breaks a rule.
            IntegrityError: another state has the same key or name for a moment.

        """
        connection = session.connection()
        present = _find(connection, state_id)
        changed = {name for name, value in values.items() if value != present[name]}
        if not changed:
            return
        wanted = {**present, **values}
        self._check(connection, wanted, models, changed)
        changes = {name: values[name] for name in changed}
        connection.execute(update(STATES).where(STATES.c.id == state_id).values(**changes))
        self._emit(session, "state.changed", _told(state_id, wanted), _id_of(by))

    def known_models(self) -> frozenset[str]:
        """Return what a state can belong to; ask before a transaction is opened."""
        return self._content_types.present()

    def models_called(self, texts: Sequence[str], *, by_name: bool) -> dict[str, list[int]]:
        """Return the content types whose name, or else whose id, each text says."""
        present = self._content_types.present()
        with self._database.read() as connection:
            numbers = {row.model: row.id for row in connection.execute(select(CONTENT_TYPES)) if row.model in present}
        known = numbers if by_name else {str(number): number for number in numbers.values()}
        return {text: [known[text]] if text in known else [] for text in texts}

    def transaction(self) -> AbstractContextManager[Session]:
        """Open a transaction for :meth:`create_within` and :meth:`change_within`."""
        return self._database.write()

    def faults(self, wanted: Sequence[tuple[int | None, Mapping[str, Any]]]) -> list[dict[str, list[str]]]:
        """Return what would be wrong with each of several states, without storing anything.

        Args:
            wanted: for each the id of the state to change, ``None`` for a new one, and the values.

        """
        models = self._content_types.present()
        with self._database.read() as connection:
            return [self._faults(connection, state_id, values, models) for state_id, values in wanted]

    def _faults(
        self, connection: Connection, state_id: int | None, values: Mapping[str, Any], models: frozenset[str]
    ) -> dict[str, list[str]]:
        try:
            present = {} if state_id is None else _find(connection, state_id, lock=False)
            changed = {name for name, value in values.items() if name not in present or value != present[name]}
            self._check(connection, {**present, **values}, models, changed)
        except NotFoundError as error:
            return {"id": [str(error)]}
        except InvalidInputError as error:
            return error.fields
        return {}

    def delete(self, state_id: int, *, by: User | None = None) -> None:
        """Delete a state; records that hold its key are nobody's to change here.

        Raises:
            NotFoundError: there is no such state.

        """
        with self._database.write() as session:
            connection = session.connection()
            present = _find(connection, state_id)
            connection.execute(delete(STATES).where(STATES.c.id == state_id))
            self._emit(session, "state.deleted", _told(state_id, present), _id_of(by))

    def _check(
        self, connection: Connection, wanted: Mapping[str, Any], models: frozenset[str], changed: set[str]
    ) -> None:
        faults: dict[str, list[str]] = {}
        if changed & set(_RULED):
            faults = rule_faults(wanted, self._registries.current.status_sets)
        if "model" in changed and model_of(connection, wanted["model"]) not in models:
            message = (
                f'Invalid pk "{wanted["model"]}" - there is no such content type; GET /api/contenttype/ lists them.'
            )
            faults["model"] = [message]
        if not faults and changed & set(_RULED):
            faults = _taken(connection, wanted)
        if faults:
            raise InvalidInputError(faults)

    def _clash(self, wanted: Mapping[str, Any]) -> InvalidInputError:
        # Another caller was quicker; which pair is taken shows by looking again.
        with self._database.read() as connection:
            faults = _taken(connection, wanted)
        if faults:
            return InvalidInputError(faults)
        return InvalidInputError.of("Another state had the same key or name for a moment. Try again.")


def _taken(connection: Connection, wanted: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return which pair another state has already."""
    messages = []
    for member in ("key", "name"):
        same = (STATES.c.reference_status == wanted["reference_status"]) & (STATES.c[member] == wanted[member])
        found = connection.execute(select(STATES.c.id).where(same)).scalar()
        if found is not None and found != wanted.get("id"):
            messages.append(f"The fields reference_status, {member} must make a unique set: state {found} has both.")
    return {"non_field_errors": messages} if messages else {}


def _find(connection: Connection, state_id: int, *, lock: bool = True) -> dict[str, Any]:
    statement = select(STATES).where(STATES.c.id == state_id)
    if lock:
        statement = statement.with_for_update()
    row = connection.execute(statement).mappings().first()
    if row is None:
        raise NotFoundError(f"There is no custom state {state_id}.")
    return dict(row)


def _told(state_id: int, values: Mapping[str, Any]) -> dict[str, Any]:
    return {"state": state_id, **{name: values[name] for name in ("reference_status", "name", "key", "logical_key")}}


def _id_of(user: User | None) -> int | None:
    return None if user is None else user.id
