"""Status sets: what plugins bring, with the states that were added to it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sqlalchemy import Row, Select, select

from host.contract.models import StatusSet
from host.errors import InvalidInputError, RefusedError
from host.plugins.current import Registries
from host.records.state_table import STATES, TEXT_LENGTH
from host.storage.engine import Database


class StatusSets:
    """Shows the status sets that active plugins bring.

    Args:
        database: where the states are that were added.
        registries: gives the registry in force.

    """

    def __init__(self, database: Database, registries: Registries) -> None:
        self._database = database
        self._registries = registries

    def check_filter(self, name: str) -> None:
        """Refuse to look for states of a set that is nowhere: neither among those at present nor in any state.

        Raises:
            InvalidInputError: naming the sets.

        """
        if name in self._registries.current.status_sets or "\0" in name:
            return  # a null character the list itself refuses
        with self._database.read() as connection:
            mine = select(STATES.c.id).where(STATES.c.reference_status == name).limit(1)
            if connection.execute(mine).first() is not None:
                return
        message = f"Select a valid choice. {name[:TEXT_LENGTH]} is not one of: {', '.join(self.names)}."
        raise InvalidInputError({"reference_status": [message]})

    @property
    def names(self) -> list[str]:
        """The names of the status sets that there are at present."""
        return sorted(self._registries.current.status_sets)

    def all(self) -> dict[str, dict[str, Any]]:
        """Return every status set with all its states, by name."""
        known = self._registries.current.status_sets
        custom: dict[str, list[Any]] = {}
        with self._database.read() as connection:
            for row in connection.execute(_states()):
                custom.setdefault(row.reference_status, []).append(row)
        return {name: _shown(known[name], custom.get(name, [])) for name in sorted(known)}

    def one(self, name: str) -> dict[str, Any]:
        """Return a status set with all its states.

        Raises:
            RefusedError: there is no such set at present.

        """
        known = self._registries.current.status_sets.get(name)
        if known is None:
            names = ", ".join(self.names)
            raise RefusedError(f"There is no status set '{name[:TEXT_LENGTH]}'. There are: {names}.")
        with self._database.read() as connection:
            rows = connection.execute(_states().where(STATES.c.reference_status == name)).all()
        return _shown(known, rows)


def _states() -> Select[Any]:
    table = STATES.c
    members = (table.reference_status, table.key, table.name, table.label, table.color, table.logical_key)
    return select(*members).order_by(table.key, table.id)


def _shown(known: StatusSet, custom: Iterable[Row[Any]]) -> dict[str, Any]:
    values: dict[str, dict[str, Any]] = {
        state.name: {"key": state.key, "name": state.name, "label": state.label, "color": state.color}
        for state in known.states
    }
    for row in custom:
        # A newer version of the plugin may bring a name that was added by hand before: then its own counts.
        values.setdefault(
            row.name,
            {
                "key": row.key,
                "name": row.name,
                "label": row.label,
                "color": row.color,
                "logical_key": row.logical_key,
                "custom": True,
            },
        )
    return {"status_class": known.name, "values": values}
