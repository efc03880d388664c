"""Fields that hold structures: any JSON, objects, lists, other shapes, references and files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Final

import orjson
from starlette.datastructures import UploadFile

from api.fields import INT64_MAX, Field, FieldError, Integer, Schema
from api.text_fields import Text

if TYPE_CHECKING:
    from api.shapes import Shape

MAX_DEPTH: Final = 100


def check_json(value: object, *, nulls: bool = False, depth: int = 0) -> None:
    """Refuse what cannot be stored on every database; ``nulls`` allows null characters, for what is not stored.

    Raises:
        FieldError: the value is nested too deeply, or holds null characters or the file of a form.

    """
    if isinstance(value, str):
        if "\0" in value and not nulls:
            raise FieldError("Null characters are not allowed.")
        return
    if isinstance(value, UploadFile):
        raise FieldError("A file cannot stand here.")
    if not isinstance(value, dict | list):
        return
    if depth >= MAX_DEPTH:
        raise FieldError(f"The value is nested more than {MAX_DEPTH} levels deep.")
    if isinstance(value, dict):
        if not nulls and any("\0" in name for name in value):
            raise FieldError("Null characters are not allowed.")
        value = list(value.values())
    for member in value:
        check_json(member, nulls=nulls, depth=depth + 1)


def from_form(value: object) -> object:
    """Return what the JSON text of a form says.

    Raises:
        FieldError: the text is no JSON.

    """
    if not isinstance(value, str):
        return value
    try:
        return orjson.loads(value)
    except orjson.JSONDecodeError:
        raise FieldError("Value must be valid JSON.") from None


def structure_or_text(value: object) -> object:
    """Return the object or list whose JSON text a form sent; other text means itself, be it ``1.10`` or ``null``."""
    if not (isinstance(value, str) and value.lstrip()[:1] in {"{", "["}):
        return value
    try:
        return from_form(value)
    except FieldError:
        return value


@dataclass(frozen=True, kw_only=True)
class Json(Field):
    """Any JSON value."""

    kind: ClassVar[str] = "field"

    def clean(self, value: Any, *, form: bool) -> Any:
        """Accept anything that can be stored; a form's text that is no object or list stays a text."""
        if form:
            value = structure_or_text(value)
        check_json(value)
        return value


@dataclass(frozen=True, kw_only=True)
class Object(Field):
    """Any JSON object; ``values`` describes its values where they are alike."""

    kind: ClassVar[str] = "nested object"

    values: Field | None = None

    def clean(self, value: Any, *, form: bool) -> dict[str, Any]:
        """Accept an object."""
        if form:
            value = from_form(value)
        if not isinstance(value, dict):
            raise FieldError("Expected an object.")
        check_json(value)
        return value

    def _schema(self, *, answer: bool) -> Schema:
        schema: Schema = {"type": "object"}
        if self.values is not None:
            schema["additionalProperties"] = self.values.schema(answer=answer)
        else:
            schema["additionalProperties"] = True
        return schema


@dataclass(frozen=True, kw_only=True)
class ListOf(Field):
    """A list whose members are all of one kind."""

    kind: ClassVar[str] = "list"

    item: Field
    empty: bool = True
    max_items: int = 100_000

    def clean(self, value: Any, *, form: bool) -> list[Any]:
        """Check every member; all faults are named at once."""
        if form and isinstance(value, str):
            value = from_form(value)
        if not isinstance(value, list):
            raise FieldError(f'Expected a list of items but got type "{type(value).__name__}".')
        if not value and not self.empty:
            raise FieldError("This list may not be empty.")
        if len(value) > self.max_items:
            raise FieldError(f"Ensure this field has no more than {self.max_items} elements.")
        cleaned: list[Any] = []
        faults: dict[str, Any] = {}
        for index, member in enumerate(value):
            try:
                cleaned.append(self.item.parse(member))
            except FieldError as error:
                faults[str(index)] = error.faults
        if not faults:
            return cleaned
        if isinstance(self.item, Nested):
            # Nested members are reported as a list of objects, an empty one for each that is right.
            raise FieldError(faults=[_members(faults.get(str(index), {})) for index in range(len(value))])
        raise FieldError(faults=faults)

    def _limits(self) -> dict[str, Any]:
        # What stands in a list has no name, and so no label unless it was given one.
        return {"child": {key: told for key, told in self.item.info("").items() if key != "label" or told}}

    def _schema(self, *, answer: bool) -> Schema:
        schema: Schema = {"type": "array", "items": self.item.schema(answer=answer)}
        if not self.empty and not answer:
            schema["minItems"] = 1
        return schema


def _members(faults: Any) -> Mapping[str, Any]:
    return faults if isinstance(faults, Mapping) else {"non_field_errors": list(faults)}


@dataclass(frozen=True, kw_only=True)
class Nested(Field):
    """An object of a known shape."""

    kind: ClassVar[str] = "nested object"

    shape: Shape

    def clean(self, value: Any, *, form: bool) -> dict[str, Any]:
        """Check every member."""
        if form:
            value = from_form(value)
        if not isinstance(value, dict):
            raise FieldError(faults={"non_field_errors": ["Invalid data. Expected a dictionary."]})
        return self.shape.read(value)

    def _limits(self) -> dict[str, Any]:
        return {"children": self.shape.info()}

    def _schema(self, *, answer: bool) -> Schema:
        return {"$ref": self.shape.reference(answer=answer)}


@dataclass(frozen=True, kw_only=True)
class Reference(Field):
    """The key of another record. That the record exists is for the service to check, in its transaction."""

    kind: ClassVar[str] = "related field"

    model: str
    api_url: str | None = None
    pk_field: str = "pk"
    filters: Mapping[str, Any] = field(default_factory=dict)
    key: Field = field(default_factory=lambda: Integer(minimum=0, maximum=INT64_MAX))

    def clean(self, value: Any, *, form: bool) -> Any:
        """Accept what can be a key."""
        try:
            return self.key.parse(value, form=form)
        except FieldError:
            raise FieldError(f"Incorrect type. Expected pk value, received {type(value).__name__}.") from None

    def _limits(self) -> dict[str, Any]:
        return {
            "model": self.model,
            "api_url": self.api_url,
            "pk_field": self.pk_field,
            "filters": dict(self.filters),
        }

    def _schema(self, *, answer: bool) -> Schema:
        return self.key.schema(answer=answer)


@dataclass(frozen=True, kw_only=True)
class File(Field):
    """A file: uploaded as a part of a form, answered as its address."""

    kind: ClassVar[str] = "file upload"

    max_length: int = 100
    """Longest file name."""
    endings: Sequence[str] = ()
    """Allowed ends of the file name, in lower case; empty allows all."""

    def clean(self, value: Any, *, form: bool) -> UploadFile:
        """Accept an uploaded file with a name."""
        del form
        if not isinstance(value, UploadFile):
            raise FieldError("The submitted data was not a file. Check the encoding type on the form.")
        name = value.filename or ""
        if not name:
            raise FieldError("No filename could be determined.")
        if len(name) > self.max_length:
            raise FieldError(
                f"Ensure this filename has at most {self.max_length} characters (it has {len(name)}).",
            )
        Text().clean(name, form=False)
        if self.endings and not name.lower().endswith(tuple(self.endings)):
            raise FieldError(f"File names must end in {', '.join(self.endings)}.")
        return value

    def _schema(self, *, answer: bool) -> Schema:
        return {"type": "string"} if answer else {"type": "string", "format": "binary"}
