"""Icons: the packs of all plugins, for clients to show."""

from __future__ import annotations

from typing import Final

import orjson
from starlette.responses import Response

from api.answers import JSON_TYPE, Json
from api.endpoint import Endpoint
from api.negotiation import accepts_gzip
from api.nested_fields import ListOf, Nested, Object
from api.operations import Operation, PageOf
from api.pages import PARAMETERS, envelope, read_page
from api.request import ApiRequest
from api.shapes import Shape
from api.text_fields import Text
from host.plugins.static_files import is_known

_CACHED = "public, max-age=86400"

ICON: Final = Shape(
    "Icon",
    name=Text(read_only=True),
    category=Text(read_only=True),
    tags=ListOf(item=Text(), read_only=True),
    variants=Object(values=Text(), read_only=True, help_text="Variant → code point in the font, in hexadecimal."),
)
ICON_PACKAGE: Final = Shape(
    "IconPackage",
    name=Text(read_only=True),
    prefix=Text(read_only=True, help_text="Begins a reference to an icon: prefix:icon:variant."),
    fonts=Object(values=Text(), read_only=True, help_text="Format of the font → its path."),
    icons=Object(values=Nested(shape=ICON), read_only=True, help_text="Name in references → icon."),
)


def list_icons(request: ApiRequest) -> Response:
    """List the packs of icons that plugins bring."""
    found = request.host.icons.packs()
    limit, offset = read_page(request)
    if limit is not None:
        page = [orjson.Fragment(pack) for pack in found.packs[offset : offset + limit]]
        content = envelope(request, page, len(found.packs), limit, offset)
        return Json(content, headers=((b"cache-control", _CACHED.encode()),))
    headers = {"cache-control": _CACHED, "etag": f'W/"{found.digest}"', "vary": "Accept-Encoding"}
    if is_known(request.headers.get(b"if-none-match", b"").decode("latin-1"), f'"{found.digest}"'):
        return Response(status_code=304, headers=headers)
    if accepts_gzip(request.headers.get(b"accept-encoding", b"")):
        return Response(found.gzipped, headers={**headers, "content-encoding": "gzip"}, media_type=JSON_TYPE)
    return Response(found.whole, headers=headers, media_type=JSON_TYPE)


ENDPOINTS: Final = (
    Endpoint(
        "/api/icons/",
        name="Icons",
        tag="Icons",
        operations={
            "GET": Operation(
                id="icons_list",
                summary="List icon packs",
                access="anyone",
                handler=list_icons,
                calls_plugins=True,
                replays=True,
                parameters=PARAMETERS,
                answers={200: PageOf(ICON_PACKAGE)},
                writes=ICON_PACKAGE,
            )
        },
    ),
)
