"""Fields that hold dates and moments, in the formats of the interface."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any, ClassVar, Literal, TypeAlias

from api.fields import Field, FieldError, Schema

Style: TypeAlias = Literal["minutes", "iso-z", "iso-local"]
"""``YYYY-MM-DD HH:MM`` in server time, ISO 8601 in UTC with ``Z``, or ISO 8601 in server time without a zone."""


def minutes(moment: datetime | None) -> str | None:
    """Show a moment as ``YYYY-MM-DD HH:MM``, in the server's time zone."""
    return None if moment is None else _local(moment).isoformat(" ", "minutes")[:16]


def iso_z(moment: datetime | None) -> str | None:
    """Show a moment in ISO 8601, in UTC."""
    if moment is None:
        return None
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat() + "Z"


def iso_local(moment: datetime | None) -> str | None:
    """Show a moment in ISO 8601 with microseconds, in the server's time zone but without naming it."""
    return None if moment is None else _local(moment).replace(tzinfo=None).isoformat(timespec="microseconds")


def iso_date(day: date | None) -> str | None:
    """Show a day as ``YYYY-MM-DD``; of a moment, its day in the server's time zone."""
    if isinstance(day, datetime):
        day = _local(day).date()
    return None if day is None else day.isoformat()


def _local(moment: datetime) -> datetime:
    return moment if moment.tzinfo is None else moment.astimezone()


_STYLES: dict[Style, tuple[Callable[[datetime | None], str | None], str]] = {
    "minutes": (minutes, r"^\d{4}-\d{2}-\d{2} \d{2}:\d{2}$"),
    "iso-z": (iso_z, r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$"),
    "iso-local": (iso_local, r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{6}$"),
}


@dataclass(frozen=True, kw_only=True)
class DateTime(Field):
    """A moment. Input without a zone is server time."""

    kind: ClassVar[str] = "datetime"

    style: Style = "minutes"

    @property
    def encode(self) -> Callable[[Any], Any] | None:
        """Show the moment in the field's style."""
        return _STYLES[self.style][0]

    def clean(self, value: Any, *, form: bool) -> datetime:
        """Read ISO 8601, with a blank or ``T`` in the middle."""
        del form
        try:
            moment = datetime.fromisoformat(value.strip()) if isinstance(value, str) else None
            aware = moment.astimezone(UTC) if moment is not None else None
        except (ValueError, OverflowError, OSError):
            aware = None
        if aware is None:
            raise FieldError("Datetime has wrong format. Use YYYY-MM-DDThh:mm[:ss[.uuuuuu]][+HH:MM|-HH:MM|Z].")
        return aware

    def _schema(self, *, answer: bool) -> Schema:
        return {"type": "string", "pattern": _STYLES[self.style][1]} if answer else {"type": "string"}


@dataclass(frozen=True, kw_only=True)
class Date(Field):
    """A day."""

    kind: ClassVar[str] = "date"

    @property
    def encode(self) -> Callable[[Any], Any] | None:
        """Show the day as ``YYYY-MM-DD``."""
        return iso_date

    def clean(self, value: Any, *, form: bool) -> date:
        """Read ``YYYY-MM-DD``."""
        del form
        try:
            return date.fromisoformat(value.strip())
        except (ValueError, AttributeError):
            raise FieldError("Date has wrong format. Use YYYY-MM-DD.") from None

    def _schema(self, *, answer: bool) -> Schema:
        del answer
        return {"type": "string", "format": "date"}
