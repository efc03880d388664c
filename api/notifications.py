"""Notifications: what people are told, each their own."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from starlette.responses import Response

from api.answers import Json
from api.endpoint import Endpoint
from api.fields import Boolean, Integer
from api.lists import Members
from api.nested_fields import Nested, Reference
from api.operations import Operation
from api.request import ApiRequest
from api.resources import Resource
from api.shapes import Shape
from api.text_fields import Text
from api.time_fields import DateTime
from host.records.notifications import OWN_NOTIFICATIONS

_PATH: Final = "/api/notifications/"
_TAG: Final = "Notifications"
_AGES: Final = (
    ("year", 365 * 86_400),
    ("month", 30 * 86_400),
    ("week", 7 * 86_400),
    ("day", 86_400),
    ("hour", 3600),
    ("minute", 60),
)

TARGET: Final = Shape(
    "NotificationTarget",
    name=Text(read_only=True, help_text="What people call it."),
    model_name=Text(read_only=True, null=True, help_text="Name of the model, where it is a record."),
    model_type=Text(read_only=True, null=True),
    model_id=Integer(read_only=True, null=True),
    link=Text(read_only=True, null=True, help_text="Where to find it."),
)
NOTIFICATION: Final = Shape(
    "Notification",
    pk=Integer(read_only=True),
    target=Nested(shape=TARGET, read_only=True, null=True),
    source=Nested(shape=TARGET, read_only=True, null=True),
    user=Reference(model="user", api_url="/api/user/", read_only=True, help_text="Who is told."),
    category=Text(read_only=True, help_text="What kind it is; of a plugin, the plugin's key."),
    name=Text(read_only=True),
    message=Text(read_only=True),
    creation=DateTime(read_only=True),
    age=Integer(read_only=True, help_text="Seconds since then."),
    age_human=Text(read_only=True),
    read=Boolean(help_text="Whether the user has read it."),
)
READ_ALL: Final = Shape("NotificationsRead", success=Text(read_only=True))


def _finish(_request: ApiRequest, found: Members) -> None:
    present = datetime.now(UTC)
    for record in found:
        name, model = record.pop("target_name"), record.pop("target_model")
        key, link = record.pop("target_id"), record.pop("target_link")
        target = {
            "name": name,
            "model_name": model or None,
            "model_type": model or None,
            "model_id": key,
            "link": link or None,
        }
        record["target"] = target if name or model or link else None
        record["source"] = None
        age = max(0, int((present - record.pop("moment")).total_seconds()))
        record["age"] = age
        record["age_human"] = _in_words(age)


def _in_words(seconds: int) -> str:
    for unit, length in _AGES:
        if seconds >= length:
            number = seconds // length
            return f"{number} {unit}{'s' if number > 1 else ''} ago"
    return "just now"


def mark(request: ApiRequest, key: int) -> None:
    """Mark a notification as read or unread."""
    if "read" in request.data:
        request.host.records.notifications.mark(key, request.caller, read=request.data["read"])


def delete_notification(request: ApiRequest, key: int) -> None:
    """Delete an own notification."""
    request.host.records.notifications.delete(key, request.caller)


def read_all(request: ApiRequest) -> Response:
    """Mark everything that the caller was told as read."""
    number = request.host.records.notifications.mark_all(request.caller)
    return Json({"success": f"{number} notifications were marked as read."})


RESOURCE: Final = Resource(
    path=_PATH,
    name="notification",
    tag=_TAG,
    listing=OWN_NOTIFICATIONS,
    shape=NOTIFICATION,
    read="user",
    write="user",
    update=mark,
    delete=delete_notification,
    bulk_delete=True,
    finish=_finish,
)

ENDPOINTS: Final = (
    *RESOURCE.endpoints,
    Endpoint(
        f"{_PATH}readall/",
        name="Read all notifications",
        tag=_TAG,
        operations={
            "POST": Operation(
                id="notifications_read_all",
                summary="Mark all own notifications as read",
                access="user",
                handler=read_all,
                answers={200: READ_ALL},
            )
        },
    ),
)
