"""The exporter that every host has: CSV, TSV, XLSX and JSON, with all columns or some of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import BinaryIO

from builtin_plugins.exporter.separated import SeparatedWriter
from host import (
    ExportColumn,
    ExportFormat,
    ExportJob,
    ExportOption,
    ExportPlan,
    ExportSheet,
    ExportWriter,
    Plugin,
    hookimpl,
)

_HEADINGS = "export_headings"
_COLUMNS = "export_columns"
_SHOWN = 100


def _write_csv(file: BinaryIO, sheet: ExportSheet) -> ExportWriter:
    return SeparatedWriter(file, sheet, ",")


def _write_tsv(file: BinaryIO, sheet: ExportSheet) -> ExportWriter:
    return SeparatedWriter(file, sheet, "\t")


def _write_xlsx(file: BinaryIO, sheet: ExportSheet) -> ExportWriter:
    # It takes longer to load than the rest of the plugin, and workbooks are made now and then only.
    from builtin_plugins.exporter.workbook import WorkbookWriter  # noqa: PLC0415

    return WorkbookWriter(file, sheet)


def _write_json(file: BinaryIO, sheet: ExportSheet) -> ExportWriter:
    from builtin_plugins.exporter.json_array import JsonWriter  # noqa: PLC0415 - as above

    return JsonWriter(file, sheet)


class Exporter(Plugin):
    """Writes lists as they are."""

    title = "Exporter"
    description = "Exports lists as CSV, TSV, XLSX and JSON"

    @hookimpl
    def export_formats(self) -> Sequence[ExportFormat]:
        return [
            ExportFormat(name="csv", label="CSV", ending="csv", open=_write_csv),
            ExportFormat(name="tsv", label="TSV", ending="tsv", open=_write_tsv),
            ExportFormat(name="xlsx", label="Excel", ending="xlsx", open=_write_xlsx),
            ExportFormat(name="json", label="JSON", ending="json", open=_write_json),
        ]

    @hookimpl
    def export_options(self) -> Sequence[ExportOption]:
        return [
            ExportOption(
                name=_HEADINGS,
                type="choice",
                label="Headings",
                help_text="What stands above the columns.",
                default="names",
                choices=[("names", "Names of the members"), ("labels", "Labels for people")],
            ),
            ExportOption(
                name=_COLUMNS,
                label="Columns",
                help_text="Names of the columns to export, in their order, separated by commas; all where it is empty.",
                default="",
            ),
        ]

    @hookimpl
    def plan_export(self, job: ExportJob) -> ExportPlan:
        wanted = [name.strip() for name in str(job.options.get(_COLUMNS, "")).split(",")]
        wanted = list(dict.fromkeys(name for name in wanted if name))
        known = {column.name: column for column in job.columns}
        unknown = [name for name in wanted if name not in known]
        if unknown:
            refusal = f"{_COLUMNS}: there is no column '{unknown[0][:_SHOWN]}'. There are: {', '.join(known)}."
            return ExportPlan(refusal=refusal)
        columns = [known[name] for name in wanted] or list(job.columns)
        if job.options.get(_HEADINGS) == "labels":
            return ExportPlan(columns=_with_labels(columns))
        return ExportPlan(columns=[replace(column, label="") for column in columns])


def _with_labels(columns: Sequence[ExportColumn]) -> Sequence[ExportColumn]:
    # Where two columns have one label, it would not tell which is which.
    headings = [column.heading for column in columns]
    return [column if headings.count(column.heading) == 1 else replace(column, label="") for column in columns]
