"""Import sessions: begin one with a file, choose how it is imported, accept its columns and its rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final
from urllib.parse import quote

from starlette.datastructures import UploadFile
from starlette.responses import Response

from api.answers import Json as JsonAnswer
from api.choice_field import Choice as ChoiceField
from api.endpoint import Endpoint
from api.fields import Boolean, FieldError, Integer
from api.importer.column_mapping import COLUMN_MAPPING
from api.importer.models import TAG
from api.lists import Members
from api.nested_fields import File, Json, ListOf, Nested, Object, Reference, from_form
from api.operations import Operation
from api.request import ApiRequest
from api.resources import Resource
from api.shapes import InvalidBodyError, Shape
from api.text_fields import Text
from api.time_fields import DateTime
from api.user_detail import USER_DETAIL
from host.importing.files import DataFile
from host.importing.listings import SESSION_LIST
from host.importing.reading.files import FORMATS
from host.importing.tables import ImportStatus
from host.storage.listing import Choice

_MEDIA: Final = "/media/"
_MODEL_TYPE: Final = "model_type"
_LABELS: Final[Mapping[ImportStatus, str]] = {
    ImportStatus.INITIAL: "Initializing",
    ImportStatus.MAPPING: "Mapping Columns",
    ImportStatus.IMPORTING: "Importing Data",
    ImportStatus.PROCESSING: "Processing Data",
    ImportStatus.COMPLETE: "Complete",
}


@dataclass(frozen=True, kw_only=True)
class ImportFile(File):
    """The file of an import."""

    @property
    def encode(self) -> Callable[[Any], Any] | None:
        """Show where the file can be read."""
        return lambda path: f"{_MEDIA}{quote(path)}"

    def clean(self, value: Any, *, form: bool) -> UploadFile:
        """Accept one uploaded file."""
        if isinstance(value, list):
            raise FieldError("Send one file; import others with sessions of their own.")
        return super().clean(value, form=form)


@dataclass(frozen=True, kw_only=True)
class Options(Object):
    """An object whose members are fields; its JSON text will do as well."""

    def clean(self, value: Any, *, form: bool) -> dict[str, Any]:
        """Accept an object, or the text of one."""
        if isinstance(value, str):
            value = from_form(value)
        return super().clean(value, form=form)


@dataclass(frozen=True, kw_only=True)
class _ModelType(Text):
    # Which there are only the host knows that is asked; `_Sessions` tells it to OPTIONS, the service checks it.
    kind: ClassVar[str] = "choice"


@dataclass(frozen=True, kw_only=True)
class RowIds(ListOf):
    """A list of ids, for which one message is enough."""

    def clean(self, value: Any, *, form: bool) -> list[Any]:
        """Accept a list of ids."""
        try:
            return super().clean(value, form=form)
        except FieldError as error:
            if isinstance(error.faults, Mapping):
                raise FieldError("Every row must be named by its id, a whole number.") from None
            raise


def _count(text: str) -> Integer:
    return Integer(read_only=True, minimum=0, help_text=text)


def _options(text: str) -> Options:
    return Options(required=False, null=True, help_text=text)


SESSION: Final = Shape(
    "DataImportSession",
    pk=Integer(read_only=True, label="ID"),
    timestamp=DateTime(read_only=True),
    data_file=ImportFile(
        max_length=255, help_text=f"The file, as a part of a multipart form; one of {', '.join(FORMATS)}."
    ),
    update_records=Boolean(default=False, help_text="Rows change records that exist, and make none."),
    model_type=_ModelType(max_length=100, help_text="What the rows become: one of GET /api/importer/models/."),
    available_fields=Object(read_only=True, help_text="Name of a field and what it takes, as OPTIONS says it."),
    status=ChoiceField(read_only=True, choices=[(int(one), label) for one, label in _LABELS.items()]),
    user=Reference(model="user", api_url="/api/user/", read_only=True, null=True, help_text="Who imports."),
    user_detail=Nested(shape=USER_DETAIL, read_only=True, null=True),
    columns=Json(read_only=True, null=True, help_text="Names of the file's columns."),
    column_mappings=ListOf(item=Nested(shape=COLUMN_MAPPING), read_only=True),
    field_defaults=_options("Field and the value that an empty cell means."),
    field_overrides=_options("Field and the value that it has in every row, whatever the file says."),
    field_filters=_options("Field that refers to other records, and what these are filtered by."),
    row_count=_count("Rows that were read."),
    completed_row_count=_count("Rows that have become records."),
    row_count_history=_count("Once complete: rows that there were."),
    completed_row_count_history=_count("Once complete: rows that became records."),
    error=Text(read_only=True, blank=True, help_text="Why the last work in the background came to nothing."),
)
ACCEPTED: Final = Shape(
    "DataImportAcceptRow",
    rows=RowIds(
        item=Integer(minimum=0), required=False, empty=False, help_text="Ids of the rows; required but with `all`."
    ),
    all=Boolean(required=False, help_text="Accept all valid rows, in the background; instead of `rows`."),
    task=Text(read_only=True, always=False, help_text="With `all`: id of the background task."),
)


class _Sessions(Endpoint):
    """An endpoint of sessions, which tells in OPTIONS what can be imported at present."""

    def describe(self, request: ApiRequest) -> dict[str, Any]:
        """Return what OPTIONS answers to this caller."""
        described = super().describe(request)
        choices = request.host.records.importing.targets.choices()
        for members in described["actions"].values():
            if _MODEL_TYPE in members:
                members[_MODEL_TYPE]["choices"] = [{"value": name, "display_name": label} for name, label in choices]
        return described


def _values(request: ApiRequest) -> dict[str, Any]:
    values = dict(request.data)
    file = values.get("data_file")
    if isinstance(file, UploadFile):
        values["data_file"] = DataFile(file.filename or "", file.file)
    return values


def create_session(request: ApiRequest) -> int:
    """Begin an import with a file. Its columns are read at once, and mapped to fields as their names suggest."""
    return request.host.records.importing.sessions.create(_values(request), by=request.caller)


def change_session(request: ApiRequest, key: int) -> None:
    """Change how a file is imported. With another file or model type the import begins anew."""
    request.host.records.importing.sessions.change(key, _values(request), by=request.caller)


def delete_session(request: ApiRequest, key: int) -> None:
    """Delete an import with its file and its rows; records that were made of rows stay."""
    request.host.records.importing.sessions.delete(key, by=request.caller)


def delete_sessions(request: ApiRequest, choice: Choice) -> int:
    """Delete imports with their files and rows; records that were made of rows stay."""
    return request.host.records.importing.sessions.delete_many(choice, by=request.caller)


def accept_fields(request: ApiRequest) -> Response:
    """Accept the mapping of the columns. The rows are read in the background; until then the status is 20."""
    key = request.path_params["id"]
    request.host.records.importing.columns.accept(key, by=request.caller)
    return RESOURCE.answer_one(request, key)


def accept_rows(request: ApiRequest) -> Response:
    """Make records of rows, in the order given: all or none. With `all` the valid ones follow in the background."""
    key, accepting = request.path_params["id"], request.host.records.importing.accepting
    if request.data.get("all"):
        task = accepting.begin_all(key, by=request.caller)
        return JsonAnswer({"rows": [], "all": True, "task": task}, 201)
    if "rows" not in request.data:
        raise InvalidBodyError(faults={"rows": ["This field is required."]})
    return JsonAnswer({"rows": accepting.rows(key, request.data["rows"], by=request.caller)}, 201)


def _add_mappings(request: ApiRequest, members: Members) -> None:
    request.host.records.importing.sessions.add_mappings(members)


RESOURCE: Final = Resource(
    path="/api/importer/session/",
    name="import session",
    tag=TAG,
    listing=SESSION_LIST,
    shape=SESSION,
    read="user",
    write="user",
    create=create_session,
    update=change_session,
    delete=delete_session,
    bulk_delete=delete_sessions,
    finish=_add_mappings,
)
_MISSING: Final = {403: "The session is somebody else's, or the caller may not import such records."}

ENDPOINTS: Final[tuple[Endpoint, ...]] = (
    *(
        _Sessions(one.path, name=one.name, tag=one.tag, operations=one.operations, description=one.description)
        for one in RESOURCE.endpoints
    ),
    Endpoint(
        f"{RESOURCE.path}{{id:int}}/accept_fields/",
        name="Accept fields",
        tag=TAG,
        operations={
            "POST": Operation(
                id="import_session_accept_fields",
                summary="Accept the mapping of columns",
                access="user",
                handler=accept_fields,
                answers={200: SESSION},
                faults={
                    **_MISSING,
                    400: "`fields` names required fields that nothing fills.",
                    404: "There is no such session.",
                },
            )
        },
    ),
    Endpoint(
        f"{RESOURCE.path}{{id:int}}/accept_rows/",
        name="Accept rows",
        tag=TAG,
        operations={
            "POST": Operation(
                id="import_session_accept_rows",
                summary="Accept rows",
                access="user",
                handler=accept_rows,
                body=ACCEPTED,
                answers={201: ACCEPTED},
                faults={**_MISSING, 400: "`rows` says why none of them is imported."},
                calls_plugins=True,
            )
        },
    ),
)
