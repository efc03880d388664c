"""The mail log: what the host has sent and got, what became of it, and a mail to try it."""

from __future__ import annotations

from typing import Final

from starlette.responses import Response

from api.answers import Json
from api.choice_field import Choice
from api.endpoint import Endpoint
from api.nested_fields import Json as JsonField
from api.nested_fields import ListOf, Object
from api.operations import Operation
from api.request import ApiRequest
from api.resources import Resource
from api.shapes import Shape
from api.text_fields import Email, LongText, Text
from api.time_fields import DateTime
from api.uuid_field import Uuid
from host.mail.log import (
    ADDRESS_LENGTH,
    CODE_LENGTH,
    KEY_LENGTH,
    SUBJECT_LENGTH,
    MailDirection,
    MailPriority,
    MailStatus,
)
from host.records.mail_log import MAIL_LOG
from host.storage.listing import Choice as Chosen

_TAG: Final = "Mail log"
_PATH: Final = "/api/admin/email/"

_STATUS: Final = [(one.value, one.name.capitalize()) for one in MailStatus]
_DIRECTION: Final = [(MailDirection.IN.value, "Inbound"), (MailDirection.OUT.value, "Outbound")]
_PRIORITY: Final = [(one.value, one.name.replace("_", " ").capitalize()) for one in MailPriority]

EMAIL_MESSAGE: Final = Shape(
    "EmailMessage",
    pk=Uuid(read_only=True, label="ID"),
    global_id=Uuid(read_only=True, help_text="The same as `pk`."),
    message_id_key=Text(
        read_only=True,
        null=True,
        blank=True,
        max_length=KEY_LENGTH,
        help_text="The header `Message-ID`, or by what the service knows it that delivers it.",
    ),
    thread_id_key=Text(
        read_only=True, null=True, blank=True, max_length=KEY_LENGTH, help_text="`Message-ID` of the thread's first."
    ),
    thread=Uuid(read_only=True, null=True, help_text="Shared by the mails of one conversation."),
    subject=Text(read_only=True, blank=True, max_length=SUBJECT_LENGTH, help_text="What it says it is about."),
    body=LongText(read_only=True, blank=True, help_text="The text; what serves to sign in is masked."),
    to=Email(read_only=True, blank=True, max_length=ADDRESS_LENGTH, help_text="Several are separated by commas."),
    sender=Email(read_only=True, blank=True, max_length=ADDRESS_LENGTH, help_text="Who sent it."),
    status=Choice(read_only=True, null=True, blank=True, choices=_STATUS, help_text="How far it has come."),
    timestamp=DateTime(read_only=True, help_text="When it was written."),
    headers=Object(read_only=True, null=True, help_text="Header and its text, or a list where it stands repeatedly."),
    full_message=LongText(read_only=True, null=True, blank=True, help_text="The whole mail, masked as `body` is."),
    direction=Choice(read_only=True, null=True, blank=True, choices=_DIRECTION),
    priority=Choice(read_only=True, choices=_PRIORITY),
    error_code=Text(read_only=True, null=True, blank=True, max_length=CODE_LENGTH),
    error_message=LongText(read_only=True, null=True, blank=True),
    error_timestamp=DateTime(read_only=True, null=True),
    delivery_options=ListOf(
        item=JsonField(),
        read_only=True,
        null=True,
        help_text="Names of options: `no_reply`, `track_delivery`, `track_read`, `track_click`.",
    ),
)
TEST_EMAIL: Final = Shape("TestEmail", email=Email(help_text="Where the mail goes."))


def delete_mail(request: ApiRequest, key: str) -> None:
    """Delete a mail from the log; one that waits is not sent any more."""
    request.host.records.mail_log.delete(key)


def delete_mails(request: ApiRequest, choice: Chosen) -> int:
    """Delete mails from the log; those that wait are not sent any more."""
    return request.host.records.mail_log.delete_many(choice)


def send_test(request: ApiRequest) -> Response:
    """Send a test mail, and answer once it was taken by the mail server or a plugin.

    It appears in the mail log, also when it could not be sent.
    """
    request.host.records.mail_log.send_test(request.data["email"])
    return Json(request.data, 201)


ENDPOINTS: Final[tuple[Endpoint, ...]] = (
    *Resource(
        path=_PATH,
        name="email",
        tag=_TAG,
        listing=MAIL_LOG,
        shape=EMAIL_MESSAGE,
        read="superuser",
        key_name="global_id",
        key_kind="uuid",
        bulk_key=Uuid(),
        delete=delete_mail,
        bulk_delete=delete_mails,
    ).endpoints,
    Endpoint(
        f"{_PATH}test/",
        name="Test mail",
        tag=_TAG,
        operations={
            "POST": Operation(
                id="email_test",
                summary="Send a test mail",
                access="superuser",
                # Plugins that deliver mail are asked in threads of their own: the log has to say what came of the mail
                # also when one of them hangs.
                handler=send_test,
                body=TEST_EMAIL,
                answers={201: TEST_EMAIL},
                faults={400: "The address is none, or the mail could not be sent."},
            )
        },
    ),
)
