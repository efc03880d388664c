"""Exports: what can be chosen, and the record and task that are made of a choice."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Select, func, select

from host.contract.exports import ExportFormat
from host.contract.values import Json, User
from host.errors import BusyError, InvalidInputError
from host.exporting.making import Maker, Needs
from host.exporting.sources import Source
from host.plugins.exports import Exporter
from host.records.data_outputs import OUTPUTS, OutputType
from host.storage.engine import Database
from host.tasks.jobs import Enqueue
from host.tasks.table import TASK as TASKS
from host.tasks.table import TaskStatus

TASK: Final = "exports.make"
DEFAULT_EXPORTER: Final = "exporter"
ALIASES: Final[Mapping[str, str]] = {"inventree-exporter": DEFAULT_EXPORTER}
"""Keys under which clients know plugins of ours."""
DEFAULT_FORMAT: Final = "csv"
MOST_AT_ONCE: Final = 10
"""Exports of one account that may be in the making."""
QUERY_LENGTH: Final = 8000
_SHOWN: Final = 100
_LOST: Final = "The export was taken out of the queue, or broke off too often. Export again."
_IN_THE_MAKING: Final = (
    OUTPUTS.c.output_type == OutputType.EXPORT.value,
    OUTPUTS.c.complete.is_(False),
    OUTPUTS.c.errors.is_(None),
)


@dataclass(frozen=True, slots=True)
class Chosen:
    """A format and the plugin to export with, both of which there are."""

    format: ExportFormat
    exporter: Exporter


class Exports:
    """Writes lists to files, in the background.

    Args:
        database: where the records are.
        enqueue: puts the making off until after the answer.
        needs: parts of the host.

    """

    def __init__(self, database: Database, enqueue: Enqueue, needs: Needs) -> None:
        self._database = database
        self._enqueue = enqueue
        self._plugins = needs.plugins
        self._outputs = needs.outputs
        self._maker = Maker(needs, lambda: self.sources)
        self.sources: Mapping[str, Source] = {}
        """The lists that can be exported, by name; whoever starts a process that makes exports sets them."""
        self.make = self._maker.make
        """Make one export: the work of a task."""

    def formats(self) -> Sequence[ExportFormat]:
        """Return the formats that there are at present; the default one is the first."""
        found = self._plugins.formats()
        return sorted(found.values(), key=lambda one: one.name != DEFAULT_FORMAT)

    def exporters(self, list_name: str) -> Sequence[Exporter]:
        """Return the plugins that export a list; the default one is the first."""
        found = self._plugins.exporters(list_name)
        return sorted(found.values(), key=lambda one: one.key != DEFAULT_EXPORTER)

    def choose(self, list_name: str, format_name: str | None, plugin: str | None) -> Chosen:
        """Return what somebody has chosen; where they said nothing, the default.

        Raises:
            InvalidInputError: on ``export_format`` or ``export_plugin``, when there is no such one.

        """
        formats = {one.name: one for one in self.formats()}
        exporters = {one.key: one for one in self.exporters(list_name)}
        found_format = formats.get(next(iter(formats), "") if format_name is None else format_name)
        key = next(iter(exporters), "") if plugin is None else ALIASES.get(plugin, plugin)
        exporter = exporters.get(key)
        if found_format is not None and exporter is not None:
            return Chosen(found_format, exporter)
        faults = {}
        if found_format is None:
            faults["export_format"] = [_unknown("format", format_name, formats)]
        if exporter is None:
            faults["export_plugin"] = [_unknown("plugin", plugin, exporters)]
        raise InvalidInputError(faults)

    def begin(
        self, source: str, chosen: Chosen, options: Mapping[str, Json], query: str, *, by: User, total: int = 0
    ) -> int:
        """Begin an export, and return the key of its data output.

        Args:
            source: name of the list.
            chosen: format and plugin.
            options: those of the plugin.
            query: the query of the list's address.
            by: who wants it.
            total: how many rows there are, if that is known.

        Raises:
            BusyError: too many exports of this account are in the making.
            InvalidInputError: the query is too long to be kept.

        """
        if len(query) > QUERY_LENGTH:
            raise InvalidInputError.of(f"This query is too long to be exported: at most {QUERY_LENGTH} characters.")
        data: dict[str, Json] = {"source": source, "query": query, "options": options, **_data_of(chosen, by)}
        with self._database.write() as session:
            waiting = session.connection().execute(_count_of(by)).scalar_one()
            if waiting >= MOST_AT_ONCE:
                raise BusyError(f"{waiting} of your exports are in the making. Wait until one is ready, or delete one.")
            key = self._outputs.begin(
                by,
                OutputType.EXPORT,
                plugin=chosen.exporter.key,
                template_name=source,
                total=total,
                session=session,
            )
            self._enqueue(session, TASK, {"output": key, **data})
        return key

    def may_read(self, user: User, path: str) -> bool:
        """Tell whether somebody may read a data output: whose it is, and the staff, if they may see what is in it."""
        if not self._outputs.may_read(user, path):
            return False
        statement = select(OUTPUTS.c.template_name).where(
            OUTPUTS.c.output == path, OUTPUTS.c.output_type == OutputType.EXPORT.value
        )
        with self._database.read() as connection:
            source = self.sources.get(connection.execute(statement).scalar() or "")
        return source is None or source.may_read(user)

    def settle(self) -> int:
        """Say of exports that no task will ever make that they failed; return how many those are."""
        columns = (OUTPUTS.c.id, OUTPUTS.c.user_id, OUTPUTS.c.template_name)
        alive = TASKS.c.status.in_([TaskStatus.WAITING.value, TaskStatus.RUNNING.value])
        with self._database.read() as connection:
            # In this order: a task that ends in between has settled its output.
            waiting = connection.execute(select(*columns).where(*_IN_THE_MAKING)).all()
        if not waiting:
            return 0
        with self._database.read() as connection:
            tasks = connection.execute(select(TASKS.c.data).where(alive, TASKS.c.func == TASK)).scalars()
            awaited = {json.loads(data).get("output") for data in tasks}
        lost = [row for row in waiting if row.id not in awaited]
        for row in lost:
            self._maker.fail(row.id, row.user_id, row.template_name or "", _LOST)
        return len(lost)


def _data_of(chosen: Chosen, user: User) -> dict[str, Json]:
    return {
        "format_name": chosen.format.name,
        "plugin": chosen.exporter.key,
        "user_id": user.id,
        # A client of theirs may have been given fewer rights than they have.
        "is_staff": user.is_staff,
        "is_superuser": user.is_superuser,
    }


def _count_of(user: User) -> Select[Any]:
    return select(func.count()).select_from(OUTPUTS).where(OUTPUTS.c.user_id == user.id, *_IN_THE_MAKING)


def _unknown(what: str, name: str | None, known: Mapping[str, object]) -> str:
    if not known:
        return f"No active plugin gives an export {what}. Activate one, such as '{DEFAULT_EXPORTER}'."
    return f'"{(name or "")[:_SHOWN]}" is not a valid choice. There are: {", ".join(known)}.'
