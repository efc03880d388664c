"""The licences of what is installed and of what browsers get."""

from __future__ import annotations

from typing import Final

from starlette.responses import Response

from api.answers import Json
from api.endpoint import Endpoint
from api.nested_fields import ListOf, Nested
from api.operations import Operation
from api.request import ApiRequest
from api.shapes import Shape
from api.text_fields import LongText, Text

PART: Final = Shape(
    "LicensedPart",
    name=Text(read_only=True),
    version=Text(read_only=True),
    license=Text(read_only=True, help_text="SPDX expression, or what the part says of itself."),
    licensetext=LongText(read_only=True, label="License text", help_text="Empty where the part brings none."),
)
LICENSE: Final = Shape(
    "License",
    backend=ListOf(item=Nested(shape=PART), read_only=True, help_text="Installed distributions."),
    frontend=ListOf(item=Nested(shape=PART), read_only=True, help_text="What the server sends to browsers."),
)


def list_licences(request: ApiRequest) -> Response:
    """List the licences of every installed distribution, and of what is sent to browsers."""
    return Json(request.host.licences.read())


ENDPOINTS: Final = (
    Endpoint(
        "/api/license/",
        name="Licences",
        tag="Server",
        operations={
            "GET": Operation(
                id="license",
                summary="List licences",
                access="user",
                handler=list_licences,
                answers={200: LICENSE},
                writes=LICENSE,
            )
        },
    ),
)
