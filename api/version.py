"""Which version runs, and what each version of the interface changed."""

from __future__ import annotations

from typing import Final

from starlette.responses import Response

from api.answers import Json
from api.documentation import DOCS_PATH
from api.endpoint import Endpoint
from api.fields import Boolean, Integer
from api.nested_fields import ListOf, Nested, Object
from api.operations import Operation
from api.request import ApiRequest
from api.shapes import Shape
from api.text_fields import Text

_TAG: Final = "Server"

_RUNNING: Final = Shape(
    "RunningVersion",
    server=Text(read_only=True),
    api=Integer(read_only=True),
    commit_hash=Text(read_only=True, null=True, help_text="Where the server runs from a checkout, as what follows."),
    commit_date=Text(read_only=True, null=True),
    commit_branch=Text(read_only=True, null=True),
    python=Text(read_only=True),
)
_LINKS: Final = Shape(
    "VersionLinks",
    doc=Text(read_only=True),
    code=Text(read_only=True, null=True),
    bug=Text(read_only=True, null=True),
)
VERSION: Final = Shape(
    "Version",
    dev=Boolean(read_only=True, help_text="A checkout or a pre-release."),
    up_to_date=Boolean(read_only=True, help_text="False where a newer version is known."),
    version=Nested(shape=_RUNNING, read_only=True),
    links=Nested(shape=_LINKS, read_only=True),
)
CHANGES: Final = Shape(
    "InterfaceChanges",
    version=Text(read_only=True),
    date=Text(read_only=True, null=True, help_text="Day of the release; null until then."),
    gh=ListOf(item=Text(), read_only=True, null=True, help_text="Addresses to read more."),
    text=ListOf(item=Text(), read_only=True),
    latest=Boolean(read_only=True, help_text="Whether this server speaks this version."),
)


def show_version(request: ApiRequest) -> Response:
    """Show which version of the server runs, and from which commit where it runs from a checkout."""
    return Json(request.host.release.about(f"{request.origin}{DOCS_PATH}"))


def show_changes(request: ApiRequest) -> Response:
    """Show what changed for clients, by version of the interface, newest first."""
    return Json(request.host.release.changes())


def _changes_at(path: str, *, hidden: bool) -> Endpoint:
    operation = Operation(
        id="" if hidden else "version_text",
        summary="Show what changed in the interface",
        access="user",
        handler=show_changes,
        answers={200: Object(values=Nested(shape=CHANGES))},
        hidden=hidden,
        writes=CHANGES,
    )
    return Endpoint(path, name="Changes of the interface", tag=_TAG, operations={"GET": operation})


ENDPOINTS: Final = (
    Endpoint(
        "/api/version/",
        name="Version",
        tag=_TAG,
        operations={
            "GET": Operation(
                id="version",
                summary="Show the version",
                access="user",
                handler=show_version,
                answers={200: VERSION},
                writes=VERSION,
            )
        },
    ),
    _changes_at("/api/version-text", hidden=False),
    # Clients write it either way.
    _changes_at("/api/version-text/", hidden=True),
)
