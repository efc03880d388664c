"""Fields: how one member of a body is read, cleaned, shown and described. Text, moments and structures stand apart."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, ClassVar, Final, TypeAlias

Schema: TypeAlias = dict[str, Any]
"""A JSON schema, as OpenAPI 3.1 uses it."""

Faults: TypeAlias = "Sequence[str] | Sequence[Mapping[str, Any]] | Mapping[str, Any]"
"""What is wrong with a value: messages, or the faults of its members."""

INT64_MIN: Final = -(2**63)
INT64_MAX: Final = 2**63 - 1

_ACRONYMS: Final[Mapping[str, str]] = {
    "pk": "ID",
    "id": "ID",
    "ids": "IDs",
    "api": "API",
    "url": "URL",
    "uris": "URIs",
    "http": "HTTP",
    "ui": "UI",
}
_TRUE = frozenset({"true", "1", "yes", "on", "t", "y"})
_FALSE = frozenset({"false", "0", "no", "off", "f", "n"})
_INTEGER = re.compile(r"[+-]?\d{1,30}(?:\.0{1,10})?", re.ASCII)
_NUMBER = re.compile(r"[+-]?(?:\d{1,400}\.?\d{0,400}|\.\d{1,400})(?:[eE][+-]?\d{1,4})?", re.ASCII)


class Missing(Enum):
    """Marks what was not given, where ``None`` would say something."""

    VALUE = "missing"


MISSING: Final = Missing.VALUE


class FieldError(Exception):
    """A value is refused; ``faults`` says why."""

    def __init__(self, *messages: str, faults: Faults | None = None) -> None:
        self.faults: Faults = messages if faults is None else faults
        super().__init__("; ".join(messages))


@dataclass(frozen=True, kw_only=True)
class Field:
    """One member of a body.

    ``required`` concerns input; a field with a default is never required. ``read_only`` members are set by the
    server and ignored on input; ``write_only`` ones never appear in an answer. ``always`` says whether an answer
    always holds the member.
    """

    kind: ClassVar[str] = "field"
    """``type`` in the answer to OPTIONS."""

    label: str = ""
    help_text: str = ""
    required: bool = True
    read_only: bool = False
    write_only: bool = False
    null: bool = False
    default: Any = MISSING
    always: bool = True

    @property
    def must_be_given(self) -> bool:
        """Tell whether a body without this member is refused."""
        return self.required and not self.read_only and self.default is MISSING

    @property
    def encode(self) -> Callable[[Any], Any] | None:
        """The function that makes a stored value fit for an answer; ``None`` where it is fit as it is."""
        return None

    def parse(self, value: object, *, form: bool = False) -> Any:
        """Check and clean one value.

        ``form`` says that it comes from a form, where everything is text and an empty text can mean nothing.

        Raises:
            FieldError: the value is refused.

        """
        if value is None:
            return self._nothing()
        if form and value == "" and self.null and not self._keeps_blank:
            return None
        return self.clean(value, form=form)

    def clean(self, value: Any, *, form: bool) -> Any:
        """Check and clean a value that is not null.

        Raises:
            FieldError: the value is refused.

        """
        del form
        return value

    def info(self, name: str) -> dict[str, Any]:
        """Describe the field for OPTIONS."""
        info: dict[str, Any] = {
            "type": self.kind,
            "required": self.must_be_given,
            "read_only": self.read_only,
            "label": self.label or _label(name),
        }
        if self.help_text:
            info["help_text"] = self.help_text
        if self.default is not MISSING:
            info["default"] = self.default
        if self.null:
            info["allow_null"] = True
        return info | self._limits()

    def schema(self, *, answer: bool = False) -> Schema:
        """Describe the field as a JSON schema, as it is accepted or, with ``answer``, as it is sent."""
        schema = self._schema(answer=answer)
        if self.null:
            schema = _with_null(schema)
        if self.help_text:
            schema["description"] = self.help_text
        if self.default is not MISSING and not answer:
            schema["default"] = self.default
        if self.read_only:
            schema["readOnly"] = True
        if self.write_only:
            schema["writeOnly"] = True
        return schema

    @property
    def _keeps_blank(self) -> bool:
        return False

    def _nothing(self) -> None:
        if not self.null:
            raise FieldError("This field may not be null.")

    def _limits(self) -> dict[str, Any]:
        return {}

    def _schema(self, *, answer: bool) -> Schema:
        del answer
        return {}


def _label(name: str) -> str:
    words = [_ACRONYMS.get(word, word) for word in name.split("_")]
    text = " ".join(words)
    return text[:1].upper() + text[1:]


def _with_null(schema: Schema) -> Schema:
    if not schema:
        return schema
    kind = schema.get("type")
    if isinstance(kind, str) and "enum" not in schema:
        return schema | {"type": [kind, "null"]}
    return {"anyOf": [schema, {"type": "null"}]}


@dataclass(frozen=True, kw_only=True)
class Integer(Field):
    """A whole number of at most 64 bits."""

    kind: ClassVar[str] = "integer"

    minimum: int = INT64_MIN
    maximum: int = INT64_MAX

    def clean(self, value: Any, *, form: bool) -> int:
        """Read a number, or a text that is one."""
        del form
        number = read_integer(value)
        if number is None:
            raise FieldError("A valid integer is required.")
        if number < self.minimum:
            raise FieldError(f"Ensure this value is greater than or equal to {self.minimum}.")
        if number > self.maximum:
            raise FieldError(f"Ensure this value is less than or equal to {self.maximum}.")
        return number

    def _limits(self) -> dict[str, Any]:
        limits: dict[str, Any] = {}
        if self.minimum != INT64_MIN:
            limits["min_value"] = self.minimum
        if self.maximum != INT64_MAX:
            limits["max_value"] = self.maximum
        return limits

    def _schema(self, *, answer: bool) -> Schema:
        del answer
        return {"type": "integer", "format": "int64", "minimum": self.minimum, "maximum": self.maximum}


def read_integer(value: object) -> int | None:
    """Return the whole number that a JSON value or a text says, or ``None``."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    if isinstance(value, str) and _INTEGER.fullmatch(value.strip()):
        return int(value.strip().partition(".")[0])
    return None


@dataclass(frozen=True, kw_only=True)
class Float(Field):
    """A number."""

    kind: ClassVar[str] = "float"

    minimum: float | None = None
    maximum: float | None = None

    def clean(self, value: Any, *, form: bool) -> float:
        """Read a number, or a text that is one."""
        del form
        if isinstance(value, str) and _NUMBER.fullmatch(value.strip()):
            value = float(value)
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise FieldError("A valid number is required.")
        if self.minimum is not None and value < self.minimum:
            raise FieldError(f"Ensure this value is greater than or equal to {self.minimum:g}.")
        if self.maximum is not None and value > self.maximum:
            raise FieldError(f"Ensure this value is less than or equal to {self.maximum:g}.")
        return float(value)

    def _limits(self) -> dict[str, Any]:
        limits = {"min_value": self.minimum, "max_value": self.maximum}
        return {name: limit for name, limit in limits.items() if limit is not None}

    def _schema(self, *, answer: bool) -> Schema:
        del answer
        schema: Schema = {"type": "number", "format": "double"}
        if self.minimum is not None:
            schema["minimum"] = self.minimum
        if self.maximum is not None:
            schema["maximum"] = self.maximum
        return schema


@dataclass(frozen=True, kw_only=True)
class Boolean(Field):
    """True or false, also by the words that forms and scripts use for them."""

    kind: ClassVar[str] = "boolean"

    def clean(self, value: Any, *, form: bool) -> bool:
        """Read a truth value."""
        del form
        truth = read_boolean(value)
        if truth is None:
            raise FieldError("Must be a valid boolean.")
        return truth

    def _nothing(self) -> None:
        if not self.null:
            raise FieldError("Must be a valid boolean.")

    def _schema(self, *, answer: bool) -> Schema:
        del answer
        return {"type": "boolean"}


def read_boolean(value: object) -> bool | None:
    """Return the truth value that a JSON value or a word says, or ``None``."""
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float) and value in {0, 1}:
        return bool(value)
    if isinstance(value, str):
        word = value.strip().lower()
        if word in _TRUE:
            return True
        if word in _FALSE:
            return False
    return None
