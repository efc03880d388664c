"""Pages of lists: ``limit`` and ``offset``, and the envelope around a page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import urlencode

from api.fields import INT64_MAX, Integer, Schema, read_integer
from api.operations import Parameter
from api.request import ApiRequest

PARAMETERS: Final = (
    Parameter(
        name="limit",
        field=Integer(required=False, help_text="Number of results per page. Without it all are sent, as an array."),
        lenient=True,
    ),
    Parameter(name="offset", field=Integer(required=False, help_text="Index of the first result."), lenient=True),
)


def read_page(request: ApiRequest) -> tuple[int | None, int]:
    """Return limit and offset; no limit means everything."""
    limit = read_integer(request.query.get("limit", ""))
    if limit is None or limit < 1:
        return None, 0
    offset = read_integer(request.query.get("offset", "")) or 0
    return min(limit, INT64_MAX), min(max(offset, 0), INT64_MAX)


def envelope(request: ApiRequest, results: Sequence[Any], count: int, limit: int, offset: int) -> dict[str, Any]:
    """Return a page with the links to its neighbours."""
    following = _link(request, limit, offset + limit) if offset + limit < count else None
    preceding = _link(request, limit, offset - limit) if offset > 0 else None
    return {"count": count, "next": following, "previous": preceding, "results": results}


def _link(request: ApiRequest, limit: int, offset: int) -> str:
    others = [(name, value) for name, value in request.query_list if name not in {"limit", "offset"}]
    others.append(("limit", str(limit)))
    if offset > 0:
        others.append(("offset", str(offset)))
    return f"{request.address}?{urlencode(sorted(others, key=lambda item: item[0]))}"


def envelope_schema(member: Schema) -> Schema:
    """Describe what a list answers: a page, or without ``limit`` an array."""
    link = {"type": ["string", "null"], "format": "uri"}
    page = {
        "type": "object",
        "properties": {
            "count": {"type": "integer", "minimum": 0},
            "next": link,
            "previous": link,
            "results": {"type": "array", "items": member},
        },
        "required": ["count", "next", "previous", "results"],
    }
    return {"oneOf": [page, {"type": "array", "items": member}]}
