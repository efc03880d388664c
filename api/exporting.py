"""Exporting lists: any list of the interface answers ``export=true`` with a data output that is made of its rows."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from starlette.responses import Response

from api.answers import Json
from api.authentication import may
from api.choice_field import Choice
from api.fields import MISSING, Boolean, Field, FieldError, Float, Integer, read_boolean
from api.lists import Encoder, Members, read_query
from api.nested_fields import Nested
from api.operations import Operation, Parameter, read_parameters
from api.output_record import DATA_OUTPUT
from api.request import ApiRequest
from api.shapes import InvalidBodyError, Shape
from api.text_fields import Text
from host.contract.exports import ExportColumn, ExportOption
from host.contract.values import User
from host.errors import InvalidInputError, NotAllowedError, NotSignedInError
from host.exporting.exports import Exports
from host.exporting.sources import Reading, Source
from host.records.data_outputs import DATA_OUTPUTS
from host.storage.listing import Listing, Query

if TYPE_CHECKING:
    from api.context import Context
    from api.operations import Described
    from api.resources import Resource

_EXPORT: Final = "export"
_FORMAT: Final = "export_format"
_PLUGIN: Final = "export_plugin"
_OPTION_LENGTH: Final = 2000

PARAMETERS: Final = (
    Parameter(
        name=_EXPORT,
        field=Boolean(required=False, help_text="Makes a file of all rows; the answer is a data output."),
        lenient=True,
    ),
    Parameter(name=_FORMAT, field=Text(required=False, help_text="Format of the file."), lenient=True),
    Parameter(name=_PLUGIN, field=Text(required=False, help_text="Key of the plugin to export with."), lenient=True),
)
_ENCODER: Final = Encoder(DATA_OUTPUTS, DATA_OUTPUT)


class ListExport:
    """Exports one list; what it needs it takes from the declaration of the record.

    Args:
        resource: the record.

    """

    def __init__(self, resource: Resource) -> None:
        self._resource = resource

    @property
    def name(self) -> str:
        """The list, as plugins and tasks know it."""
        return self._resource.many.lower().replace(" ", "-")

    @property
    def label(self) -> str:
        """The list, as people call it."""
        return self._resource.many

    def is_wanted(self, request: ApiRequest) -> bool:
        """Tell whether a request wants a file instead of the list."""
        return request.method != "HEAD" and bool(read_boolean(request.query.get(_EXPORT, "")))

    def describe(self, request: ApiRequest) -> dict[str, Any]:
        """Return what OPTIONS shows of an export: formats, plugins, and the options of the plugin that is named."""
        exports = request.host.records.exports
        formats, exporters = exports.formats(), exports.exporters(self.name)
        by_key = {one.key: one for one in exporters}
        chosen = by_key.get(request.query.get(_PLUGIN, "")) or next(iter(exporters), None)
        fields: dict[str, Field] = {
            _FORMAT: Choice(
                choices=[(one.name, one.label) for one in formats],
                default=formats[0].name if formats else MISSING,
                help_text="Format of the file.",
            ),
            _PLUGIN: Choice(
                choices=[(one.key, one.title) for one in exporters],
                default=MISSING if chosen is None else chosen.key,
                help_text="Plugin to export with.",
            ),
            **_fields(() if chosen is None else chosen.options),
        }
        return Shape("Export", **fields).info()

    def begin(self, request: ApiRequest) -> Response:
        """Answer with a data output, which a task fills."""
        if request.user is None:
            raise NotSignedInError("Sign in to export: the file is made for an account.")
        exports: Exports = request.host.records.exports
        chosen = exports.choose(self.name, request.query.get(_FORMAT), request.query.get(_PLUGIN))
        options = Shape("ExportOptions", **_fields(chosen.exporter.options)).read(request.query, form=True)
        total = self._count(request, *self._query(request))  # refuses wrong filters and searches at once
        text: bytes = request.scope["query_string"]
        key = exports.begin(self.name, chosen, options, text.decode("latin-1"), total=total, by=request.user)
        row = request.context.rows.one(DATA_OUTPUTS, "pk", key, Query(user=request.user))
        return Json(_ENCODER([row])[0])

    def may_read(self, user: User) -> bool:
        """Tell whether an account may see the list at all."""
        return may(user, self._resource.read)

    def open(self, context: Context, user: User, query: str) -> Reading:
        """Begin to read the list as an account would get it; see :class:`host.exporting.sources.Source`."""
        if not self.may_read(user):
            raise NotAllowedError(f"You may not see the {self.label} any more.")
        request = ApiRequest(
            {
                "type": "http",
                "method": "GET",
                "path": self._resource.path,
                "query_string": query.encode("latin-1"),
                "headers": [],
            },
            context,
        )
        request.user = user
        try:
            request.parameters = read_parameters(request.query, self._resource.list_parameters)
            listing, wanted = self._query(request)
        except FieldError as error:
            raise _as_input_error(error) from None
        fields = self._resource.shape.fields
        return Reading(
            columns=list(_columns(self._resource.shape)),
            optional=[name for name, field in fields.items() if not field.always],
            total=self._count(request, listing, wanted),
            batches=self._batches(request, listing, wanted),
        )

    def _query(self, request: ApiRequest) -> tuple[Listing, Query]:
        listing = self._resource.listing_for(request)
        query = read_query(request, listing, request.context.rows)
        return listing, replace(query, limit=None, offset=0)

    def _count(self, request: ApiRequest, listing: Listing, query: Query) -> int:
        return request.context.rows.page(listing, replace(query, limit=1))[1]

    def _batches(self, request: ApiRequest, listing: Listing, query: Query) -> Generator[Members]:
        encoder, finish = self._resource.encoder, self._resource.finish
        with closing(request.context.rows.batches(listing, query)) as batches:
            for batch in batches:
                members = encoder(batch)
                if finish is not None:
                    finish(request, members)
                yield members


@dataclass(frozen=True, slots=True)
class _Source:
    """A list, with all that is needed to read it without a request."""

    export: ListExport
    context: Context

    @property
    def name(self) -> str:
        return self.export.name

    @property
    def label(self) -> str:
        return self.export.label

    def may_read(self, user: User) -> bool:
        return self.export.may_read(user)

    def open(self, user: User, query: str) -> Reading:
        return self.export.open(self.context, user, query)


def sources(context: Context, endpoints: Sequence[Described]) -> Mapping[str, Source]:
    """Return every list that can be exported, by name."""
    operations: Iterator[Operation] = (one for endpoint in endpoints for one in endpoint.operations.values())
    return {one.export.name: _Source(one.export, context) for one in operations if one.export is not None}


def _fields(options: Sequence[ExportOption]) -> dict[str, Field]:
    return {option.name: _field(option) for option in options}


def _field(option: ExportOption) -> Field:
    about: dict[str, Any] = {
        "label": option.label,
        "help_text": option.help_text,
        "required": option.required,
        "default": MISSING if option.default is None else option.default,
    }
    match option.type:
        case "boolean":
            return Boolean(**about)
        case "integer":
            return Integer(**about)
        case "float":
            return Float(**about)
        case "choice":
            return Choice(choices=list(option.choices), **about)
        case "string":
            return Text(blank=not option.required, max_length=_OPTION_LENGTH, **about)


def _columns(shape: Shape, name: str = "", label: str = "") -> Iterator[ExportColumn]:
    for member, field in shape.fields.items():
        if field.write_only:
            continue
        path = f"{name}{member}"
        text = field.label or member.replace("_", " ").capitalize()
        shown = f"{label} {text[:1].lower()}{text[1:]}" if label else text
        if isinstance(field, Nested):
            yield from _columns(field.shape, f"{path}.", shown)
        else:
            yield ExportColumn(name=path, label=shown, type=field.kind)


def _as_input_error(error: FieldError) -> InvalidInputError:
    faults = error.faults if isinstance(error, InvalidBodyError) else {"non_field_errors": [str(error)]}
    return InvalidInputError({name: [str(one) for one in texts] for name, texts in faults.items()})
