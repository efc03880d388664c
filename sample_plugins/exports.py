"""Sample: export lists in an own format, and arranged in an own way.

``GET /api/generic/status/custom/?export=true&export_format=markdown&export_plugin=sample-exports&export_case=upper``
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import BinaryIO

from host import (
    ExportColumn,
    ExportFormat,
    ExportJob,
    ExportOption,
    ExportPlan,
    ExportSheet,
    Json,
    Plugin,
    hookimpl,
)

_CASE = "export_case"


class MarkdownWriter:
    """Writes a table as people write it in text; gathers nothing, however long the table is."""

    def __init__(self, file: BinaryIO, sheet: ExportSheet) -> None:
        self._file = file
        self.write([[column.heading for column in sheet.columns]])
        self._line(["---"] * len(sheet.columns))

    def write(self, rows: Sequence[Sequence[Json]]) -> None:
        for row in rows:
            self._line(["" if value is None else " ".join(str(value).replace("|", r"\|").split()) for value in row])

    def close(self) -> None:
        pass  # the file stays open: the host stores it

    def _line(self, cells: Sequence[str]) -> None:
        self._file.write(f"| {' | '.join(cells)} |\n".encode("utf-8", "replace"))


class SampleExports(Plugin):
    """Exports custom states as a table of text."""

    title = "Sample: exports"
    description = "Custom states as a table of text"

    @hookimpl
    def export_formats(self) -> Sequence[ExportFormat]:
        return [ExportFormat(name="markdown", label="Markdown", ending="md", open=MarkdownWriter)]

    @hookimpl
    def export_lists(self) -> Sequence[str]:
        # Without this hook the plugin would export every list.
        return ["custom-states"]

    @hookimpl
    def export_options(self) -> Sequence[ExportOption]:
        return [
            ExportOption(
                name=_CASE,
                type="choice",
                label="Letters",
                default="as-is",
                choices=[("as-is", "As they are"), ("upper", "Capitals")],
            )
        ]

    @hookimpl
    def plan_export(self, job: ExportJob) -> ExportPlan:
        if not job.total:
            return ExportPlan(refusal="There are no custom states to export yet.")
        self.log.info("%s rows of %s for %s", job.total, job.label, job.user.username)
        columns = [ExportColumn(name="state", label="State"), ExportColumn(name="color", label="Colour")]
        return ExportPlan(columns=columns, file_name="states as a table")

    @hookimpl
    def export_rows(self, job: ExportJob, rows: Sequence[Mapping[str, Json]]) -> Sequence[dict[str, Json]]:
        # A batch at a time; there may be fewer rows afterwards, or more.
        upper = job.options.get(_CASE) == "upper"
        shown = [{"state": f"{row['label']} ({row['key']})", "color": row["color"]} for row in rows]
        return [{name: str(value).upper() if upper else value for name, value in row.items()} for row in shown]
