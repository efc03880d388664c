"""Show and delete error reports: what went wrong in requests, plugins and tasks."""

from __future__ import annotations

from typing import Final

from api.endpoint import Endpoint
from api.fields import Integer
from api.request import ApiRequest
from api.resources import Resource
from api.shapes import Shape
from api.text_fields import LongText, Text
from api.time_fields import DateTime
from host.records.errors import ERROR_REPORTS

ERROR_REPORT: Final = Shape(
    "ErrorReport",
    pk=Integer(read_only=True, label="ID"),
    when=DateTime(read_only=True, help_text="When it happened last."),
    info=Text(read_only=True, blank=True, help_text="The message."),
    data=LongText(read_only=True, blank=True, help_text="The traceback, without what looks like a secret."),
    path=Text(read_only=True, blank=True, max_length=200, help_text="Where: a URL path, `plugin.<key>.<hook>`, a job."),
    count=Integer(read_only=True, minimum=1, help_text="How often; reports that differ in numbers only are one."),
    first_seen=DateTime(read_only=True, help_text="When it happened first."),
)


def delete_report(request: ApiRequest, key: int) -> None:
    """Delete an error report. The same error makes a new one when it happens again."""
    request.host.records.error_reports.delete(key)


ENDPOINTS: Final[tuple[Endpoint, ...]] = tuple(
    Resource(
        path="/api/error-report/",
        name="error report",
        tag="Error reports",
        listing=ERROR_REPORTS,
        shape=ERROR_REPORT,
        read="staff",
        write="staff",
        delete=delete_report,
        bulk_delete=True,
    ).endpoints
)
