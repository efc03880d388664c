"""What lists of background tasks show."""

from __future__ import annotations

from typing import Final

from sqlalchemy import literal

from host.storage.listing import Listing
from host.tasks.table import QUEUE, SCHEDULE, TASK

PENDING: Final = Listing(
    table=TASK,
    key=TASK.c.id,
    members={
        "pk": TASK.c.id,
        "key": literal(QUEUE),
        "lock": TASK.c.lock,
        "task_id": TASK.c.task_id,
        "name": TASK.c.name,
        "func": TASK.c.func,
        "args": TASK.c.args,
        "kwargs": TASK.c.kwargs,
    },
    view=lambda _user: TASK.c.is_open.is_(True),
)
FAILED: Final = Listing(
    table=TASK,
    key=TASK.c.task_id,
    members={
        "pk": TASK.c.task_id,
        "name": TASK.c.name,
        "func": TASK.c.func,
        "args": TASK.c.args,
        "kwargs": TASK.c.kwargs,
        "started": TASK.c.started,
        "stopped": TASK.c.stopped,
        "attempt_count": TASK.c.attempts,
        "result": TASK.c.result,
    },
    ordering={"pk": TASK.c.task_id, "func": TASK.c.func, "started": TASK.c.started, "stopped": TASK.c.stopped},
    default_order=("-stopped",),
    search=(TASK.c.func,),
    view=lambda _user: TASK.c.has_failed.is_(True),
)
SCHEDULED: Final = Listing(
    table=SCHEDULE,
    key=SCHEDULE.c.id,
    members={
        "pk": SCHEDULE.c.id,
        "name": SCHEDULE.c.name,
        "func": SCHEDULE.c.func,
        "args": literal("()"),
        "kwargs": literal("{}"),
        "schedule_type": SCHEDULE.c.schedule_type,
        "repeats": SCHEDULE.c.repeats,
        "last_run": SCHEDULE.c.last_run,
        "next_run": SCHEDULE.c.next_run,
        "success": SCHEDULE.c.success,
        "task": SCHEDULE.c.task,
    },
    ordering={
        "pk": SCHEDULE.c.id,
        "func": SCHEDULE.c.func,
        "last_run": SCHEDULE.c.last_run,
        "next_run": SCHEDULE.c.next_run,
    },
    search=(SCHEDULE.c.func, SCHEDULE.c.name),
)
