"""Attachments: files and links of records."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final
from urllib.parse import urlsplit

from starlette.datastructures import UploadFile
from starlette.responses import Response

from api.endpoint import Endpoint
from api.fields import Boolean, FieldError, Integer
from api.lists import Members
from api.metadata import Carrier
from api.nested_fields import File, ListOf, Nested, Reference
from api.operations import Operation
from api.output_record import MediaPath, media_address
from api.request import ApiRequest
from api.resources import Resource
from api.shapes import Shape
from api.text_fields import Text, Url
from api.time_fields import Date
from api.user_detail import USER_DETAIL
from host.records.attachments.listing import ATTACHMENT_LIST
from host.records.attachments.table import (
    COMMENT_LENGTH,
    LARGEST_MODEL_ID,
    LINK_LENGTH,
    MODEL_TYPE_LENGTH,
    MOST_TAGS,
    TAG_LENGTH,
)
from host.records.attachments.uploads import Upload
from host.storage.listing import Choice

_PATH: Final = "/api/attachment/"
_MODEL_TYPE: Final = "model_type"
_SCHEMES: Final = frozenset({"http", "https", "ftp"})


@dataclass(frozen=True, kw_only=True)
class AttachedFile(File):
    """The file of an attachment; any name will do, it is made a safe one."""

    @property
    def encode(self) -> Callable[[Any], Any] | None:
        """Show where the file can be read."""
        return media_address

    def clean(self, value: Any, *, form: bool) -> UploadFile:
        """Accept an uploaded file."""
        if isinstance(value, UploadFile):
            return value
        if isinstance(value, list):
            raise FieldError("Send one file; attach others with requests of their own.")
        return super().clean(value, form=form)


@dataclass(frozen=True, kw_only=True)
class Link(Url):
    """An address that an attachment leads to."""

    def clean(self, value: Any, *, form: bool) -> str:
        """Accept an address of the web or of an FTP server."""
        text = super().clean(value, form=form)
        if text and urlsplit(text).scheme.lower() not in _SCHEMES:
            raise FieldError("Enter a valid URL.")
        return text


@dataclass(frozen=True, kw_only=True)
class ModelTypeName(Text):
    """Name of a model type; which there are depends on the plugins."""

    kind: ClassVar[str] = "choice"


ATTACHMENT: Final = Shape(
    "Attachment",
    pk=Integer(read_only=True, label="ID"),
    attachment=AttachedFile(
        required=False, null=True, help_text="A file; it is answered as its path below this server's address."
    ),
    thumbnail=MediaPath(read_only=True, null=True, help_text="Path of a small picture, once there is one."),
    filename=Text(required=False, null=True, blank=True, help_text="Another name for the file that is there."),
    link=Link(required=False, null=True, blank=True, max_length=LINK_LENGTH, help_text="An address."),
    comment=Text(required=False, blank=True, max_length=COMMENT_LENGTH, help_text="What it is."),
    is_image=Boolean(read_only=True, help_text="Whether the file was found to be an image."),
    upload_date=Date(read_only=True),
    upload_user=Reference(model="user", api_url="/api/user/", read_only=True, null=True),
    user_detail=Nested(shape=USER_DETAIL, read_only=True, null=True),
    file_size=Integer(read_only=True, minimum=0, help_text="Bytes of the file."),
    model_type=ModelTypeName(max_length=MODEL_TYPE_LENGTH, help_text="What kind of record it is attached to."),
    model_id=Integer(minimum=0, maximum=LARGEST_MODEL_ID, help_text="Id of that record."),
    tags=ListOf(
        item=Text(max_length=TAG_LENGTH), required=False, max_items=MOST_TAGS, help_text="Words to find it by."
    ),
)


class AttachmentEndpoint(Endpoint):
    """An endpoint whose description names the model types that there are at present."""

    def describe(self, request: ApiRequest) -> dict[str, Any]:
        """Return what OPTIONS answers to this caller."""
        described = super().describe(request)
        owners = request.host.records.attachments.owners
        if not owners.may_anything(request.caller, "delete"):
            # Which record it is decides; whoever may delete none at all is not offered to.
            described["actions"].pop("DELETE", None)
        choices = owners.choices()
        for members in described["actions"].values():
            if _MODEL_TYPE in members:
                members[_MODEL_TYPE]["choices"] = [{"value": name, "display_name": label} for name, label in choices]
        return described


def _values(request: ApiRequest) -> dict[str, Any]:
    values = dict(request.data)
    file = values.get("attachment")
    if isinstance(file, UploadFile):
        if file.filename:
            values["attachment"] = Upload(file.filename, file.file)
        else:  # how browsers send a form in which no file was chosen
            del values["attachment"]
    return values


def _add_authors(request: ApiRequest, found: Members) -> None:
    # A list that is sent piece by piece asks for each account once.
    known: dict[int, Any] = request.scope.setdefault("plugyard.attachment.authors", {})
    missing = {record["upload_user"] for record in found} - known.keys() - {None}
    if missing:
        known |= request.host.records.attachments.authors(missing)
    for record in found:
        record["user_detail"] = known.get(record["upload_user"])


def create_attachment(request: ApiRequest) -> Response:
    """Attach a file, a link or both to a record. A file comes as a part of a multipart form."""
    key = request.host.records.attachments.create(_values(request), by=request.caller)
    return RESOURCE.answer_one(request, key, 201)


def change_attachment(request: ApiRequest) -> Response:
    """Change an attachment: all that was sent, or nothing of it. A new file replaces the old one."""
    key = RESOURCE.key_of(request)
    request.host.records.attachments.change(key, _values(request), by=request.caller)
    return RESOURCE.answer_one(request, key)


def delete_attachment(request: ApiRequest, key: int) -> None:
    """Delete an attachment with its file."""
    request.host.records.attachments.delete(key, by=request.caller)


def delete_attachments(request: ApiRequest, choice: Choice) -> int:
    """Delete attachments with their files."""
    return request.host.records.attachments.delete_many(choice, by=request.caller)


def _may_attach(request: ApiRequest) -> bool:
    # Whoever can attach nothing to anything need not send a file first to be told so.
    return request.host.records.attachments.owners.may_anything(request.caller)


_WRITES: Final[dict[str, Any]] = {
    "access": "user",
    "right": _may_attach,
    "body": ATTACHMENT,
    # Whether the record exists is for its plugin to say.
    "calls_plugins": True,
}
_REFUSED: Final = {400: "Members of the body are refused.", 409: "Somebody else changes it at the same moment."}
_CHANGES: Final[dict[str, Any]] = {
    **_WRITES,
    "handler": change_attachment,
    "answers": {200: ATTACHMENT},
    "faults": {404: "There is no such record.", **_REFUSED},
}

RESOURCE: Final = Resource(
    path=_PATH,
    name="attachment",
    tag="Attachments",
    listing=ATTACHMENT_LIST,
    shape=ATTACHMENT,
    read="user",
    write="user",
    delete=delete_attachment,
    bulk_delete=delete_attachments,
    finish=_add_authors,
    list_operations={
        "POST": Operation(
            id="attachment_create",
            summary="Create an attachment",
            handler=create_attachment,
            answers={201: ATTACHMENT},
            faults=_REFUSED,
            **_WRITES,
        )
    },
    detail_operations={
        "PATCH": Operation(id="attachment_partial_update", summary="Change an attachment", partial=True, **_CHANGES),
        "PUT": Operation(id="attachment_update", summary="Replace an attachment", **_CHANGES),
    },
)


def _read_metadata(request: ApiRequest, pk: int) -> Mapping[str, Any]:
    return request.host.records.attachments.metadata(pk)


def _write_metadata(request: ApiRequest, pk: int, data: Mapping[str, Any], merge: bool) -> Mapping[str, Any]:  # noqa: FBT001
    return request.host.records.attachments.set_metadata(pk, data, merge=merge)


CARRIER: Final = Carrier(
    model="attachment",
    access="user",
    lookups={"pk": ("int", _read_metadata, _write_metadata)},
    aliases=((f"{_PATH}{{value:int}}/metadata/", "pk"),),
)

ENDPOINTS: Final[tuple[Endpoint, ...]] = (
    *(
        AttachmentEndpoint(one.path, name=one.name, tag=one.tag, description=one.description, operations=one.operations)
        for one in RESOURCE.endpoints
    ),
    *CARRIER.endpoints(),
)
