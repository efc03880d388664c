"""Judging: what the cells of rows mean for a target, and whether they make records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from host.contract.imports import ImportField, ImportRecord
from host.importing.targets import ID_FIELD, Target
from host.importing.values import ValueFault, cleaned, converted, is_empty, read_id
from host.plugins.imports import Faults

_TEXTS: Final = frozenset({"string", "url", "email"})
_REQUIRED: Final = "This field is required."
_SHOWN: Final = 100
_NAME_LENGTH: Final = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How the rows of a session become records."""

    update: bool = False
    """Rows change records that exist, and make none."""
    columns: Mapping[str, str] = field(default_factory=dict)
    """Field → column, where it has one."""
    lookups: Mapping[str, str] = field(default_factory=dict)
    """Related field → by which field alone its records are looked up."""
    defaults: Mapping[str, Any] = field(default_factory=dict)
    overrides: Mapping[str, Any] = field(default_factory=dict)
    filters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class Judged:
    """What was found out about one row."""

    data: dict[str, Any]
    """Field → converted value, as JSON."""
    errors: Faults = field(default_factory=dict)

    @property
    def is_valid(self) -> bool:
        """Tell whether nothing is wrong with it."""
        return not self.errors


class Judge:
    """Judges rows, many at once. Asks the target, so not within a transaction."""

    def __init__(self, target: Target, options: Options) -> None:
        self._target = target
        self._options = options
        self._fields = target.spec.fields

    def lines(self, lines: Sequence[Mapping[str, str]]) -> list[Judged]:
        """Judge lines of a file: cells by their columns.

        Raises:
            PluginFailedError: the target's plugin failed.

        """
        columns = self._options.columns
        return self._judged(
            [{name: line.get(column, "") for name, column in columns.items() if column} for line in lines]
        )

    def edited(self, rows: Sequence[Mapping[str, Any]]) -> list[Judged]:
        """Judge what somebody has made of rows: values by their fields.

        Raises:
            PluginFailedError: the target's plugin failed.

        """
        return self._judged(rows)

    def _judged(self, rows: Sequence[Mapping[str, Any]]) -> list[Judged]:
        found = [Judged(dict(self._given(row))) for row in rows]
        for one in self._fields:
            if one.type == "related field":
                self._resolve(one, found)
            else:
                for judged in found:
                    if not is_empty(judged.data.get(one.name)):
                        judged.data[one.name] = converted(one, judged.data[one.name])
        records: list[ImportRecord] = []
        right: list[Judged] = []
        for judged in found:
            record, faults = self._record(judged)
            judged.errors = {**faults, **judged.errors}
            if judged.is_valid:
                records.append(record)
                right.append(judged)
        if records:
            for judged, faults in zip(right, self._target.validate(records), strict=True):
                judged.errors = faults
        return found

    def _given(self, row: Mapping[str, Any]) -> Iterable[tuple[str, Any]]:
        options = self._options
        names = [one.name for one in self._fields]
        for name in [ID_FIELD, *names] if options.update else names:
            if name in options.overrides:
                yield name, options.overrides[name]
            elif name in row and not is_empty(row[name]):
                yield name, row[name]
            elif not is_empty(options.defaults.get(name)):
                yield name, options.defaults[name]
            elif name in row:
                yield name, row[name]

    def _record(self, judged: Judged) -> tuple[ImportRecord, Faults]:
        return record_of(self._target, judged.data, update=self._options.update, skip=judged.errors)

    def _resolve(self, one: ImportField, rows: Sequence[Judged]) -> None:
        texts = [_named(row.data.get(one.name)) for row in rows]
        by_id, by_text = self._ids(one, set(texts) - {""})
        for row, text in zip(rows, texts, strict=True):
            value = row.data.get(one.name)
            if is_empty(value):
                continue
            ids = set((by_id if isinstance(value, int) else by_text).get(text, ()))
            if len(ids) == 1:
                row.data[one.name] = ids.pop()
            elif ids:
                row.errors[one.name] = [f'"{text}" names more than one {one.model}; name it by its id.']
            else:
                names = self._options.lookups.get(one.name) or ", ".join(("id", *one.lookup_fields))
                row.errors[one.name] = [f'"{str(value)[:_SHOWN]}" names no {one.model} that there is, by {names}.']

    def _ids(self, one: ImportField, asked: set[str]) -> tuple[dict[str, list[int]], dict[str, list[int]]]:
        """Return the ids that texts mean as such, and those that they mean in a cell."""
        numbers = {text: number for text in asked if (number := read_id(text)) is not None}
        if self._target.spec.lookup is None:
            plain = {text: [number] for text, number in numbers.items()}
            return plain, plain
        known = self._looked_up(one, "id", {str(number) for number in numbers.values()})
        by_id = {text: known[str(number)] for text, number in numbers.items() if str(number) in known}
        chosen = self._options.lookups.get(one.name)
        by_text: dict[str, list[int]] = {}
        for by in (chosen,) if chosen else ("id", *one.lookup_fields):
            by_text |= by_id if by == "id" else self._looked_up(one, by, asked - set(by_text))
        return by_id, by_text

    def _looked_up(self, one: ImportField, by: str, texts: set[str]) -> dict[str, list[int]]:
        if not texts:
            return {}
        filters = self._options.filters.get(one.name)
        found = self._target.lookup(one.name, by, sorted(texts), filters if isinstance(filters, dict) else {})
        return {text: ids for text, ids in found.items() if ids}


def record_of(
    target: Target, data: Mapping[str, Any], *, update: bool, skip: Iterable[str] = ()
) -> tuple[ImportRecord, Faults]:
    """Return the record that converted values make, and what is wrong with them.

    Args:
        target: what it is for.
        data: field → converted value.
        update: whether it changes a record.
        skip: fields of which it is known already that they are wrong.

    """
    values: dict[str, Any] = {}
    faults: Faults = {}
    key: int | None = None
    if update and (key := read_id(data.get(ID_FIELD))) is None:
        faults[ID_FIELD] = ["The id of a record is required, a whole number."]
    for one in target.spec.fields:
        value = data.get(one.name)
        if one.name in skip:
            continue
        if not is_empty(value):
            try:
                values[one.name] = cleaned(one, value)
            except ValueFault as fault:
                faults[one.name] = [str(fault)]
        elif one.required and (not update or one.name in data):
            faults[one.name] = [_REQUIRED]
        elif update and one.name in data and (one.null or one.type in _TEXTS):
            values[one.name] = None if one.null else ""
    return ImportRecord(values=values, id=key), faults


def _named(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int):
        return ""
    return str(value).strip()[:_NAME_LENGTH]
