"""A small record to try the framework with."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Boolean as BooleanColumn
from sqlalchemy import Column, ForeignKey, MetaData, String, Table, insert, update
from sqlalchemy import Integer as IntegerColumn
from starlette.responses import Response

from api.answers import Json
from api.choice_field import Choice
from api.endpoint import Endpoint
from api.fields import Boolean, Float, Integer
from api.nested_fields import File, ListOf, Nested, Object, Reference
from api.nested_fields import Json as JsonField
from api.operations import Operation, Parameter
from api.request import ApiRequest
from api.resources import Resource
from api.shapes import Shape
from api.text_fields import Email, LongText, Text, Url
from api.time_fields import Date, DateTime
from host.errors import BusyError
from host.storage.engine import Database
from host.storage.listing import Listing, by_boolean, by_choice, by_number, by_reference, by_text
from host.storage.tables import UtcDateTime

METADATA = MetaData()
OWNERS = Table(
    "owner",
    METADATA,
    Column("id", IntegerColumn, primary_key=True),
    Column("username", String(50)),
)
SHELVES = Table(
    "shelf",
    METADATA,
    Column("id", IntegerColumn, primary_key=True),
    Column("name", String(50), nullable=False),
    Column("notes", String(500), nullable=False, default=""),
    Column("kind", String(10), nullable=False, default="wood"),
    Column("level", IntegerColumn, nullable=False, default=0),
    Column("full", BooleanColumn, nullable=False, default=False),
    Column("owner", ForeignKey("owner.id"), nullable=True),
    Column("built", UtcDateTime, nullable=False),
)
BUILT = datetime(2024, 5, 6, 7, 8, 9, tzinfo=UTC)

LISTING = Listing(
    table=SHELVES,
    key=SHELVES.c.id,
    source=SHELVES.outerjoin(OWNERS),
    members={
        "pk": SHELVES.c.id,
        "name": SHELVES.c.name,
        "notes": SHELVES.c.notes,
        "kind": SHELVES.c.kind,
        "level": SHELVES.c.level,
        "full": SHELVES.c.full,
        "owner": SHELVES.c.owner,
        "owner_detail.pk": OWNERS.c.id,
        "owner_detail.username": OWNERS.c.username,
        "built": SHELVES.c.built,
    },
    filters={
        "full": by_boolean(SHELVES.c.full),
        "level": by_number(SHELVES.c.level),
        "kind": by_choice(SHELVES.c.kind, ("wood", "steel")),
        "owner": by_reference(SHELVES.c.owner, OWNERS.c.id),
        "name": by_text(SHELVES.c.name),
    },
    ordering={"name": SHELVES.c.name, "level": SHELVES.c.level},
    default_order=("-level",),
    search=(SHELVES.c.name, SHELVES.c.kind),
    notes=SHELVES.c.notes,
    view=lambda user: None if user is not None and user.is_staff else SHELVES.c.name != "secret",
)

OWNER = Shape("Owner", pk=Integer(read_only=True), username=Text(read_only=True))
SHELF = Shape(
    "Shelf",
    pk=Integer(read_only=True, label="ID"),
    name=Text(max_length=50, help_text="What it is called"),
    notes=LongText(max_length=500, blank=True, default=""),
    kind=Choice(choices=[("wood", "Wood"), ("steel", "Steel")], default="wood"),
    level=Integer(minimum=0, default=0),
    full=Boolean(default=False),
    owner=Reference(model="owner", api_url="/api/owner/", null=True, required=False),
    owner_detail=Nested(shape=OWNER, read_only=True, null=True),
    built=DateTime(read_only=True),
)


def store(database: Database, values: Mapping[str, Any]) -> int:
    """Insert a shelf."""
    with database.write() as session:
        result = session.connection().execute(insert(SHELVES).values(built=BUILT, **values))
        return int(result.inserted_primary_key[0])  # type: ignore[index]


def change(database: Database, key: int, values: Mapping[str, Any]) -> None:
    """Change a shelf."""
    if values:
        with database.write() as session:
            session.connection().execute(update(SHELVES).where(SHELVES.c.id == key).values(**values))


def delete(database: Database, key: int) -> None:
    """Delete a shelf."""
    with database.write() as session:
        session.connection().execute(SHELVES.delete().where(SHELVES.c.id == key))


def shelves(database: Database) -> Resource:
    """Declare the resource."""
    return Resource(
        path="/api/shelf/",
        name="shelf",
        plural="shelves",
        tag="Demo",
        listing=LISTING,
        shape=SHELF,
        read="user",
        write="staff",
        remove="superuser",
        create=lambda request: store(database, request.data),
        update=lambda request, key: change(database, key, request.data),
        delete=lambda _request, key: delete(database, key),
        bulk_delete=True,
    )


EVERY_FIELD = Shape(
    "Every",
    text=Text(required=False, max_length=10),
    blank=Text(required=False, blank=True),
    long=LongText(required=False),
    whole=Integer(required=False, minimum=-5, maximum=500),
    big=Integer(required=False, null=True),
    number=Float(required=False, maximum=10),
    flag=Boolean(required=False),
    choice=Choice(choices=[(1, "One"), (2, "Two")], required=False),
    day=Date(required=False),
    moment=DateTime(required=False),
    anything=JsonField(required=False, null=True),
    object=Object(required=False),
    url=Url(required=False),
    email=Email(required=False),
    numbers=ListOf(item=Integer(), required=False),
    owners=ListOf(item=Nested(shape=Shape("NewOwner", name=Text())), required=False),
    fixed=Text(read_only=True),
    file=File(required=False, endings=(".txt",)),
)


def echo(request: ApiRequest) -> Response:
    """Answer with the cleaned body."""
    data = dict(request.data)
    if "file" in data:
        data["file"] = [data["file"].filename, data["file"].file.read().decode()]
    return Json(data)


def fail(_request: ApiRequest) -> Response:
    """Fail in a way that nobody foresaw."""
    msg = "the secret is 1234"
    raise ZeroDivisionError(msg)


def busy(_request: ApiRequest) -> Response:
    """Be busy."""
    raise BusyError("Another one is at it. Try again later.")


def said(request: ApiRequest) -> Response:
    """Say who is calling, and the parameters."""
    user = request.user
    return Json({"user": None if user is None else user.username, "scheme": request.scheme, **request.parameters})


OPEN = Endpoint(
    "/api/open/",
    name="Open",
    tag="Demo",
    operations={
        "GET": Operation(
            summary="Say who is calling",
            access="anyone",
            handler=said,
            parameters=(Parameter(name="size", field=Integer(required=False)),),
        )
    },
)
WRITES = {
    "/api/echo/": Operation(summary="Echo", access="user", handler=echo, body=EVERY_FIELD),
    "/api/echo/open/": Operation(summary="Echo", access="anyone", handler=echo, body=EVERY_FIELD),
    "/api/fail/": Operation(summary="Fail", access="anyone", handler=fail),
    "/api/busy/": Operation(summary="Be busy", access="anyone", handler=busy),
    "/api/staff/": Operation(summary="For staff", access="staff", handler=said),
    "/api/super/": Operation(summary="For superusers", access="superuser", handler=said),
}
ENDPOINTS = [
    OPEN,
    *(Endpoint(path, name="Demo", tag="Demo", operations={"POST": operation}) for path, operation in WRITES.items()),
]
