"""Exports: write lists of records to files, in formats and arrangements of a plugin."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Literal, Protocol, TypeAlias, get_args

from host.contract.markers import Asked, MaybeAwaitable, hookspec
from host.contract.values import Json, User

ExportOptionType: TypeAlias = Literal["boolean", "integer", "float", "string", "choice"]
"""What the value of an option is; the names are those that clients make their forms of."""

_TYPES = frozenset(get_args(ExportOptionType))
_FORMAT_NAME = re.compile(r"[a-z][a-z0-9_-]{0,29}")
_ENDING = re.compile(r"[a-z0-9]{1,10}(?:\.[a-z0-9]{1,10}){0,2}")
_OPTION_NAME = re.compile(r"export_[a-z0-9][a-z0-9_]{0,90}")
_TAKEN = frozenset({"export_format", "export_plugin"})
_LONGEST_TEXT = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportColumn:
    """One column of an export."""

    name: str
    """Which value of a row stands in it; of nested objects with dots, as ``user_detail.username``."""
    label: str = ""
    """What stands above it; the name where it is empty."""
    type: str = "string"
    """What the values are, as ``OPTIONS`` says of the list: ``integer``, ``date``, ``list`` and so on."""

    @property
    def heading(self) -> str:
        """What stands above the column."""
        return self.label or self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportOption:
    """One choice that people have when they export with a plugin."""

    name: str
    """The query parameter; begins with ``export_``."""
    type: ExportOptionType = "string"
    label: str = ""
    help_text: str = ""
    required: bool = False
    default: bool | int | float | str | None = None
    """What counts where nothing is said; ``None`` leaves the option out of the job."""
    choices: Sequence[tuple[str, str]] = ()
    """For ``choice``: value and label."""

    def __post_init__(self) -> None:
        """Refuse an option that nobody could set.

        Raises:
            ValueError: naming what is wrong.

        """
        checks = (
            (_fits(_OPTION_NAME, self.name), "the name must be lower case and begin with 'export_'"),
            (self.name not in _TAKEN, "the name is taken by the host"),
            (self.type in _TYPES, f"type must be one of {', '.join(sorted(_TYPES))}"),
            (_are_texts(self.label, self.help_text), "texts must be short texts"),
            (self.type != "choice" or self.choices, "a choice needs choices"),
            (all(_is_choice(one) for one in self.choices), "choices must be pairs of a text and its label"),
            (self.default is None or isinstance(self.default, (bool, int, float, str)), "the default is of no type"),
        )
        _require(f"export option {str(self.name)[:100]!r}", checks)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportJob:
    """What somebody wants to have exported."""

    list_name: str
    """As ``attachments``: the name of the list, the same in every version."""
    label: str
    """The list as people call it."""
    columns: Sequence[ExportColumn]
    """All that there are."""
    total: int
    """How many rows there were as the export began."""
    user: User
    """Who exports; rows that they may not see are not among the rows."""
    format: str
    options: Mapping[str, Json] = field(default_factory=dict)
    """The plugin's options: those that were given, and defaults."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportPlan:
    """How a plugin arranges an export."""

    columns: Sequence[ExportColumn] = ()
    """In their order; any names where ``export_rows`` gives the values, else some of those of the job."""
    file_name: str = ""
    """Without an ending; by default the name of the list and the day."""
    refusal: str = ""
    """Why this cannot be exported, for whoever wants it; nothing is made then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportSheet:
    """What a format writes."""

    name: str
    """Of the file, without its ending."""
    columns: Sequence[ExportColumn]
    folder: Path
    """For temporary files; it is deleted with all that is in it."""


class ExportWriter(Protocol):
    """Writes one file."""

    def write(self, rows: Sequence[Sequence[Json]]) -> None:
        """Write some rows, each with one value for every column."""

    def close(self) -> None:
        """Write what is left, without closing the file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportFormat:
    """A kind of file that lists can be exported to.

    Of a large list only a batch of rows is in memory at a time; a writer should not gather them either. Each call of a
    writer has a deadline, and they may come from different threads, one after another.
    """

    name: str
    """As ``csv``; only one plugin can have each."""
    label: str
    ending: str
    """Of file names, without the dot."""
    open: Callable[[BinaryIO, ExportSheet], ExportWriter]
    """Begin to write to a file, which is empty and open for reading and writing."""

    def __post_init__(self) -> None:
        """Refuse a format that cannot work.

        Raises:
            ValueError: naming what is wrong.

        """
        checks = (
            (_fits(_FORMAT_NAME, self.name), f"the name must fit {_FORMAT_NAME.pattern}"),
            (_fits(_ENDING, self.ending), "the ending must be lower case letters and digits, without a dot in front"),
            (_are_texts(self.label) and self.label, "the label must be a text"),
            (callable(self.open), "open must be a function"),
        )
        _require(f"export format {str(self.name)[:100]!r}", checks)


def _require(what: str, checks: Sequence[tuple[object, str]]) -> None:
    for is_right, text in checks:
        if not is_right:
            msg = f"{what}: {text}"
            raise ValueError(msg)


def _fits(pattern: re.Pattern[str], text: object) -> bool:
    return isinstance(text, str) and pattern.fullmatch(text) is not None


def _are_texts(*texts: object) -> bool:
    return all(isinstance(text, str) and len(text) <= _LONGEST_TEXT and text.isprintable() for text in texts)


def _is_choice(choice: object) -> bool:
    return isinstance(choice, (list, tuple)) and len(choice) == 2 and _are_texts(*choice)  # noqa: PLR2004 - a pair


class ExportHooks:
    """Hooks of plugins that write lists to files: formats, and arrangements of what is in them."""

    key = "export"
    human_name = "Data export"

    @hookspec(asked=Asked.ONCE, returns=ExportFormat, many=True)
    def export_formats(self) -> MaybeAwaitable[Sequence[ExportFormat]]:
        """Give kinds of file that lists can be exported to.

        When: once, as the plugin is loaded, after ``start``. The functions of the formats are called while an export
        is made, which is in the background.
        Return: the formats. A name that an earlier plugin took is refused.
        Failure: the plugin is not loaded and the registry status says why. A writer that raises or takes too long is
        reported, and the export fails.
        Since: 0.1.
        """
        raise NotImplementedError

    @hookspec(asked=Asked.ONCE, returns=ExportOption, many=True)
    def export_options(self) -> MaybeAwaitable[Sequence[ExportOption]]:
        """Declare what people can choose when they export with this plugin.

        When: once, as the plugin is loaded.
        Return: the options, in the order to show them. Their values are in the job that ``plan_export`` gets.
        Failure: the plugin is not loaded and the registry status says why.
        Since: 0.1.
        """
        raise NotImplementedError

    @hookspec(asked=Asked.ONCE, returns=str, many=True)
    def export_lists(self) -> MaybeAwaitable[Sequence[str]]:
        """Name the lists that this plugin exports, where it is not meant for all.

        When: once, as the plugin is loaded.
        Return: names of lists, as ``attachments``; ``*`` stands for all. A plugin without this hook exports all lists.
        Failure: the plugin is not loaded and the registry status says why.
        Since: 0.1.
        """
        raise NotImplementedError

    @hookspec(asked=Asked.NAMED, returns=ExportPlan, optional=True)
    def plan_export(self, job: ExportJob) -> MaybeAwaitable[ExportPlan | None]:
        """Say which columns an export has, and how they and its file are called.

        When: somebody exports a list with this plugin, in the background, after the first rows were read. A plugin
        with this hook is one that people can name as ``export_plugin``.
        Return: the plan, which may hold a refusal; ``None`` to export everything as it is.
        Failure: the export fails, whoever wants it is told, and an error report is written.
        Since: 0.1.
        """
        raise NotImplementedError

    @hookspec(asked=Asked.NAMED, returns=dict, many=True)
    def export_rows(
        self, job: ExportJob, rows: Sequence[Mapping[str, Json]]
    ) -> MaybeAwaitable[Sequence[dict[str, Json]]]:
        """Change the rows of an export.

        When: for each batch of at most 1000 rows, in their order, after ``plan_export``.
        Return: the rows to write instead, each with a value for the columns of the plan; a value that is missing leaves
        the cell empty. There may be more or fewer rows than before.
        Failure: the export fails, whoever wants it is told, and an error report is written.
        Since: 0.1.
        """
        raise NotImplementedError
