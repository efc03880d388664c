"""Metadata: a JSON object hung on a record, invisible in the record itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from starlette.responses import Response

from api.answers import Json
from api.endpoint import Endpoint
from api.nested_fields import Object
from api.operations import Handler, Operation
from api.request import ApiRequest
from api.shapes import Shape
from host.contract.values import Access

TAG: Final = "Metadata"
METADATA: Final = Shape("Metadata", metadata=Object(help_text="Any object."))

Read = Callable[[ApiRequest, Any], Mapping[str, Any]]
Write = Callable[[ApiRequest, Any, Mapping[str, Any], bool], Mapping[str, Any]]


@dataclass(frozen=True, kw_only=True, eq=False)
class Carrier:
    """A record that carries metadata.

    ``read`` gets the request and the value of a look-up; ``write`` also the new object, and whether its top level is
    merged into the old one. Both raise ``NotFoundError`` for a record that is not there.
    """

    model: str
    """Name of the model, as in ``/api/metadata/<model>/``."""
    access: Access
    right: Callable[[ApiRequest], bool] | None = None
    lookups: Mapping[str, tuple[str, Read, Write]]
    """Field → kind of its path parameter (``int``, ``str``, ``uuid``), reader and writer; ``pk`` is one of them."""
    aliases: Sequence[tuple[str, str]] = ()
    """Further paths, each with the look-up it uses; their parameter is ``value``."""

    def endpoints(self) -> list[Endpoint]:
        """Return the endpoints of the record's metadata."""
        base = f"/api/metadata/{self.model}/"
        paths = [(f"{base}{{value:{self.lookups['pk'][0]}}}/", "pk")]
        paths += [(f"{base}{field}/{{value:{kind}}}/", field) for field, (kind, _, _) in self.lookups.items()]
        return [self._endpoint(path, field) for path, field in (*paths, *self.aliases)]

    def _endpoint(self, path: str, field: str) -> Endpoint:
        _, read, write = self.lookups[field]

        def show(request: ApiRequest) -> Response:
            """Show the metadata of a record."""
            return Json({"metadata": read(request, request.path_params["value"])})

        def change(*, merge: bool) -> Handler:
            def handler(request: ApiRequest) -> Response:
                """Replace the metadata with PUT; with PATCH, replace members of the top level."""
                return Json({"metadata": write(request, request.path_params["value"], request.data["metadata"], merge)})

            return handler

        words = {"access": self.access, "right": self.right, "answers": {200: METADATA}}
        missing = {404: "There is no such record."}
        return Endpoint(
            path,
            name=f"Metadata of {self.model}",
            tag=TAG,
            operations={
                "GET": Operation(summary="Show metadata", handler=show, faults=missing, writes=METADATA, **words),  # type: ignore[arg-type]
                "PUT": Operation(
                    summary="Replace metadata",
                    handler=change(merge=False),
                    body=METADATA,
                    faults=missing,
                    **words,  # type: ignore[arg-type]
                ),
                "PATCH": Operation(
                    summary="Merge metadata",
                    handler=change(merge=True),
                    body=METADATA,
                    faults=missing,
                    **words,  # type: ignore[arg-type]
                ),
            },
        )
