"""Packages of plugins: install and plan, what was done, and going back."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from starlette.datastructures import UploadFile
from starlette.responses import Response

from api.answers import Json
from api.choice_field import Choice
from api.endpoint import Endpoint
from api.fields import Boolean, Integer
from api.nested_fields import File, ListOf, Nested, Object, Reference
from api.nested_fields import Json as JsonField
from api.operations import Operation, Parameter
from api.plugins import PLUGINS_PATH, TAG
from api.request import ApiRequest
from api.resources import Resource
from api.shapes import Shape
from api.text_fields import LongText, Text
from api.time_fields import DateTime
from host.errors import InvalidInputError
from host.packages.listing import KINDS, OPERATIONS, STATUSES
from host.packages.requests import InstallRequest

_BUSY: Final = {409: "Another package operation is at work.", 503: "A file could not be read or written."}
_WHEEL_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+!-]*\.whl")

_SOURCE: Final = {
    "packagename": Text(
        label="Package name", required=False, blank=True, default="", help_text="May include a version: `x==1.2`."
    ),
    "url": Text(
        required=False, blank=True, default="", help_text="A package index, or with `git+https://` a repository."
    ),
    "version": Text(required=False, blank=True, default="", help_text="Blank means the newest that fits."),
}
PLAN: Final = Shape("PluginPlan", **_SOURCE)
_PLANNED: Final = ListOf(item=Object(), read_only=True)
PLANNED: Final = Shape(
    "PluginPlanned",
    kind=Text(read_only=True),
    name=Text(read_only=True, null=True),
    requirement=Text(read_only=True, null=True),
    changes=Boolean(read_only=True, help_text="False when everything is as wanted already."),
    add=_PLANNED,
    change=_PLANNED,
    remove=_PLANNED,
    keep=_PLANNED,
    warnings=ListOf(item=Text(), read_only=True),
)
INSTALL: Final = Shape(
    "PluginInstall",
    **_SOURCE,
    wheel=File(
        required=False, write_only=True, endings=(".whl",), max_length=255, help_text="A wheel, instead of a name."
    ),
    confirm=Boolean(help_text="Confirm that the package is installed into the running host."),
    result=Text(read_only=True),
    success=Text(read_only=True),
    output=LongText(read_only=True, help_text="What pip printed."),
    input=Object(read_only=True, help_text="The members of the request."),
    operation=Text(read_only=True),
    generation=Integer(read_only=True),
    warnings=ListOf(item=Text(), read_only=True),
)
STARTED: Final = Shape("OperationStarted", operation=Text(read_only=True), url=Text(read_only=True))
GENERATION: Final = Shape(
    "PackageGeneration",
    number=Integer(read_only=True),
    created=DateTime(read_only=True),
    created_by=Reference(model="user", api_url="/api/user/", read_only=True, null=True),
    action=Text(read_only=True),
    requirements=LongText(read_only=True, help_text="The plugins file."),
    packages=ListOf(item=Object(), read_only=True),
    previous=Integer(read_only=True, null=True),
    current=Boolean(read_only=True),
)
RESTORED: Final = Shape(
    "GenerationRestored",
    result=Text(read_only=True),
    success=Text(read_only=True),
    generation=Integer(read_only=True),
    operation=Text(read_only=True),
)
OPERATION: Final = Shape(
    "PackageOperation",
    id=Text(read_only=True),
    kind=Choice(choices=[(name, name) for name in KINDS], read_only=True),
    status=Choice(choices=[(name, name) for name in STATUSES], read_only=True),
    stage=Text(read_only=True),
    progress=Integer(read_only=True, minimum=0, maximum=100),
    request=Object(read_only=True),
    result=JsonField(read_only=True, null=True),
    error=LongText(read_only=True),
    created=DateTime(read_only=True),
    started=DateTime(read_only=True, null=True),
    finished=DateTime(read_only=True, null=True),
    user_id=Reference(model="user", api_url="/api/user/", read_only=True, null=True),
    generation=Integer(read_only=True, null=True),
    log=LongText(read_only=True, always=False, help_text="Only where one operation is shown."),
)
_WAIT: Final = Parameter(
    name="wait",
    field=Boolean(required=False, help_text="With `false` the answer is 202 as soon as the work began."),
    lenient=True,
)


def plan(request: ApiRequest) -> Response:
    """Find out what an install would do; changes nothing."""
    return Json(request.host.packages.plan(InstallRequest(**request.data)).as_json())


def install(request: ApiRequest) -> Response:
    """Install a package, or move it to another version; a new plugin starts inactive."""
    data = request.data
    if not data["confirm"]:
        raise InvalidInputError({"confirm": ["Confirm the installation."]})
    with ExitStack() as kept:
        upload = data.get("wheel")
        wheel = None if upload is None else kept.enter_context(_stored(upload))
        texts = {name: data[name] for name in _SOURCE}
        wanted = InstallRequest(**texts, wheel=wheel)
        if not request.parameters.get("wait", True):
            operation = request.context.installs.start(wanted, by=request.user, keep=kept.pop_all())
            return Json({"operation": operation, "url": f"{PLUGINS_PATH}operations/{operation}/"}, 202)
        outcome = request.host.plugin_packages.install(wanted, by=request.user)
    said = texts | {"confirm": True} | ({} if wheel is None else {"wheel": wheel.name})
    return Json(
        {
            **texts,
            "confirm": True,
            "result": outcome.result,
            "success": outcome.result,
            "output": outcome.output,
            "version": outcome.version,
            "input": {name: value for name, value in said.items() if name in request.sent},
            "operation": outcome.operation,
            "generation": outcome.generation,
            "warnings": list(outcome.warnings),
        },
        201,
    )


@contextmanager
def _stored(upload: UploadFile) -> Iterator[Path]:
    name = upload.filename or ""
    if not _WHEEL_NAME.fullmatch(name):
        raise InvalidInputError({"wheel": [f"'{name}' is no name of a wheel."]})
    with TemporaryDirectory(prefix="plugyard-wheel-") as folder:
        path = Path(folder) / name
        with path.open("wb") as file:
            shutil.copyfileobj(upload.file, file)
        yield path


def list_generations(request: ApiRequest) -> Response:
    """List the package lists of earlier that can be restored, the newest first."""
    return Json([_generation(one.as_json()) for one in request.host.packages.generations()])


def _generation(known: Mapping[str, Any]) -> dict[str, Any]:
    encode = GENERATION.fields["created"].encode
    return {**known, "created": encode(known["created"]) if encode else known["created"]}


def restore(request: ApiRequest) -> Response:
    """Go back to the packages of an earlier generation. Needs no network."""
    outcome = request.host.packages.restore(request.path_params["number"], by=request.user)
    return Json(
        {
            "result": outcome.result,
            "success": outcome.result,
            "generation": outcome.generation,
            "operation": outcome.operation,
        }
    )


def show_operation(request: ApiRequest) -> Response:
    """Show one package operation with its log so far."""
    identifier = request.path_params["id"]
    shown = OPERATION_LIST.read_one(request, identifier)
    return Json(shown | {"log": request.host.packages.operation(identifier).log})


OPERATION_LIST: Final = Resource(
    path=f"{PLUGINS_PATH}operations/",
    name="package operation",
    tag=TAG,
    listing=OPERATIONS,
    shape=OPERATION,
    read="superuser",
    key="id",
    key_kind="uuid",
    details=False,
    detail_operations={
        "GET": Operation(
            id="package_operation_retrieve",
            summary="Show a package operation",
            access="superuser",
            handler=show_operation,
            answers={200: OPERATION},
            faults={404: "There is no such operation, or it is no longer kept."},
            writes=OPERATION,
        )
    },
)

ENDPOINTS: Final = (
    Endpoint(
        f"{PLUGINS_PATH}install/",
        name="Install plugin",
        tag=TAG,
        operations={
            "POST": Operation(
                id="plugin_install",
                summary="Install a plugin package",
                access="superuser",
                handler=install,
                body=INSTALL,
                answers={201: INSTALL, 202: STARTED},
                parameters=(_WAIT,),
                faults={400: "The package is refused or cannot be installed; nothing was changed.", **_BUSY},
            )
        },
    ),
    Endpoint(
        f"{PLUGINS_PATH}plan/",
        name="Plan an install",
        tag=TAG,
        operations={
            "POST": Operation(
                id="plugin_plan",
                summary="Find out what an install would do",
                access="superuser",
                handler=plan,
                body=PLAN,
                answers={200: PLANNED},
                faults={400: "The install would be refused.", **_BUSY},
            )
        },
    ),
    Endpoint(
        f"{PLUGINS_PATH}generations/",
        name="Package generations",
        tag=TAG,
        operations={
            "GET": Operation(
                id="package_generation_list",
                summary="List package generations",
                access="superuser",
                handler=list_generations,
                answers={200: ListOf(item=Nested(shape=GENERATION))},
                writes=GENERATION,
            )
        },
    ),
    Endpoint(
        f"{PLUGINS_PATH}generations/{{number:int}}/restore/",
        name="Restore a package generation",
        tag=TAG,
        operations={
            "POST": Operation(
                id="package_generation_restore",
                summary="Restore a package generation",
                access="superuser",
                handler=restore,
                answers={200: RESTORED},
                faults={404: "There is no such generation.", **_BUSY},
            )
        },
    ),
    *OPERATION_LIST.endpoints,
)
