"""Exports: the formats and arrangements of plugins, and their code that writes files, called under deadlines."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, Final

from host.contract.exports import (
    ExportColumn,
    ExportFormat,
    ExportJob,
    ExportOption,
    ExportPlan,
    ExportSheet,
    ExportWriter,
)
from host.contract.values import Json
from host.plugins.calls import Calls, PluginFailedError
from host.plugins.current import Registries
from host.plugins.failures import summary
from host.plugins.registry import Registry

_PLAN: Final = "plan_export"
_ROWS: Final = "export_rows"
_ALL: Final = "*"
_WRITE_SECONDS: Final = 60.0
_CLOSE_SECONDS: Final = 1800.0
"""A format may have to pack what it has written."""
_MOST_COLUMNS: Final = 10_000
_TEXT_LENGTH: Final = 500


@dataclass(frozen=True, slots=True)
class Exporter:
    """A plugin that can be named as the one to export with."""

    key: str
    title: str
    options: Sequence[ExportOption]


class ExportPlugins:
    """Asks plugins to export.

    Args:
        registries: gives the registry in force.
        calls: calls their hooks and functions.
        report: writes an error report (path, message, details).

    """

    def __init__(self, registries: Registries, calls: Calls, report: Callable[[str, str, str], object]) -> None:
        self._registries = registries
        self._calls = calls
        self._report = report

    def formats(self) -> dict[str, ExportFormat]:
        """Return the formats that there are at present, by name."""
        plugins = self._registries.current.plugins.values()
        return {one.name: one for plugin in plugins for one in plugin.export_formats}

    def exporters(self, list_name: str) -> dict[str, Exporter]:
        """Return the plugins that export a list, by key."""
        registry = self._registries.current
        found = [(one.plugin, registry.plugins[one.plugin]) for one in registry.hooks.get(_PLAN, ())]
        return {
            key: Exporter(key, plugin.manifest.identity.title, plugin.export_options)
            for key, plugin in found
            if list_name in plugin.export_lists or _ALL in plugin.export_lists
        }

    def plan(self, key: str, job: ExportJob) -> ExportPlan:
        """Ask a plugin how it arranges an export; its columns are checked.

        Raises:
            PluginFailedError: it failed to say, or is not active any more.

        """
        answer = self._calls.ask_one(self._implementation(_PLAN, key), job=job)
        if answer is None:
            return ExportPlan(columns=job.columns)
        try:
            return self._checked(key, job, answer)
        except Exception as error:
            # A class of the plugin's own may do anything.
            message = f"its plan cannot be used: {summary(error)}"
            self._report(f"plugin.{key}.{_PLAN}", message, "")
            raise PluginFailedError(key, _PLAN, message) from error

    def changes_rows(self, key: str) -> bool:
        """Tell whether a plugin changes the rows that it exports."""
        return _find(self._registries.current, _ROWS, key) is not None

    def rows(self, key: str, job: ExportJob, rows: Sequence[Mapping[str, Json]]) -> Sequence[Mapping[str, Json]]:
        """Let a plugin change rows.

        Raises:
            PluginFailedError: it failed, or is not active any more.

        """
        changed: Sequence[Mapping[str, Json]] = self._calls.ask_one(
            self._implementation(_ROWS, key), job=job, rows=rows
        )
        return changed

    def writer(self, name: str, file: BinaryIO, sheet: ExportSheet) -> BoundedWriter:
        """Begin to write a file in a format.

        Raises:
            PluginFailedError: the plugin failed, or is not active any more.

        """
        for key, plugin in self._registries.current.plugins.items():
            for spec in plugin.export_formats:
                if spec.name == name:
                    return BoundedWriter(self._calls, key, spec, file, sheet)
        raise PluginFailedError(name, "export_formats", "no active plugin has this format any more")

    def _implementation(self, hook: str, key: str) -> Any:
        found = _find(self._registries.current, hook, key)
        if found is None:
            raise PluginFailedError(key, hook, "it is not active any more")
        return found

    def _checked(self, key: str, job: ExportJob, plan: ExportPlan) -> ExportPlan:
        refusal = _text(plan.refusal)
        if refusal:
            return ExportPlan(refusal=refusal)
        columns = [
            ExportColumn(name=_text(one.name), label=_text(one.label), type=_text(one.type))
            for one in list(plan.columns)[:_MOST_COLUMNS]
        ]
        headings = [one.heading for one in columns]
        doubled = sorted({one for one in headings if headings.count(one) > 1})
        known = {one.name for one in job.columns}
        unknown = [one.name for one in columns if one.name not in known]
        if not columns:
            problem = "it has no columns"
        elif doubled:
            problem = f"the heading '{doubled[0]}' stands more than once"
        elif unknown and not self.changes_rows(key):
            problem = f"there is no column '{unknown[0]}' in the list, and the plugin has no export_rows"
        else:
            return ExportPlan(columns=columns, file_name=_text(plan.file_name))
        raise ValueError(problem)


class BoundedWriter:
    """A plugin's writer, each call of which has a deadline.

    Args:
        calls: calls it.
        plugin: key of the plugin.
        spec: the format.
        file: what is written to.
        sheet: what is written.

    Raises:
        PluginFailedError: the plugin failed to begin.

    """

    def __init__(self, calls: Calls, plugin: str, spec: ExportFormat, file: BinaryIO, sheet: ExportSheet) -> None:
        self._calls = calls
        self._plugin = plugin
        self._name = f"export_format({spec.name})"
        self._file = file
        self._writer: ExportWriter = self._call("open", spec.open, file, sheet)

    def write(self, rows: Sequence[Sequence[Json]]) -> None:
        """Write some rows.

        Raises:
            PluginFailedError: the plugin failed.
            OSError: there is no room, or something else is amiss with the disk.

        """
        self._call("write", lambda: self._writer.write(rows))

    def close(self) -> None:
        """Write what is left; the file then stands at its beginning.

        Raises:
            PluginFailedError: the plugin failed.
            OSError: there is no room, or something else is amiss with the disk.

        """

        def close() -> None:
            self._writer.close()
            self._file.flush()
            self._file.seek(0)

        self._call("close", close, seconds=_CLOSE_SECONDS)

    def _call(self, what: str, function: Any, *arguments: Any, seconds: float = _WRITE_SECONDS) -> Any:
        # A full disk is no fault of the plugin.
        name = f"{self._name}.{what}"
        return self._calls.call(self._plugin, name, function, *arguments, expected=(OSError,), seconds=seconds)


def _find(registry: Registry, hook: str, key: str) -> Any:
    return next((one for one in registry.hooks.get(hook, ()) if one.plugin == key), None)


def _text(value: object) -> str:
    if not isinstance(value, str):
        msg = f"{type(value).__name__} stands where a text should"
        raise TypeError(msg)
    return value.replace("\0", "").encode("utf-8", "replace").decode()[:_TEXT_LENGTH]
