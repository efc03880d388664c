"""Bulk delete: which records the body of a DELETE on a list means."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from api.answers import Refusal
from api.fields import Boolean, Field, FieldError, Integer
from api.nested_fields import Json, ListOf, Nested, Object, from_form
from api.operations import Parameter
from api.request import ApiRequest
from api.shapes import Shape
from api.text_fields import Text
from host.storage.listing import Choice, Listing

MOST_ITEMS: Final = 10_000
"""So many records can be named at once; finding them takes time that other callers wait for."""

SHAPE: Final = Shape(
    "BulkDelete",
    items=ListOf(
        item=Json(), required=False, help_text=f"Primary keys of the records to delete; at most {MOST_ITEMS}."
    ),
    filters=Object(required=False, help_text="Members of the records and the values they must have."),
)
ALL: Final = Parameter(
    name="all",
    field=Boolean(
        required=False, help_text="With `true` and without items, everything that the caller sees is deleted."
    ),
    lenient=True,
)
FAULT_SCHEMA: Final = {
    "type": "object",
    "additionalProperties": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]},
}


def refuse(message: str) -> Refusal:
    """Refuse a bulk delete; its messages are a plain text, not a list."""
    return Refusal(400, body={"non_field_errors": message})


def read_choice(request: ApiRequest, listing: Listing, record: Shape, key: Field) -> Choice:
    """Return which records are meant.

    Raises:
        Refusal: 400 when nothing is named, or not rightly.

    """
    sent = request.sent
    items, filters = _plain(sent.get("items")), _plain(sent.get("filters"))
    if filters is not None and not isinstance(filters, dict):
        raise refuse("'filters' must be an object of members and values.")
    if items is not None and not isinstance(items, list):
        raise refuse("'items' must be a list of primary keys.")
    if items is not None and len(items) > MOST_ITEMS:
        raise refuse(f"'items' may name at most {MOST_ITEMS} records; choose more of them with 'filters'.")
    if not items and not filters:
        if request.query.get("all", "").lower() == "true":
            return Choice(user=request.user)
        raise refuse("Name the records to delete in 'items' or 'filters'.")
    keys = None if items is None else _keys(items, key)
    if keys == []:
        raise refuse("'items' names no record.")
    return Choice(user=request.user, keys=keys, equal=_equal(filters or {}, listing, record))


def _plain(value: Any) -> Any:
    try:
        return from_form(value)
    except FieldError:
        return value


def _keys(items: list[Any], key: Field) -> list[Any]:
    keys: dict[Any, None] = {}
    for item in items:
        try:
            keys[key.parse(item)] = None
        except FieldError:
            raise refuse(f"'{str(item)[:100]}' in 'items' can be no primary key.") from None
    return list(keys)


def _equal(filters: Mapping[str, Any], listing: Listing, record: Shape) -> dict[str, Any]:
    equal: dict[str, Any] = {}
    for name, value in filters.items():
        try:
            equal[name] = filter_field(name, listing, record).parse(value)
        except FieldError as error:
            raise refuse(f"'filters' cannot be used: {name}: {error}") from None
    return equal


def filter_field(name: str, listing: Listing, record: Shape) -> Field:
    """Return the field that reads a value of ``filters``.

    Raises:
        FieldError: the record has no such member, or one that cannot be compared.

    """
    known = listing.filters.get(name)
    if known is not None:
        return _BY_KIND[known.kind]
    field = record.fields.get(name)
    comparable = field is not None and not field.write_only and not isinstance(field, Json | Object | Nested | ListOf)
    if field is None or not comparable or name not in listing.members:
        raise FieldError("the records cannot be chosen by this member.")
    return _comparing(field)


def _comparing(field: Field) -> Field:
    # What is stored may break rules that hold for input, as the class in an error's message that looks like a tag.
    if not isinstance(field, Text):
        return field
    if field.encode is None:
        return Text(raw=True, blank=True, null=field.null)
    return replace(field, raw=True, blank=True)


_BY_KIND: Final[Mapping[str, Field]] = {
    "boolean": Boolean(),
    "number": Integer(),
    "reference": Integer(),
    "choice": Json(),
    "text": Text(raw=True, blank=True),
}
