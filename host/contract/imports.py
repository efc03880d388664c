"""Imports: let files of rows become records of a plugin."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, get_args

from host.contract.markers import Asked, MaybeAwaitable, hookspec
from host.contract.values import Json

ImportFieldType: TypeAlias = Literal[
    "string", "integer", "float", "decimal", "boolean", "choice", "date", "datetime", "url", "email", "related field"
]
"""What the values of a field are; the names are those that clients make their forms of."""

ImportErrors: TypeAlias = Mapping[str, Sequence[str]]
"""What is wrong with one row: field → messages; what concerns the whole row stands under ``non_field_errors``."""

_TYPES = frozenset(get_args(ImportFieldType))
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
_MODEL_NAME = re.compile(r"[a-z][a-z0-9_]{0,99}")
_MOST_FIELDS = 1000
_LONGEST_TEXT = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportField:
    """One field of the records that can be imported."""

    name: str
    """A column that is called like it, like ``label`` or like ``help_text`` is taken for it."""
    type: ImportFieldType = "string"
    label: str = ""
    help_text: str = ""
    required: bool = False
    default: Json = None
    """What an empty cell means; ``None`` leaves the field out of the values of a new record."""
    null: bool = False
    """Whether an empty cell takes the value away from a record that is changed; without it, text becomes empty and
    other values stay."""
    choices: Sequence[tuple[str | int, str]] = ()
    """For ``choice``: value and label; rows may hold either."""
    max_length: int | None = None
    multiline: bool = False
    """Whether text keeps its line breaks."""
    minimum: int | None = None
    maximum: int | None = None
    model: str = ""
    """For ``related field``: the model type that it refers to."""
    api_url: str | None = None
    """For ``related field``: where a client finds those records."""
    lookup_fields: Sequence[str] = ()
    """For ``related field``: by which other fields a row may name the record, in this order."""

    def __post_init__(self) -> None:
        """Refuse a field that no row could fill.

        Raises:
            ValueError: naming what is wrong.

        """
        checks = (
            (_fits(_NAME, self.name), f"the name must fit {_NAME.pattern}"),
            (self.type in _TYPES, f"type must be one of {', '.join(sorted(_TYPES))}"),
            (self.name != "id", "'id' stands for the record that a row changes; choose another name"),
            (_are_texts(self.label, self.help_text, self.model, self.api_url or ""), "texts must be short texts"),
            (self.type != "choice" or self.choices, "a choice needs choices"),
            (all(_is_choice(one) for one in self.choices), "choices must be pairs of a value and its label"),
            (self.type != "related field" or self.model, "a related field needs the model that it refers to"),
            (_are_texts(*self.lookup_fields), "lookup_fields must be names"),
        )
        _require(f"import field {str(self.name)[:100]!r}", checks)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportRecord:
    """One row of a file, ready to become a record."""

    values: Mapping[str, Any]
    """Field → value of its type: ``str``, ``int``, ``float``, ``Decimal``, ``bool``, ``date``, ``datetime`` (with a
    zone), or the id of the record that it refers to. Fields that a row says nothing of are missing."""
    id: int | None = None
    """The record to change; ``None`` for a new one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportTarget:
    """A kind of record that can be imported.

    The host reads files, finds the columns, converts and checks the values by the fields, and asks the functions below
    about many rows at once. They run under a deadline, for a batch of at most 500 rows.
    """

    model_type: str
    """Only one plugin can import each; name one of your own model types, or of those that every host has."""
    fields: Sequence[ImportField]
    save: Callable[[Sequence[ImportRecord]], Sequence[int | ImportErrors]]
    """Store records, and return for each its id, or what is wrong with it.

    Write in ``services.session()``: it is a part of the transaction in which the host notes which rows are done, so
    either both are kept or none, also when the process is killed. Whatever it writes is undone when a row of the batch
    is wrong. Do not wait for anything in it."""
    label: str = ""
    validate: Callable[[Sequence[ImportRecord]], Sequence[ImportErrors]] | None = None
    """Say what would be wrong with records, beyond what the fields say, without storing anything: for each record
    what is wrong, or an empty mapping. Not within a transaction of the host."""
    lookup: Callable[[str, str, Sequence[str], Mapping[str, Json]], Mapping[str, Sequence[int]]] | None = None
    """Find the records that rows refer to: gets the name of a related field, ``"id"`` or one of its ``lookup_fields``,
    the texts in question and the filters that the session sets for the field; returns text → ids."""
    role: str = ""
    """Rule set that grants the right to import; that of the model type where it is empty."""
    api_url: str | None = None
    """Where a client finds the records."""
    can_update: bool = True
    """Whether rows may change records that exist: then ``save`` gets records with an ``id``."""
    _by_name: Mapping[str, ImportField] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Refuse a target that cannot work.

        Raises:
            ValueError: naming what is wrong.

        """
        fields = self.fields if isinstance(self.fields, (list, tuple)) else ()
        names = [one.name for one in fields if isinstance(one, ImportField)]
        refers = any(isinstance(one, ImportField) and one.lookup_fields for one in fields)
        checks = (
            (
                _fits(_MODEL_NAME, self.model_type),
                "model_type must be lower case letters, digits and _",
            ),
            (0 < len(fields) <= _MOST_FIELDS and len(names) == len(fields), "fields must be a list of import fields"),
            (len(set(names)) == len(names), "a field stands more than once"),
            (callable(self.save), "save must be a function"),
            (self.validate is None or callable(self.validate), "validate must be a function"),
            (self.lookup is None or callable(self.lookup), "lookup must be a function"),
            (not refers or self.lookup is not None, "lookup_fields need the function lookup"),
            (_are_texts(self.label, self.role, self.api_url or ""), "texts must be short texts"),
        )
        _require(f"import target {str(self.model_type)[:100]!r}", checks)
        object.__setattr__(self, "_by_name", {one.name: one for one in fields})

    def field(self, name: str) -> ImportField | None:
        """Return the field of a name, if there is one."""
        return self._by_name.get(name)


def _require(what: str, checks: Sequence[tuple[object, str]]) -> None:
    for is_right, text in checks:
        if not is_right:
            msg = f"{what}: {text}"
            raise ValueError(msg)


def _fits(pattern: re.Pattern[str], text: object) -> bool:
    return isinstance(text, str) and pattern.fullmatch(text) is not None


def _are_texts(*texts: object) -> bool:
    return all(isinstance(text, str) and len(text) <= _LONGEST_TEXT and "\0" not in text for text in texts)


def _is_choice(choice: object) -> bool:
    if not isinstance(choice, (list, tuple)) or len(choice) != 2:  # noqa: PLR2004 - a pair
        return False
    value, label = choice
    return isinstance(value, (str, int)) and not isinstance(value, bool) and _are_texts(str(value), label)


class ImportHooks:
    """Hooks of plugins whose records can be imported from files."""

    key = "import"
    human_name = "Data import"

    @hookspec(asked=Asked.ONCE, returns=ImportTarget, many=True)
    def import_targets(self) -> MaybeAwaitable[Sequence[ImportTarget]]:
        """Give the kinds of record that can be imported from files.

        When: once, as the plugin is loaded, after ``start``. The functions of the targets are called while people
        import: ``lookup`` and ``validate`` as rows are read and edited, ``save`` as they are accepted.
        Return: the targets. A model type that an earlier plugin imports is refused.
        Failure: the plugin is not loaded and the registry status says why. A function that raises, takes too long or
        answers nonsense is reported; nothing of its batch is stored, and whoever imports is told.
        Since: 0.1.
        """
        raise NotImplementedError
