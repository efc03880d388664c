"""Resources: a record declares once what it is, and gets its list, details, changes and descriptions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

from starlette.responses import Response

from api import bulk, pages, search
from api.answers import Empty, Json
from api.endpoint import Endpoint
from api.exporting import PARAMETERS as EXPORT_PARAMETERS
from api.exporting import ListExport
from api.fields import Field, Integer
from api.filters import parameters as filter_parameters
from api.lists import Encoder, Finish, answer_list
from api.operations import Handler, Operation, PageOf, Parameter
from api.output_record import DATA_OUTPUT
from api.request import ApiRequest
from api.shapes import Shape
from api.text_fields import Text
from host.contract.values import Access
from host.storage.listing import Choice, Listing, Query

_MISSING: Final = {404: "There is no such record, or the caller may not see it."}
_WRONG_QUERY: Final = {400: "A filter or the search has a bad value."}
_NOT_CHOSEN: Final = {400: "Nothing that exists was named, or not rightly; nothing is deleted."}

Create = Callable[[ApiRequest], Any]
Change = Callable[[ApiRequest, Any], Any]


@dataclass(frozen=True, kw_only=True, eq=False)
class Resource:
    """A record with a list at ``path`` and details below it.

    The services get the request, with the cleaned body in ``request.data``: ``create`` returns the key of the new
    record, ``update`` and ``delete`` get the key of an existing one. What has no service is answered with 405.
    Every service is one transaction and raises errors of :mod:`host.errors`.
    """

    path: str
    name: str
    """Of one record, in plain words: ``news entry``. Operation ids and texts are made of it."""
    tag: str
    listing: Listing
    shape: Shape
    read: Access
    write: Access = "superuser"
    """Right to create and update."""
    remove: Access | None = None
    """Right to delete; as ``write`` where it is not said."""
    plural: str = ""
    description: str = ""
    key: str = "pk"
    """Member that stands in the path of a detail."""
    key_name: str = ""
    """Name of the path's parameter; ``id`` for the primary key, else as ``key``, where it is not said."""
    key_kind: str = "int"
    """``int``, ``str`` or ``uuid``."""
    bulk_key: Field = field(default_factory=lambda: Integer(minimum=0))
    """Reads the keys that a bulk delete names."""
    details: bool = True
    puts: bool = True
    """Whether PUT is offered beside PATCH."""
    create: Create | None = None
    update: Change | None = None
    delete: Change | None = None
    create_shape: Shape | None = None
    update_shape: Shape | None = None
    bulk_delete: bool | Callable[[ApiRequest, Choice], int] = False
    """True deletes rows as such; a service does it otherwise and returns how many it deleted."""
    finish: Finish | None = None
    """Adds to the objects of an answer what no column holds."""
    choose: Callable[[ApiRequest], Listing] | None = None
    """Gives another listing of the same members to some requests for the list."""
    parameters: Sequence[Parameter] = ()
    """Further query parameters of the list."""
    detail_parameters: Sequence[Parameter] = ()
    """Query parameters of one record."""
    list_operations: Mapping[str, Operation] = field(default_factory=dict)
    detail_operations: Mapping[str, Operation] = field(default_factory=dict)

    @cached_property
    def endpoints(self) -> Sequence[Endpoint]:
        """The endpoints of the record."""
        about = {"tag": self.tag, "description": self.description}
        plural = self.many[:1].upper() + self.many[1:]
        found = [Endpoint(self.path, name=f"{plural}", operations=self._on_list(), **about)]
        operations = self._on_details()
        if operations:
            path = f"{self.path}{{{self.path_parameter}}}/"
            found.append(Endpoint(path, name=self.name[:1].upper() + self.name[1:], operations=operations, **about))
        return found

    @property
    def path_parameter(self) -> str:
        """The parameter of the detail's path, as ``id:int``."""
        name = self.key_name or ("id" if self.key == "pk" else self.key)
        return f"{name}:{self.key_kind}"

    def key_of(self, request: ApiRequest) -> Any:
        """Return the key in the path of a detail."""
        return request.path_params[self.path_parameter.partition(":")[0]]

    def answer_one(self, request: ApiRequest, key: Any, status: int = 200) -> Response:
        """Answer one record.

        Raises:
            NotFoundError: there is none with this key that the caller may see.

        """
        return Json(self.read_one(request, key), status)

    def read_one(self, request: ApiRequest, key: Any) -> dict[str, Any]:
        """Return one record as it is answered.

        Raises:
            NotFoundError: there is none with this key that the caller may see.

        """
        row = request.context.rows.one(self.listing, self.key, key, Query(user=request.user))
        found = self.encoder([row])
        if self.finish is not None:
            self.finish(request, found)
        return found[0]

    @cached_property
    def encoder(self) -> Encoder:
        """Makes answers of rows."""
        return Encoder(self.listing, self.shape)

    @cached_property
    def export(self) -> ListExport:
        """Writes the list to a file."""
        return ListExport(self)

    @property
    def one(self) -> str:
        """One record, with its article."""
        # Names that begin with u are spoken as in user.
        return f"an {self.name}" if self.name[0].lower() in "aeio" else f"a {self.name}"

    @property
    def many(self) -> str:
        """What the records are called."""
        return self.plural or f"{self.name}s"

    def listing_for(self, request: ApiRequest) -> Listing:
        """Return the listing that a request for the list gets."""
        return self.listing if self.choose is None else self.choose(request)

    def _id(self, verb: str) -> str:
        return f"{self.name.replace(' ', '_').replace('-', '_')}_{verb}"

    def _on_list(self) -> dict[str, Operation]:
        operations = {
            "GET": Operation(
                id=self._id("list"),
                summary=f"List {self.many}",
                access=self.read,
                handler=self._list,
                answers={200: PageOf(self.shape, DATA_OUTPUT)},
                faults=_WRONG_QUERY,
                parameters=self.list_parameters,
                writes=self.shape,
                export=self.export,
            )
        }
        if self.create is not None:
            body = self.create_shape or self.shape
            operations["POST"] = Operation(
                id=self._id("create"),
                summary=f"Create {self.one}",
                access=self.write,
                handler=self._creating(self.create),
                body=body,
                answers={201: self.shape},
                faults={400: "Members of the body are refused."},
            )
        if self.bulk_delete:
            operations["DELETE"] = Operation(
                id=self._id("bulk_delete"),
                summary=f"Delete several {self.many}",
                access=self._removing,
                handler=self._delete_many,
                answers={204: None},
                faults=_NOT_CHOSEN,
                fault_shapes={400: bulk.FAULT_SCHEMA},
                parameters=(bulk.ALL,),
                takes=bulk.SHAPE,
            )
        return operations | dict(self.list_operations)

    def _on_details(self) -> dict[str, Operation]:
        operations: dict[str, Operation] = {}
        if self.details:
            operations["GET"] = Operation(
                id=self._id("retrieve"),
                summary=f"Show {self.one}",
                access=self.read,
                handler=self._retrieve,
                answers={200: self.shape},
                faults=_MISSING,
                parameters=self.detail_parameters,
                writes=self.shape,
            )
        if self.update is not None:
            operations["PATCH"] = self._changing(self.update, partial=True)
            if self.puts:
                operations["PUT"] = self._changing(self.update, partial=False)
        if self.delete is not None:
            operations["DELETE"] = Operation(
                id=self._id("destroy"),
                summary=f"Delete {self.one}",
                access=self._removing,
                handler=self._deleting(self.delete),
                answers={204: None},
                faults=_MISSING | {400: "The record cannot be deleted in its present state."},
            )
        return operations | dict(self.detail_operations)

    def _changing(self, update: Change, *, partial: bool) -> Operation:
        return Operation(
            id=self._id("partial_update" if partial else "update"),
            summary=f"Change {self.one}" if partial else f"Replace {self.one}",
            access=self.write,
            handler=self._updating(update),
            body=self.update_shape or self.shape,
            partial=partial,
            answers={200: self.shape},
            faults=_MISSING | {400: "Members of the body are refused."},
        )

    @property
    def _removing(self) -> Access:
        return self.write if self.remove is None else self.remove

    @cached_property
    def list_parameters(self) -> Sequence[Parameter]:
        """Every query parameter of the list."""
        found = [*pages.PARAMETERS, *EXPORT_PARAMETERS, *filter_parameters(self.listing.filters), *self.parameters]
        if self.listing.ordering:
            names = ", ".join(self.listing.ordering)
            text = f"Names to order by, separated by commas, each with an optional '-': {names}."
            found.append(Parameter(name="ordering", field=Text(required=False, blank=True, help_text=text)))
        if self.listing.search:
            found += search.PARAMETERS
            if self.listing.notes is not None:
                found.append(search.NOTES)
        return found

    def _list(self, request: ApiRequest) -> Response:
        if self.export.is_wanted(request):
            return self.export.begin(request)
        return answer_list(request, self.listing_for(request), self.encoder, self.finish)

    def _retrieve(self, request: ApiRequest) -> Response:
        return self.answer_one(request, self.key_of(request))

    def _creating(self, create: Create) -> Handler:
        return lambda request: self.answer_one(request, create(request), 201)

    def _updating(self, update: Change) -> Handler:
        def change(request: ApiRequest) -> Response:
            key = self.key_of(request)
            update(request, key)
            return self.answer_one(request, key)

        return change

    def _deleting(self, delete: Change) -> Handler:
        def remove(request: ApiRequest) -> Response:
            delete(request, self.key_of(request))
            return Empty()

        return remove

    def _delete_many(self, request: ApiRequest) -> Response:
        choice = bulk.read_choice(request, self.listing, self.shape, self.bulk_key)
        remove = self.bulk_delete
        deleted = remove(request, choice) if callable(remove) else request.context.rows.delete(self.listing, choice)
        if not deleted and (choice.keys is not None or choice.equal):
            raise bulk.refuse("No records match the given items and filters.")
        return Empty()
