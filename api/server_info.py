"""What the server says of itself: its description and its health."""

from __future__ import annotations

from typing import Final

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from api.answers import Json
from api.endpoint import Endpoint
from api.fields import Boolean, Integer
from api.nested_fields import Json as JsonField
from api.nested_fields import Object
from api.operations import Operation
from api.request import ApiRequest
from api.shapes import Shape
from api.text_fields import Text

_TAG = "Server"

SERVER_INFO: Final = Shape(
    "ServerInformation",
    server=Text(read_only=True),
    id=Text(read_only=True, null=True),
    version=Text(read_only=True),
    instance=Text(read_only=True),
    apiVersion=Integer(read_only=True, label="API version"),
    worker_running=Boolean(read_only=True),
    worker_count=Integer(read_only=True),
    worker_pending_tasks=Integer(read_only=True),
    plugins_enabled=Boolean(read_only=True),
    plugins_install_disabled=Boolean(read_only=True),
    email_configured=Boolean(read_only=True),
    debug_mode=Boolean(read_only=True),
    docker_mode=Boolean(read_only=True),
    default_locale=Text(read_only=True),
    customize=Object(read_only=True),
    settings=Object(read_only=True),
    active_plugins=JsonField(read_only=True, help_text="List of `name`, `slug`, `version`; false without plugins."),
    system_health=Boolean(read_only=True, null=True, help_text="Staff only, as what follows."),
    database=Text(read_only=True, null=True),
    platform=Text(read_only=True, null=True),
    installer=Text(read_only=True, null=True),
    target=Text(read_only=True, null=True),
    django_admin=Text(read_only=True, null=True),
    framework_admin=Text(read_only=True, null=True),
)
_FOR_STAFF: Final = ("system_health", "database", "platform", "installer", "target", "django_admin", "framework_admin")


def server_information(request: ApiRequest) -> Response:
    """Describe this server. Some members are blank unless staff asks."""
    host, user = request.host, request.user
    is_staff = user is not None and (user.is_staff or user.is_superuser)
    details = host.server_details() if is_staff else {}
    return Json({**dict.fromkeys(_FOR_STAFF), **host.server_info(), **details})


class Health:
    """Answers ``GET /health`` at once, without plugins, accounts or database."""

    path = "/health"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["method"] in {"GET", "HEAD"}:
            response = Json({"status": "ok"}, headers=((b"cache-control", b"no-store"),))
        else:
            detail = f'Method "{scope["method"]}" not allowed.'
            response = Json({"detail": detail}, 405, headers=((b"allow", b"GET, HEAD"),))
        if scope["method"] == "HEAD":
            response.body = b""
        await response(scope, receive, send)


ENDPOINTS: Final = (
    Endpoint(
        "/api/",
        name="Server information",
        tag=_TAG,
        operations={
            "GET": Operation(
                id="server_information",
                summary="Describe the server",
                access="anyone",
                handler=server_information,
                answers={200: SERVER_INFO},
                writes=SERVER_INFO,
            )
        },
    ),
)
