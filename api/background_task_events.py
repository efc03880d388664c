"""Following a background task: server-sent events, whichever process the task runs in."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, Final

import anyio
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from api.background_task import PATH, TAG
from api.endpoint import Endpoint
from api.event_streams import EVENT_STREAM, event, stream
from api.operations import Operation
from api.request import ApiRequest
from host.errors import NotFoundError
from host.tasks.record import TaskState
from host.tasks.table import TaskStatus

_LOOK_SECONDS = 0.5
_SILENCE_LOOKS = 30
# An hour: a client that still wants to know asks again.
_MOST_LOOKS = 7200
_EVENT: Final = {
    "type": "object",
    "properties": {"event": {"enum": ["progress", "result"]}, "data": {"type": "string"}},
}


async def follow_task(request: ApiRequest) -> Response:
    """Follow one background task until it ends.

    Events: `progress` with `status`, `attempts`, `progress` and `total`, whenever one of them changes; at last `result`
    with `success`, which is null where the task was deleted meanwhile.
    """
    records, task_id = request.host.tasks.records, request.path_params["task_id"]
    first = await run_in_threadpool(records.state, task_id)

    async def events() -> AsyncIterator[bytes]:
        state, shown, silent = first, None, 0
        for _ in range(_MOST_LOOKS):
            text = b"" if state == shown else event("progress", _shown(state))
            if state.is_complete:
                yield text + event("result", {"success": state.status is TaskStatus.SUCCEEDED})
                return
            shown, silent = state, 0 if text else silent + 1
            if text or silent % _SILENCE_LOOKS == 0:
                yield text or b": still at work\n\n"
            await anyio.sleep(_LOOK_SECONDS)
            try:
                state = await run_in_threadpool(records.state, task_id)
            except NotFoundError:
                yield event("result", {"success": None})
                return

    return stream(events())


def _shown(state: TaskState) -> dict[str, Any]:
    return {
        "status": state.status.value,
        "attempts": state.attempts,
        "progress": state.progress,
        "total": state.total,
    }


ENDPOINTS: Final = (
    Endpoint(
        f"{PATH}{{task_id}}/events/",
        name="Events of a background task",
        tag=TAG,
        operations={
            "GET": Operation(
                id="background_task_events",
                summary="Follow a background task",
                access="user",
                stream=follow_task,
                produces=(EVENT_STREAM,),
                answers={200: _EVENT},
                faults={404: "There is no such task, or it is no longer kept."},
            )
        },
    ),
)
