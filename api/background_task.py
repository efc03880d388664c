"""Background tasks: what waits, what failed, what is done again and again."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Final

from starlette.responses import Response

from api.answers import Json
from api.choice_field import Choice
from api.endpoint import Endpoint
from api.fields import Boolean, Integer
from api.operations import Operation
from api.request import ApiRequest
from api.resources import Resource
from api.shapes import Shape
from api.text_fields import LongText, Text
from api.time_fields import DateTime
from host.errors import NotFoundError
from host.storage.listing import Choice as Rows
from host.tasks.listing import FAILED, PENDING, SCHEDULED
from host.tasks.table import TaskStatus

TAG: Final = "Background tasks"
PATH: Final = "/api/background-task/"

OVERVIEW: Final = Shape(
    "TaskOverview",
    is_running=Boolean(read_only=True, help_text="Whether any worker is alive."),
    pending_tasks=Integer(read_only=True, help_text="How many wait or run."),
    scheduled_tasks=Integer(read_only=True, help_text="How many are done again and again."),
    failed_tasks=Integer(read_only=True, help_text="How many failed for the last time."),
)
DETAIL: Final = Shape(
    "TaskDetail",
    task_id=Text(read_only=True),
    exists=Boolean(read_only=True, help_text="Whether it is known."),
    pending=Boolean(read_only=True, help_text="It waits, or runs, or will be tried again."),
    complete=Boolean(read_only=True, help_text="It will not run any more."),
    success=Boolean(read_only=True, help_text="Whether its last run succeeded."),
    http_status=Integer(read_only=True, help_text="200, or 404 where it is not known."),
)
_ARGS: Final = {
    "args": Text(read_only=True, null=True, help_text="Positional arguments, as Python text."),
    "kwargs": Text(read_only=True, null=True, help_text="Keyword arguments, as Python text."),
}
PENDING_TASK: Final = Shape(
    "PendingTask",
    pk=Integer(read_only=True, label="ID"),
    key=Text(read_only=True, help_text="Name of the queue."),
    lock=DateTime(read_only=True, help_text="Nobody else takes it before this time."),
    task_id=Text(read_only=True, label="Task ID"),
    name=Text(read_only=True),
    func=Text(read_only=True, label="Function"),
    **_ARGS,
)
FAILED_TASK: Final = Shape(
    "FailedTask",
    pk=Text(read_only=True, label="Task ID"),
    name=Text(read_only=True),
    func=Text(read_only=True, label="Function"),
    **_ARGS,
    started=DateTime(read_only=True),
    stopped=DateTime(read_only=True),
    attempt_count=Integer(read_only=True, help_text="How often it was tried."),
    result=LongText(read_only=True, help_text="Message and traceback of the last run."),
)
_TYPES: Final = (
    ("O", "Once"),
    ("I", "Minutes"),
    ("H", "Hourly"),
    ("D", "Daily"),
    ("W", "Weekly"),
    ("BW", "Biweekly"),
    ("M", "Monthly"),
    ("BM", "Bimonthly"),
    ("Q", "Quarterly"),
    ("Y", "Yearly"),
    ("C", "Cron"),
)
SCHEDULED_TASK: Final = Shape(
    "ScheduledTask",
    pk=Integer(read_only=True, label="ID"),
    name=Text(read_only=True, null=True),
    func=Text(read_only=True, label="Function"),
    **_ARGS,
    schedule_type=Choice(read_only=True, choices=_TYPES),
    repeats=Integer(read_only=True, help_text="Runs left; -1 means for ever."),
    last_run=DateTime(read_only=True, null=True),
    next_run=DateTime(read_only=True, null=True),
    success=Boolean(read_only=True, null=True, help_text="Whether the last run succeeded."),
    task=Text(read_only=True, null=True, help_text="Identifier of the last run."),
)


def show_overview(request: ApiRequest) -> Response:
    """Count what waits, what failed and what is done again and again, and tell whether any worker is alive."""
    return Json(asdict(request.host.tasks.records.overview()))


def show_task(request: ApiRequest) -> Response:
    """Show how far one task is."""
    task_id = request.path_params["task_id"]
    flags: dict[str, Any] = dict.fromkeys(("exists", "pending", "complete", "success"), False)
    try:
        state = request.host.tasks.records.state(task_id)
    except NotFoundError:
        return Json({"task_id": task_id, **flags, "http_status": 404}, 404)
    flags |= {"exists": True, "pending": not state.is_complete, "complete": state.is_complete}
    flags["success"] = state.status is TaskStatus.SUCCEEDED
    return Json({"task_id": task_id, **flags, "http_status": 200})


def delete_pending(request: ApiRequest, choice: Rows) -> int:
    """Take tasks back, also out of the queue."""
    return request.host.tasks.records.delete_pending(choice)


def delete_failed(request: ApiRequest, choice: Rows) -> int:
    """Forget failures."""
    return request.host.tasks.records.delete_failed(choice)


ENDPOINTS: Final = (
    Endpoint(
        PATH,
        name="Background tasks",
        tag=TAG,
        operations={
            "GET": Operation(
                id="background_task_overview",
                summary="Count background tasks",
                access="staff",
                handler=show_overview,
                answers={200: OVERVIEW},
                writes=OVERVIEW,
            )
        },
    ),
    *Resource(
        path=f"{PATH}pending/",
        name="pending task",
        tag=TAG,
        listing=PENDING,
        shape=PENDING_TASK,
        read="staff",
        write="staff",
        details=False,
        bulk_delete=delete_pending,
    ).endpoints,
    *Resource(
        path=f"{PATH}failed/",
        name="failed task",
        tag=TAG,
        listing=FAILED,
        shape=FAILED_TASK,
        read="staff",
        write="staff",
        details=False,
        bulk_delete=delete_failed,
        bulk_key=Text(max_length=32),
    ).endpoints,
    *Resource(
        path=f"{PATH}scheduled/",
        name="scheduled task",
        tag=TAG,
        listing=SCHEDULED,
        shape=SCHEDULED_TASK,
        read="staff",
        details=False,
    ).endpoints,
    Endpoint(
        f"{PATH}{{task_id}}/",
        name="Background task",
        tag=TAG,
        operations={
            "GET": Operation(
                id="background_task_retrieve",
                summary="Show how far a background task is",
                access="user",
                handler=show_task,
                answers={200: DETAIL},
                faults={404: "There is no such task, or it is no longer kept."},
                fault_shapes={404: DETAIL},
                writes=DETAIL,
            )
        },
    ),
)
