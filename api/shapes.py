"""Shapes: named sets of fields, of a body or of an answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from api.fields import MISSING, Field, FieldError, Schema
from api.nested_fields import File


class InvalidBodyError(FieldError):
    """A body is refused; ``faults`` maps each member to what is wrong with it."""

    faults: Mapping[str, Any]


class Shape:
    """A named set of fields.

    One shape serves both directions: members that are ``read_only`` are left out of what is accepted, those that
    are ``write_only`` out of what is answered.
    """

    def __init__(self, name: str, /, **fields: Field) -> None:
        self.name = name
        self.fields: Mapping[str, Field] = fields
        self._writable = {name: field for name, field in fields.items() if not field.read_only}

    def __repr__(self) -> str:
        return f"Shape({self.name!r})"

    @property
    def has_files(self) -> bool:
        """Tell whether a file can be uploaded in it."""
        return any(isinstance(field, File) for field in self._writable.values())

    @property
    def is_writable(self) -> bool:
        """Tell whether there is anything to send."""
        return bool(self._writable)

    def read(self, data: Mapping[str, Any], *, partial: bool = False, form: bool = False) -> dict[str, Any]:
        """Check and clean a body.

        Unknown members and those that the server sets are ignored. With ``partial`` nothing is required and no
        default is filled in.

        Raises:
            InvalidBodyError: naming everything that is wrong at once.

        """
        cleaned: dict[str, Any] = {}
        faults: dict[str, Any] = {}
        for name, field in self._writable.items():
            value = data.get(name, MISSING)
            if value is MISSING:
                if not partial:
                    if field.default is not MISSING:
                        cleaned[name] = field.default
                    elif field.must_be_given:
                        faults[name] = ["This field is required."]
                continue
            try:
                cleaned[name] = field.parse(value, form=form)
            except FieldError as error:
                faults[name] = error.faults
        if faults:
            raise InvalidBodyError(faults=faults)
        return cleaned

    def info(self) -> dict[str, Any]:
        """Describe every member for OPTIONS."""
        return {name: field.info(name) for name, field in self.fields.items()}

    def reference(self, *, answer: bool = False, partial: bool = False) -> str:
        """Return the JSON pointer of the shape in the OpenAPI document."""
        return f"#/components/schemas/{self.component(answer=answer, partial=partial)}"

    def component(self, *, answer: bool = False, partial: bool = False) -> str:
        """Return the name of the shape in the OpenAPI document; input and answer are described apart."""
        if answer:
            return self.name
        return f"Patched{self.name}Request" if partial else f"{self.name}Request"

    def schema(self, *, answer: bool = False, partial: bool = False) -> Schema:
        """Describe the shape as a JSON schema."""
        if answer:
            fields = {name: field for name, field in self.fields.items() if not field.write_only}
            required = [name for name, field in fields.items() if field.always]
        else:
            fields = self._writable
            required = [] if partial else [name for name, field in fields.items() if field.must_be_given]
        schema: Schema = {
            "type": "object",
            "properties": {name: field.schema(answer=answer) for name, field in fields.items()},
        }
        if required:
            schema["required"] = required
        return schema

    def but(self, name: str, /, *without: str, **changed: Field) -> Shape:
        """Return a shape of another name, without some fields and with others put in or replaced."""
        fields = {key: field for key, field in self.fields.items() if key not in without}
        return Shape(name, **(fields | changed))
