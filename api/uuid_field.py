"""A field that holds a UUID."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import Any, ClassVar

from api.fields import Field, FieldError, Schema


@dataclass(frozen=True, kw_only=True)
class Uuid(Field):
    """A UUID, as text in its usual form."""

    kind: ClassVar[str] = "string"

    def clean(self, value: Any, *, form: bool) -> str:
        """Accept any way to write one."""
        del form
        try:
            return str(uuid.UUID(value))
        except (ValueError, AttributeError, TypeError):
            raise FieldError("Must be a valid UUID.") from None

    def _schema(self, *, answer: bool) -> Schema:
        del answer
        return {"type": "string", "format": "uuid"}
