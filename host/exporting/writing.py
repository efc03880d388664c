"""Writing one export: from the rows of a list to a file, a batch at a time."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import BinaryIO, Final

from host.contract.exports import ExportJob, ExportPlan, ExportSheet
from host.contract.values import Json, User
from host.exporting.rows import Records, Rows, Table, picked, present
from host.exporting.sources import Reading, Source
from host.plugins.exports import ExportPlugins
from host.storage.tables import now

_NAME_LENGTH: Final = 60
_NOT_IN_NAMES: Final = re.compile(r"[^\w.()+ -]+")


class ExportRefusedError(Exception):
    """An export cannot be made; the text says why, for whoever wants it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a task says of an export."""

    output: int
    source: str
    query: str
    format_name: str
    plugin: str
    options: Mapping[str, Json]
    user_id: int
    is_staff: bool
    is_superuser: bool


@dataclass(frozen=True, slots=True)
class Written:
    """What was written."""

    file_name: str
    rows: int


class Writing:
    """Writes one export.

    Args:
        plugins: the formats and plugins that there are.
        wanted: what is to be written.
        source: where the rows are from.
        user: on whose behalf.
        on_rows: called with the number of rows that were read, after each batch; raises to end it.

    """

    def __init__(
        self, plugins: ExportPlugins, wanted: Wanted, source: Source, user: User, on_rows: Callable[[int], None]
    ) -> None:
        self._plugins = plugins
        self._wanted = wanted
        self._source = source
        self._user = user
        self._on_rows = on_rows

    def write(self, reading: Reading, file: BinaryIO, folder: Path) -> Written:
        """Write all rows to a file, which then stands at its beginning.

        Raises:
            ExportRefusedError: the format or plugin is not there any more, or the plugin refuses.
            PluginFailedError: a plugin failed.

        """
        wanted, ending = self._wanted, self._ending()
        first = next(reading.batches, [])
        job = self._job(reading, first)
        plan = self._plugins.plan(wanted.plugin, job)
        if plan.refusal:
            raise ExportRefusedError(plan.refusal)
        stem = stem_of(plan.file_name) or f"{self._source.name}_{now().astimezone():%Y-%m-%d}"
        sheet = ExportSheet(name=stem, columns=tuple(plan.columns), folder=folder)
        writer = self._plugins.writer(wanted.format_name, file, sheet)
        arranged = self._arranged(job, plan)
        written = 0
        for records in chain([first] if first else [], reading.batches):
            rows = arranged(records)
            if rows:
                writer.write(rows)
            written += len(rows)
            self._on_rows(len(records))
        writer.close()
        return Written(f"{stem}.{ending}", written)

    def _ending(self) -> str:
        wanted = self._wanted
        found = self._plugins.formats().get(wanted.format_name)
        if found is None:
            raise ExportRefusedError(f"There is no export format '{wanted.format_name}' any more; choose another.")
        if wanted.plugin not in self._plugins.exporters(self._source.name):
            raise ExportRefusedError(f"The plugin '{wanted.plugin}' does not export this any more; choose another.")
        return found.ending

    def _job(self, reading: Reading, first: Records) -> ExportJob:
        return ExportJob(
            list_name=self._source.name,
            label=self._source.label,
            columns=tuple(present(reading.columns, reading.optional, first)),
            total=reading.total,
            user=self._user,
            format=self._wanted.format_name,
            options=self._wanted.options,
        )

    def _arranged(self, job: ExportJob, plan: ExportPlan) -> Callable[[Records], Rows]:
        plugins, key = self._plugins, self._wanted.plugin
        if not plugins.changes_rows(key):
            return Table(plan.columns).rows
        everything, columns = Table(job.columns), plan.columns
        return lambda records: picked(columns, plugins.rows(key, job, everything.named(everything.rows(records))))


def stem_of(name: str) -> str:
    """Return what a file may be called, without its ending; empty where nothing of the name is left."""
    return _NOT_IN_NAMES.sub("_", name).strip("._ ")[:_NAME_LENGTH].strip("._ ")
